"""docs/results.md and its charts, of figures of every part: results_test.py TOOLS_FOLDER."""
import contextlib
import io
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(TOOLS))
import results  # noqa: E402
import versus_pictures  # noqa: E402

COMMITTED = TOOLS.parent / "docs" / "results"
MACHINE = json.loads((COMMITTED / "codecs" / "machine.json").read_text())
STEP = {"ms": 50.0, "from": 49.0, "to": 51.0}
SPEED = dict.fromkeys(("step_ms", "compute_ms", "encode_ms", "wire_ms", "decode_ms", "wait_ms", "wire_bytes"), 20.0)
SOAK = [
    {"event": "start", "minutes": 30, "seed": 1},
    {"event": "fault", "fault": "silent-rank", "exit": 4, "ended_after_s": 9.0},
    {"event": "growth", "transport": "gloo", "rank": 0, "steps": 100, "last_memory": 1e8, "memory_trend": 0, "memory_rise": 0,
     "last_descriptors": 9, "descriptor_growth": 0, "last_threads": 3, "thread_growth": 0},
    {"event": "end", "faults": {"silent-rank": 1}, "at": 1800, "legs": 2, "steps": 100, "repeated": 3, "good": True},
]

FUZZ = {"cpu": "Some CPU", "cores": 2, "compiler": "clang++ 14.0.6", "commits": ["a1"], "seconds": 600,
        "inputs": 1200000, "fuzzers": {"frame_fuzz": 1000000, "text_fuzz": 200000}}


def sum_row(codec, time_us):
    return {"codec": codec, "time_us": time_us, "least_us": time_us, "iterations": 20, "wire_bytes": 1e6, "encode_us": 1.0,
            "decode_us": 1.0, "wrong": 0}


def emulation_row(what, unit):
    return {"what": what, "ns": 1.0, "times_ours": 1.0, "unit": unit}


class EveryPart(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name) / "results"
        self.pictures = pathlib.Path(place.name)
        for part in ("codecs", "training", "prediction", "versus/codecs"):
            shutil.copytree(COMMITTED / part, self.folder / part)
        self.sums()
        self.speed()
        self.ddp()
        self.emulation()
        self.training(error=1.0)
        self.lines("soak.jsonl", SOAK)
        self.lines("fuzz.json", [FUZZ])

    def lines(self, name, rows):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def machine(self, part, **more):
        self.lines(f"{part}/machine.json", [MACHINE | more])

    def sums(self):
        self.machine("collectives")
        for setting in ("2x100mbit", "2x1gbit", "2x10gbit", "2xunlimited", "4x1gbit"):
            self.lines(f"collectives/{setting}.jsonl", [sum_row("engine", 100.0), sum_row("dynamic8", 40.0)])
            self.lines(f"collectives/{setting}.openmpi.jsonl", [sum_row("engine", 110.0)])
            self.lines(f"collectives/{setting}.torch.jsonl", [sum_row("torch.distributed", 120.0) | {"version": "2.9"}])
            (self.folder / f"collectives/{setting}.txt").write_text("")
        self.lines("collectives/shm.jsonl", [sum_row("fp32", 10.0)])
        self.lines("collectives/loopback.jsonl", [sum_row("engine", 40.0)])

    def speed(self):
        self.machine("speed")
        names = [f"{rate} {way}" for rate in ("100mbit", "1gbit", "10gbit", "unlimited") for way in ("alone", "dynamic8")]
        self.lines("speed/all.jsonl", [{"name": name} | SPEED for name in ["plain libtorch", "plain ours", *names]])

    def ddp(self):
        self.machine("versus/ddp")
        ways = ("fp32", "fp16 hook", "bf16 hook", "dynamic8", "qsgd:bits=4", "auto")
        for rate in ("100mbit", "1gbit", "10gbit", "unlimited"):
            self.lines(f"versus/ddp/{rate}.json", [{rate: dict.fromkeys(ways, STEP)}])

    def emulation(self):
        self.machine("versus/emulation")
        self.lines("versus/emulation/emulation.json", [
            {"size": 512, "count": 1048576, "products": [emulation_row("narrowcast.gemm", "addition")],
             "casts": [emulation_row("memcpy", "value")]}])

    def training(self, error):
        self.machine("versus/training")
        self.lines("versus/training/mnist-mlp.1gbit.hooks.json", [
            {"net": "mnist-mlp", "way": "hooks", "ways": {"fp32": STEP, "dynamic8": STEP}}])
        self.lines("versus/training/mnist-mlp.errors.fp32.json", [
            {"net": "mnist-mlp", "way": "fp32", "epochs": [{"step": 200, "error": error}]}])

    def page(self):
        printed = io.StringIO()
        results.print_studies = lambda *_: None  # they are of studies/records, not of the folder
        with contextlib.redirect_stdout(printed):
            results.main(self.folder, None)
        return printed.getvalue()

    def part(self, heading):
        """From that heading to the next one."""
        return re.search(rf"^{re.escape(heading)}.*?(?=^#|\Z)", self.page(), re.M | re.S)[0]

    def charts(self):
        versus_pictures.main(self.folder, self.pictures)
        return {path.stem for path in self.pictures.glob("*.svg")}

    def shown(self, page):
        return set(re.findall(r"\]\(pictures/(versus-\w+)\.svg\)", page))

    def test_every_part_with_figures_is_on_the_page(self):
        page = self.page()
        for heading in ("Codecs beside the peers", "All-reduce of 6.5 M floats (26 MB)", "Training: accuracy", "Training: speed",
                        "Training beside PyTorch's DistributedDataParallel", "PyTorch's DistributedDataParallel",
                        "Emulated arithmetic", "Predictions", "Training under faults", "Fuzzing"):
            self.assertIn(f"\n## {heading}\n", page)
        sums = page[page.index("## All-reduce"):page.index("## Training: accuracy")]
        for title in ("100 Mbit/s", "1 Gbit/s", "10 Gbit/s", "no limit"):
            self.assertIn(f"### Two hosts, {title}\n", sums)
        self.assertEqual(sums.count("| torch.distributed (Gloo), fp32 |"), 5)
        self.assertEqual(page.count("### No limit"), 1)

    def test_every_chart_that_is_made_is_shown_and_no_other(self):
        self.assertEqual(self.shown(self.page()), {"versus-codecs", "versus-allreduce", "versus-training"})
        self.assertEqual(self.charts(), self.shown(self.page()))

    def test_inputs_of_fuzzers_are_counted(self):
        part = self.part("## Fuzzing")
        self.assertIn("in 1,200,000 inputs,\nin 10 minutes.\n\nSome CPU, 2 cores, clang++ 14.0.6, commit `a1`.\n", part)
        self.assertIn("| `text_fuzz` | 200,000 |\n", part)

    def test_peers_of_sums_have_their_versions(self):
        self.assertIn("\nPeers: torch 2.9.\n", self.page())
        self.machine("collectives", engines={"Gloo": "0.0~git2022", "Open MPI": "4.1.4-3", "MPICH": "4.0"})
        self.assertIn("\nPeers: Gloo 0.0~git2022, Open MPI 4.1.4-3, torch 2.9.\n", self.page())

    def test_training_that_never_reached_the_error_has_no_chart(self):
        self.training(error=90.0)
        self.assertEqual(self.shown(self.page()), {"versus-codecs", "versus-allreduce"})
        self.assertEqual(self.charts(), self.shown(self.page()))

    def test_sums_without_those_of_torch_have_their_chart(self):
        for path in (self.folder / "collectives").glob("*.torch.jsonl"):
            path.unlink()
        self.assertIn("versus-allreduce", self.shown(self.page()) & self.charts())

    def test_parts_without_figures_are_left_out(self):
        shutil.rmtree(self.folder / "versus")
        shutil.rmtree(self.folder / "prediction")
        (self.folder / "soak.jsonl").unlink()
        (self.folder / "fuzz.json").unlink()
        page = self.page()
        for heading in ("DistributedDataParallel", "Emulated", "Predictions", "faults", "Fuzzing", "beside the peers"):
            self.assertNotRegex(page, f"## .*{heading}")

    def test_a_run_that_did_not_count_its_bytes_has_no_ideal(self):
        rows = [{"name": name} | SPEED for name in ("plain libtorch", "plain ours", "1gbit alone", "1gbit dynamic8")]
        for row in rows:
            del row["wire_bytes"]
        self.lines("speed/all.jsonl", rows)
        self.assertIn("| `dynamic8` | 20.0 | 1.00 (goal 1.75) |  | 20.0 |", self.page())

    def test_every_commit_of_a_part_is_named(self):
        self.machine("versus/ddp", commits=["a1", "b2"])
        self.assertIn("commits `a1`, `b2`.\n", self.page())

    def test_what_was_unusual_stands_beside_the_machine(self):
        self.machine("versus/ddp", note="Other programs ran meanwhile.")
        self.assertRegex(self.page(), r"commit `\w+`\. Other programs ran meanwhile\.\n")

    def test_a_sum_that_misses_its_goal_has_its_reason(self):
        self.assertNotIn("misses its goal", self.part("### Two hosts, 10 Gbit/s"))
        slow = sum_row("dynamic8", 99.0) | {"encode_us": 2e4}
        self.lines("collectives/2x10gbit.jsonl", [sum_row("engine", 100.0), slow])
        self.assertIn("\n`dynamic8` misses its goal: one core encodes, decodes and runs TCP.\nIts bytes need "
                      "0.8 ms of wire; encoding and decoding took 20.0 ms of that core.\n",
                      self.part("### Two hosts, 10 Gbit/s"))
        self.lines("collectives/4x1gbit.jsonl", [sum_row("engine", 100.0), sum_row("dynamic8", 99.0)])
        self.assertIn("\n`dynamic8` misses its goal: one core encodes, decodes and runs TCP for two hosts.\n",
                      self.part("### Four hosts"))

    def test_shared_memory_that_misses_its_goal_has_its_reason(self):
        self.assertNotIn("no transport shortens", self.part("### Two processes"))
        self.lines("collectives/shm.jsonl", [sum_row("fp32", 4e3) | {"decode_us": 3e3}])
        self.lines("collectives/loopback.jsonl", [sum_row("engine", 8e3)])
        self.assertIn("Of the 4.0 ms over `shm`, 3.0 are for adding what arrived, which no transport shortens.",
                      self.part("### Two processes"))

    def test_steps_that_miss_their_goal_have_a_reason_below_them(self):
        self.assertEqual(self.page().count("(ddp.md#speed)"), 1)
        self.assertIn("(ddp.md#speed)", self.part("### 1gbit"))
        fast = {"fp32": STEP | {"ms": 200}, "fp16 hook": STEP | {"ms": 100}, "bf16 hook": STEP | {"ms": 100}}
        for rate in ("1gbit", "unlimited"):
            ways = fast | dict.fromkeys(("dynamic8", "qsgd:bits=4", "auto"), STEP)
            self.lines(f"versus/ddp/{rate}.json", [{rate: ways}])
        self.assertEqual(self.page().count("(ddp.md#speed)"), 0)


class TwoThreads(unittest.TestCase):
    def rows(self, codec):
        row = {"codec": codec, "encode_ns": 1.0, "decode_ns": 1.0, "memcpy_ns": 1.0}
        return list(results.thread_rows([row], [row], lambda _, copy: 1.7))

    def test_a_codec_that_gains_nothing_misses_the_goal(self):
        self.assertEqual(self.rows("dynamic8"), ["| `dynamic8` | **1.00** (goal 1.70) | **1.00** (goal 1.70) | 1.00 |"])

    def test_codecs_that_may_not_be_cut_have_no_goal(self):
        for codec in ("dynamic8:block=0", "linear8:block=0,rounding=paper", "qsgd:bits=4,coding=elias"):
            self.assertEqual(self.rows(codec), [f"| `{codec}` | 1.00 | 1.00 | 1.00 |"])


if __name__ == "__main__":
    unittest.main()
