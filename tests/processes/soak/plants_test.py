"""The soak fails where it should: with a leak, and with a run that goes on wrongly.

    plants_test.py PROGRAM MODULES
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODULES = sys.argv[1:3]
SOAK = pathlib.Path(__file__).with_name("soak.py")


class Planted(unittest.TestCase):
    def expect_failure(self, plant, pattern, *only):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, SOAK, "--program", PROGRAM, "--modules", MODULES, "--short", "--seed", "1",
                 "--folder", folder, "--plant", plant, "--only", *only],
                capture_output=True, text=True, timeout=300,
            )
            last = json.loads(pathlib.Path(folder, "soak.jsonl").read_text().splitlines()[-1])
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        self.assertEqual("", done.stderr)
        self.assertFalse(last["good"])
        self.assertRegex(last["why"], pattern)
        self.assertIn("FAILED", done.stdout.splitlines()[-1])

    def test_a_leak_of_memory_and_descriptors_is_found(self):
        self.expect_failure(
            "leak", r"^rank 1 over gloo has grown: memory steadily by .*, descriptors by \d+ within", "interrupt")

    def test_a_run_that_goes_on_wrongly_is_found(self):
        self.expect_failure("wrong-resume", r"^step \d+ had a loss|^the weights differ", "interrupt", "kill-rank")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
