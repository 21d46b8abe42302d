"""Figures of two runs beside each other: tools/compare_results.py TOOLS_FOLDER."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1))


def codec_row(codec="dynamic8", encode=1.0, copy=0.5):
    return {"codec": codec, "values": 1048576, "threads": 1, "encode_ns": encode, "decode_ns": 0.5,
            "accumulate_ns": 0.5, "memcpy_ns": copy}


def sum_row(codec, time_us, least_us=None):
    return {"codec": codec, "time_us": time_us, "least_us": least_us or time_us, "iterations": 16}


def step(ms, spread=0.0):
    return {"ms": ms, "from": ms - spread / 2, "to": ms + spread / 2, "steps": 100}


class Results:
    """A folder like docs/results."""

    def __init__(self, folder):
        self.folder = folder

    def part(self, name, files, cpu="Some CPU"):
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "machine.json").write_text(json.dumps({"cpu": cpu, "cores": 2, "target": "AVX2"}))
        for file, rows in files.items():
            (place / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return self


class TwoRuns(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory()
        self.addCleanup(self.made.cleanup)
        self.old, self.new = (Results(pathlib.Path(self.made.name) / name) for name in ("old", "new"))

    def compare(self):
        done = subprocess.run([sys.executable, TOOLS / "compare_results.py", self.old.folder, self.new.folder],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def codecs(self, old, new, cpu="Some CPU"):
        self.old.part("codecs", {"a.jsonl": old})
        self.new.part("codecs", {"a.jsonl": new}, cpu)
        return self.compare()

    def test_rows_that_are_the_same_pass(self):
        code, text = self.codecs([codec_row()], [codec_row()])
        self.assertEqual((code, text), (0, "3 rows, 0 worse\n"))

    def test_a_row_that_got_worse_by_more_than_its_noise_fails(self):
        code, text = self.codecs([codec_row(encode=1.0)], [codec_row(encode=1.3)])
        self.assertEqual(code, 1)
        self.assertIn("WORSE: dynamic8, encode, 1048576 values, threads 1: 2.00 before, 2.60 now (+30 %", text)
        self.assertIn("3 rows, 1 worse", text)

    def test_a_row_that_got_worse_by_less_than_its_noise_passes(self):
        code, text = self.codecs([codec_row(encode=1.0)], [codec_row(encode=1.15)])
        self.assertEqual((code, text), (0, "3 rows, 0 worse\n"))

    def test_a_row_that_got_better_is_told_and_passes(self):
        code, text = self.codecs([codec_row(encode=1.3)], [codec_row(encode=0.9)])
        self.assertEqual(code, 0)
        self.assertIn("better: dynamic8, encode", text)

    def test_a_slower_machine_with_the_same_ratios_passes(self):
        slower = codec_row()
        slower.update({key: 3 * value for key, value in slower.items() if key.endswith("_ns")})
        code, text = self.codecs([codec_row()], [slower])
        self.assertEqual((code, text), (0, "3 rows, 0 worse\n"))

    def test_new_rows_are_reported_as_new_and_pass(self):
        code, text = self.codecs([codec_row()], [codec_row(), codec_row("tern", 9.0)])
        self.assertEqual(code, 0)
        self.assertIn("codecs: new: tern, encode, 1048576 values, threads 1: 18.00", text)

    def test_rows_that_are_gone_are_named(self):
        code, text = self.codecs([codec_row(), codec_row("tern")], [codec_row()])
        self.assertEqual(code, 0)
        self.assertIn("codecs: gone: tern, encode", text)

    def test_parts_that_are_new_or_gone_are_named(self):
        self.old.part("prediction", {"2x1gbit.jsonl": [{"predicted_ms": 1.0, "measured_ms": 1.0}]})
        self.new.part("codecs", {"a.jsonl": [codec_row()]})
        code, text = self.compare()
        self.assertEqual(code, 0)
        self.assertIn("codecs: new, with 3 rows", text)
        self.assertIn("prediction: gone", text)

    def test_figures_of_another_cpu_are_not_compared(self):
        code, text = self.codecs([codec_row(encode=1.0)], [codec_row(encode=9.0)], cpu="Another")
        self.assertEqual(code, 0)
        self.assertIn("codecs: measured on Another (2 cores, AVX2), before on Some CPU (2 cores, AVX2): another machine, not compared", text)

    def sums(self, before, after):
        self.old.part("collectives", {"2x1gbit.jsonl": [sum_row("engine", 100), before]})
        self.new.part("collectives", {"2x1gbit.jsonl": [sum_row("engine", 100), after]})
        return self.compare()[0]

    def test_the_error_of_a_sum_follows_from_its_spread_and_its_number(self):
        self.assertEqual(self.sums(sum_row("dynamic8", 50), sum_row("dynamic8", 55)), 1)
        self.assertEqual(self.sums(sum_row("dynamic8", 50), sum_row("dynamic8", 55, least_us=44)), 0)
        self.assertEqual(self.sums(sum_row("dynamic8", 50), sum_row("dynamic8", 60, least_us=48)), 1)

    def ddp(self, before, after, spread):
        for results, ways in ((self.old, before), (self.new, after)):
            found = {way: step(ms, spread * ms) for way, ms in ways.items()}
            results.part("versus/ddp", {"1gbit.json": [{"1gbit": {"fp32": step(80, spread * 80)} | found}]})
        return self.compare()

    def test_wide_quartiles_of_many_steps_hide_little(self):
        # 30 % between the quartiles: an error of 2.8 % a median, four of which are in it, and 2.58 times that.
        self.assertEqual(self.ddp({"dynamic8": 40}, {"dynamic8": 44}, spread=0.3)[0], 0)
        code, text = self.ddp({"dynamic8": 40}, {"dynamic8": 47}, spread=0.3)
        self.assertEqual(code, 1)
        self.assertIn("WORSE: dynamic8, 1gbit: 0.50 before, 0.59 now (+18 %, noise 14 %)", text)

    def test_hooks_of_torch_are_no_rows_of_ours(self):
        code, text = self.ddp({"fp16 hook": 40, "auto": 40}, {"fp16 hook": 80, "auto": 40}, spread=0.0)
        self.assertEqual((code, text), (0, "1 rows, 0 worse\n"))

    def speed(self, *turns):
        return {"all.jsonl": [{"name": f"1gbit {way}", "step_ms": ms} for pair in turns for way, ms in zip(("alone", "fp32"), pair)]}

    def test_slow_minutes_that_both_steps_of_a_turn_had_are_no_noise(self):
        self.old.part("speed", self.speed((20, 40), (30, 60), (25, 50)))
        self.new.part("speed", self.speed((25, 55), (20, 44), (30, 66)))
        code, text = self.compare()
        self.assertEqual(code, 1)
        self.assertIn("WORSE: 1gbit fp32: 2.00 before, 2.20 now (+10 %, noise 8 %)", text)

    def test_peers_sums_are_no_rows_of_ours(self):
        rows = {"2x1gbit.jsonl": [sum_row("engine", 100), sum_row("dynamic8", 50)],
                "2x1gbit.torch.jsonl": [sum_row("torch.distributed", 100)]}
        self.old.part("collectives", rows)
        self.new.part("collectives", rows)
        self.assertEqual(self.compare(), (0, "1 rows, 0 worse\n"))

    def processes(self, before, after, gloo=120):
        for results, rows in ((self.old, before), (self.new, after)):
            results.part("collectives", {"shm.jsonl": [sum_row(codec, time) for codec, time in rows.items()],
                                         "loopback.jsonl": [sum_row("engine", gloo)]})
        return self.compare()

    def test_codecs_over_shared_memory_are_compared_with_fp32_over_it(self):
        code, text = self.processes({"fp32": 40, "dynamic8": 40}, {"fp32": 40, "dynamic8": 44})
        self.assertEqual(code, 1)
        self.assertIn("WORSE: dynamic8, shm: 1.00 before, 1.10 now", text)
        self.assertEqual(self.processes({"fp32": 40, "dynamic8": 40}, {"fp32": 40, "dynamic8": 42})[0], 0)

    def test_shared_memory_is_compared_with_gloo_over_loopback(self):
        code, text = self.processes({"fp32": 40}, {"fp32": 50})
        self.assertEqual(code, 1)
        self.assertIn("WORSE: fp32 over shm, of Gloo over loopback: 0.33 before, 0.42 now", text)
        self.assertEqual(self.processes({"fp32": 40}, {"fp32": 46}), (0, "1 rows, 0 worse\n"))

    def test_shared_memory_without_loopback_beside_it_has_its_codecs(self):
        for results in (self.old, self.new):
            results.part("collectives", {"shm.jsonl": [sum_row("fp32", 40), sum_row("dynamic8", 40)]})
        self.assertEqual(self.compare(), (0, "1 rows, 0 worse\n"))

    def accuracy(self, before, after):
        """Errors of three seeds each by file, and of a codec with one."""
        for results, errors in ((self.old, before), (self.new, after)):
            results.part("training", {f"{name}-{seed}.jsonl": [{"event": "epoch", "test_error": 9.0},
                                                               {"event": "epoch", "test_error": error}]
                                      for name, seeds in errors.items() for seed, error in enumerate(seeds, 1)})
        return self.compare()

    def test_accuracy_is_compared_with_that_of_fp32_over_the_same_seeds(self):
        fp32 = {"data-fp32": (1.5, 1.5, 1.5)}
        code, text = self.accuracy(fp32 | {"data-dynamic8": (1.5, 1.5, 1.5)}, fp32 | {"data-dynamic8": (1.7, 1.7, 1.7)})
        self.assertEqual(code, 1)
        self.assertIn("WORSE: dynamic8, data: 1.00 before, 1.13 now (+13 %, noise 7 %)", text)
        code, text = self.accuracy(fp32 | {"data-dynamic8": (1.5, 1.5, 1.5)}, fp32 | {"data-dynamic8": (1.6, 1.5, 1.6)})
        self.assertEqual((code, text), (0, "2 rows, 0 worse\n"))

    def test_seeds_that_differ_hide_more(self):
        fp32 = {"model-fp32": (1.4, 1.5, 1.6)}
        code, _ = self.accuracy(fp32 | {"model-linear8": (1.4, 1.5, 1.6)}, fp32 | {"model-linear8": (1.5, 1.7, 1.9)})
        self.assertEqual(code, 0)

    def test_accuracy_of_fp32_itself_has_a_row(self):
        code, text = self.accuracy({"data-fp32": (1.5, 1.5, 1.5)}, {"data-fp32": (1.8, 1.8, 1.8)})
        self.assertEqual(code, 1)
        self.assertIn("WORSE: fp32, data, of the goal: 0.88 before, 1.06 now", text)

    def test_accuracy_of_one_seed_is_compared_with_fp32_of_that_seed(self):
        fp32 = {"data-fp32": (1.5, 3.0, 3.0)}
        self.assertEqual(self.accuracy(fp32 | {"data-qsgd4": (1.5,)}, fp32 | {"data-qsgd4": (1.7,)})[0], 0)
        code, text = self.accuracy(fp32 | {"data-qsgd4": (1.5,)}, fp32 | {"data-qsgd4": (1.9,)})
        self.assertEqual(code, 1)
        self.assertIn("WORSE: qsgd:bits=4, one seed: 1.00 before, 1.27 now", text)

    def training(self, before, after):
        for results, ways in ((self.old, before), (self.new, after)):
            found = {way: step(ms) for way, ms in ({"fp32": 80} | ways).items()}
            results.part("versus/training", {"mnist-mlp.1gbit.hooks.json": [{"ways": found}]})
        return self.compare()

    def test_training_is_compared_with_a_step_of_fp32_on_the_same_link(self):
        code, text = self.training({"dynamic8": 40}, {"dynamic8": 44})
        self.assertEqual(code, 1)
        self.assertIn("WORSE: dynamic8, mnist-mlp, 1gbit: 0.50 before, 0.55 now", text)

    def test_training_in_a_process_of_its_own_may_differ_more(self):
        self.assertEqual(self.training({"train dynamic8": 40}, {"train dynamic8": 44})[0], 0)
        self.assertEqual(self.training({"train dynamic8": 40}, {"train dynamic8": 50})[0], 1)

    def test_training_with_peers_ways_is_no_row_of_ours(self):
        code, text = self.training({"PowerSGD hook": 40, "no communication": 20}, {"PowerSGD hook": 90, "no communication": 90})
        self.assertEqual((code, text), (0, "0 rows, 0 worse\n"))

    def test_figures_that_cannot_be_read_are_one_line_and_exit_code_2(self):
        code, text = self.codecs([codec_row()], [{"codec": "dynamic8"}])
        self.assertEqual(code, 2)
        self.assertEqual(len(text.splitlines()), 1)

    def test_a_folder_that_is_not_there_is_named(self):
        self.old.part("codecs", {"a.jsonl": [codec_row()]})
        code, text = self.compare()
        self.assertEqual(code, 2)
        self.assertIn("there is no folder", text)


if __name__ == "__main__":
    unittest.main()
