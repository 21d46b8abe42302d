"""What scripts/bench misses before it measures: tools/bench_needs.sh, given as the first word."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

NEEDS = pathlib.Path(sys.argv.pop(1)).resolve()


class Needs(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def run_bash(self, script, data=None):
        environment = {"PATH": "/usr/bin:/bin"} | ({"NARROWCAST_DATA": data} if data else {})
        done = subprocess.run(["bash", "-c", f"set -euo pipefail; source {NEEDS}; {script}"], env=environment,
                              cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def checked(self, words, root="true", data=None):
        return self.run_bash(f"is_root() {{ {root}; }}; needs=$(needs_of {words}); check_machine $needs", data)

    def test_data_is_missed_before_anything_is_measured(self):
        for words in ("", "versus", "versus training", "versus training errors", "training", "training accuracy"):
            code, text = self.checked(words)
            self.assertEqual((code, text.count("\n")), (2, 1), words)
            self.assertIn("NARROWCAST_DATA must name a folder with mnist", text)
            self.assertEqual(self.checked(words, data="somewhere"), (0, ""))

    def test_root_is_missed_before_anything_is_measured(self):
        for words in ("", "collectives", "training speed", "prediction", "versus ddp", "versus training steps"):
            code, text = self.checked(words, root="false", data="somewhere")
            self.assertEqual((code, text.count("\n")), (5, 1), words)
            self.assertIn("take root", text)

    def test_what_needs_neither_is_not_asked_for_them(self):
        for words in ("codecs", "codecs dynamic8 fp16", "versus codecs", "versus emulation", "studies"):
            self.assertEqual(self.checked(words, root="false"), (0, ""), words)

    def test_words_that_name_nothing_are_refused(self):
        for words in ("codec", "versus code", "versus training step", "training all", "collectives 2x1gbit", "studies d16"):
            code, text = self.checked(words, data="somewhere")
            self.assertEqual((code, text),
                             (2, f"scripts/bench: there is nothing called '{words}' to measure: see --help\n"))

    def test_the_program_reads_every_data_set(self):
        program = self.folder / "program"
        program.write_text("#!/bin/sh\necho \"$*\" >>asked\n[ \"$3\" != cifar10 ] || exit 2\n")
        program.chmod(0o755)
        self.assertEqual(self.run_bash("program=./program; check_data root mnist")[0], 0)
        self.assertEqual(self.run_bash("program=./program; check_data root cifar10 mnist")[0], 2)
        self.assertEqual((self.folder / "asked").read_text(), "data info mnist\ndata info cifar10\n")


if __name__ == "__main__":
    unittest.main()
