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
    return {"codec": codec, "time_us": time_us, "least_us": least_us or time_us}


class Results:
    """A folder like docs/results."""

    def __init__(self, folder):
        self.folder = folder

    def part(self, name, files, cpu="Some CPU"):
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "machine.json").write_text(json.dumps({"cpu": cpu}))
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
        self.assertIn("codecs: measured on Another, before on Some CPU: not compared", text)

    def test_the_spread_that_a_row_recorded_is_its_noise(self):
        before = [sum_row("engine", 100), sum_row("dynamic8", 50)]
        after = [sum_row("engine", 100), sum_row("dynamic8", 65)]
        self.old.part("collectives", {"2x1gbit.jsonl": before})
        self.new.part("collectives", {"2x1gbit.jsonl": after})
        self.assertEqual(self.compare()[0], 1)
        after[1]["least_us"] = 50
        self.new.part("collectives", {"2x1gbit.jsonl": after})
        self.assertEqual(self.compare()[0], 0)

    def test_peers_sums_are_no_rows_of_ours(self):
        rows = {"2x1gbit.jsonl": [sum_row("engine", 100), sum_row("dynamic8", 50)],
                "2x1gbit.torch.jsonl": [sum_row("torch.distributed", 100)]}
        self.old.part("collectives", rows)
        self.new.part("collectives", rows)
        self.assertEqual(self.compare(), (0, "1 rows, 0 worse\n"))

    def test_training_is_compared_with_a_step_of_fp32_on_the_same_link(self):
        def ways(step):
            return [{"ways": {"fp32": {"ms": 80, "from": 79, "to": 81}, "dynamic8": {"ms": step, "from": step, "to": step}}}]

        self.old.part("versus/training", {"mnist-mlp.1gbit.hooks.json": ways(40)})
        self.new.part("versus/training", {"mnist-mlp.1gbit.hooks.json": ways(60)})
        code, text = self.compare()
        self.assertEqual(code, 1)
        self.assertIn("WORSE: dynamic8, mnist-mlp, 1gbit: 0.50 before, 0.75 now", text)

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
