"""How scripts/bench measures in pieces: tools/bench_pieces.sh, given as the first word."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PIECES = pathlib.Path(sys.argv.pop(1)).resolve()

# A machine whose name and commit are in files, and a measurement that counts how often it was made.
SETTING = """
set -euo pipefail
figures=build marks=build/done/all seconds=0
machine() { echo "{\\"cpu\\": \\"$(cat cpu)\\", \\"commit\\": \\"$(cat commit)\\"}"; }
source {pieces}
measure() { echo x >>"made-$1" && printed "$1" echo "figures of $1"; }
"""

SUMS = "begin_part sums; piece a.txt measure a.txt; piece b.txt measure b.txt; end_part; "
STEPS = "begin_part versus/steps; piece c.txt measure c.txt; end_part; "
TWO = SUMS + "end_command"


class Pieces(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        (self.folder / "cpu").write_text("one")
        (self.folder / "commit").write_text("first")

    def run_bash(self, words, before=""):
        script = SETTING.replace("{pieces}", str(PIECES)) + before + "\n" + words
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def times_made(self, piece):
        made = self.folder / f"made-{piece}"
        return len(made.read_text().splitlines()) if made.exists() else 0

    def result(self, piece):
        path = self.folder / "docs" / "results" / "sums" / piece
        return path.read_text() if path.exists() else None

    def test_a_part_that_is_complete_replaces_the_figures_that_were_there(self):
        old = self.folder / "docs" / "results" / "sums"
        old.mkdir(parents=True)
        (old / "gone.txt").write_text("old")
        code, text = self.run_bash(TWO)
        self.assertEqual(code, 0, text)
        self.assertEqual(self.result("a.txt"), "figures of a.txt\n")
        self.assertIsNone(self.result("gone.txt"))
        self.assertNotIn("not all is measured", text)

    def test_after_the_time_no_piece_is_begun_and_the_part_is_named(self):
        code, text = self.run_bash(TWO, before="seconds=1; SECONDS=1")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.times_made("a.txt"), 0)
        self.assertIsNone(self.result("a.txt"))
        self.assertIn("not all is measured of: sums;", text)

    def test_what_was_interrupted_goes_on_where_it_stopped(self):
        broken = TWO.replace("measure b.txt", "false")
        self.assertNotEqual(self.run_bash(broken)[0], 0)
        self.assertIsNone(self.result("a.txt"))
        self.assertEqual(self.run_bash(TWO)[0], 0)
        self.assertEqual((self.times_made("a.txt"), self.times_made("b.txt")), (1, 1))
        self.assertEqual(self.result("b.txt"), "figures of b.txt\n")

    def test_a_part_that_was_complete_is_measured_anew(self):
        self.run_bash(TWO)
        self.run_bash(TWO)
        self.assertEqual(self.times_made("a.txt"), 2)

    def test_a_part_that_is_complete_is_kept_until_the_whole_command_is(self):
        self.run_bash(SUMS + "seconds=1; SECONDS=1; " + STEPS + "end_command")
        code, text = self.run_bash(SUMS + STEPS + "end_command")
        self.assertEqual(code, 0, text)
        self.assertEqual((self.times_made("a.txt"), self.times_made("c.txt")), (1, 1))
        self.assertIn("sums: complete", text)
        self.run_bash(SUMS + STEPS + "end_command")
        self.assertEqual((self.times_made("a.txt"), self.times_made("c.txt")), (2, 2))

    def test_a_part_that_is_complete_is_kept_when_another_fails(self):
        self.run_bash(SUMS + STEPS.replace("measure c.txt", "false") + "end_command")
        self.run_bash(SUMS + STEPS + "end_command")
        self.assertEqual((self.times_made("a.txt"), self.times_made("c.txt")), (1, 1))

    def test_another_command_measures_what_one_has_completed(self):
        self.run_bash(SUMS + "seconds=1; SECONDS=1; " + STEPS + "end_command")
        self.run_bash(TWO, before="marks=build/done/sums")
        self.assertEqual(self.times_made("a.txt"), 2)
        self.run_bash(SUMS + STEPS + "end_command")
        self.assertEqual(self.times_made("a.txt"), 2)

    def test_a_part_that_was_completed_on_another_machine_is_measured_anew(self):
        self.run_bash(SUMS + "seconds=1; SECONDS=1; " + STEPS + "end_command")
        (self.folder / "cpu").write_text("two")
        self.run_bash(SUMS + STEPS + "end_command")
        self.assertEqual(self.times_made("a.txt"), 2)

    def test_pieces_of_another_machine_are_not_mixed_with_ours(self):
        self.run_bash(TWO.replace("measure b.txt", "false"))
        (self.folder / "cpu").write_text("two")
        code, text = self.run_bash(TWO)
        self.assertEqual(code, 0, text)
        self.assertEqual(self.times_made("a.txt"), 2)
        self.assertIn("another machine", text)

    def test_every_commit_that_pieces_were_measured_at_is_kept(self):
        self.run_bash(TWO.replace("measure b.txt", "false"))
        (self.folder / "commit").write_text("second")
        self.run_bash(TWO)
        self.assertEqual(json.loads(self.result("machine.json")), {"cpu": "one", "commits": ["first", "second"]})
        self.assertEqual(self.times_made("a.txt"), 1)

    def test_a_commit_at_which_nothing_was_measured_is_not(self):
        self.run_bash(TWO.replace("measure b.txt", "false"))
        (self.folder / "commit").write_text("second")
        self.run_bash(TWO, before="seconds=1; SECONDS=1")
        (self.folder / "commit").write_text("first")
        self.run_bash(TWO)
        self.assertEqual(json.loads(self.result("machine.json"))["commits"], ["first"])

    def test_a_measurement_that_fails_leaves_no_piece(self):
        code, text = self.run_bash("begin_part sums; half() { echo half; false; }; piece a.txt printed a.txt half")
        self.assertEqual(code, 1)
        self.assertIn("scripts/bench: sums: a.txt failed with exit code 1", text)
        self.assertFalse((self.folder / "build" / "sums" / "a.txt").exists())

    def test_a_measurement_that_makes_nothing_is_an_error(self):
        code, text = self.run_bash("begin_part sums; piece a.txt true")
        self.assertEqual(code, 5)
        self.assertIn("a.txt was not made", text)


if __name__ == "__main__":
    unittest.main()
