"""What scripts/fuzz writes down, with fuzzers that only say how much they did: fuzz_test.py SOURCE_FOLDER."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
COMPILER = '#!/bin/sh\necho "14.0.6"\n'


def fuzzer(inputs, code):
    return f'#!/bin/sh\necho "stat::number_of_executed_units: {inputs}" >&2\nexit {code}\n'


class Fuzz(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        for name in ("scripts/fuzz", "tools/fuzz_record.py"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(SOURCE / name, self.folder / name)
        for name in ("scripts/setup", "bin/cmake"):
            self.executable(name, "#!/bin/sh\n")
        self.executable("bin/clang++-14", COMPILER)
        (self.folder / "docs/results").mkdir(parents=True)
        self.record = self.folder / "docs/results/fuzz.json"
        for name in ("frame_fuzz", "text_fuzz"):
            (self.folder / f"tests/fuzz/corpus/{name}").mkdir(parents=True)
            (self.folder / f"tests/fuzz/{name}.cpp").touch()
            self.fuzzer(name, 100)

    def executable(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def fuzzer(self, name, inputs, code=0):
        self.executable(f"build/fuzz/tests/fuzz/{name}", fuzzer(inputs, code))

    def fuzz(self, *words):
        environment = os.environ | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run(["bash", self.folder / "scripts/fuzz", *words], env=environment, capture_output=True,
                              text=True)

    def test_as_many_inputs_as_were_asked_for_are_written_down(self):
        done = self.fuzz("--inputs", "500")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("in all                600 inputs, 0 of 2 fuzzers found something", done.stdout)
        found = json.loads(self.record.read_text())
        self.assertEqual(found["fuzzers"], {"frame_fuzz": 300, "text_fuzz": 300})
        self.assertEqual(found["inputs"], 600)
        self.assertEqual(found["compiler"], "clang++ 14.0.6")
        self.assertGreaterEqual(found["seconds"], 0)
        self.assertEqual(len(found["commits"]), 1)
        self.assertGreaterEqual(found["cores"], 1)
        self.assertIn("docs/results.md is not: ", done.stdout)

    def test_the_page_is_made_anew_where_a_program_is(self):
        self.executable("build/narrowcast", "#!/bin/sh\n")
        self.executable("tools/results.py", "#!/bin/sh\necho made of $1 by $2\n")
        self.assertEqual(self.fuzz("--inputs", "500").returncode, 0)
        self.assertEqual((self.folder / "docs/results.md").read_text(), "made of docs/results by build/narrowcast\n")

    def test_rounds_of_seconds_are_not(self):
        self.assertEqual(self.fuzz("--seconds", "8").returncode, 0)
        self.assertEqual(self.fuzz().returncode, 0)
        self.assertFalse(self.record.exists())

    def test_some_of_the_fuzzers_are_not(self):
        self.assertEqual(self.fuzz("--inputs", "500", "text_fuzz").returncode, 0)
        self.assertFalse(self.record.exists())

    def test_fuzzers_that_found_something_are_not(self):
        self.fuzzer("text_fuzz", 100, code=77)
        self.assertEqual(self.fuzz("--inputs", "500").returncode, 1)
        self.assertFalse(self.record.exists())


if __name__ == "__main__":
    unittest.main()
