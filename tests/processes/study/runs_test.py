"""Studies that are run: killed, shared between processes, resumed, done again.

    runs_test.py PROGRAM MODULES SOURCE
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import unittest

from studies import CELLS, DEADLINE, PROGRAM, SOURCE, STUDY, Studies, environment


class Runs(Studies):
    def test_does_every_cell(self):
        done = self.run_study()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("0 were there before; all are done", done.stdout)
        records = self.records()
        self.assertEqual(CELLS, len(records))
        self.assertEqual({"done"}, {record["state"] for record in records})
        for record in records:
            self.assertEqual("study", record["study"])
            self.assertGreater(record["machine"]["cores"], 0)
            self.assertEqual(1, len(record["rows"]))
            self.assertTrue(record["commands"][0].startswith("narrowcast errors "))

    def test_a_kill_loses_at_most_the_cell_under_way(self):
        process = self.after_two_cells()
        process.send_signal(signal.SIGKILL)
        told = 2 + len(process.stdout.readlines())
        process.wait(DEADLINE)
        before = self.records()
        self.assertIn(len(before), (told, told + 1))
        again = self.run_study()
        self.assertEqual(0, again.returncode, again.stderr)
        after = {record["id"]: record for record in self.records()}
        self.assertEqual(CELLS, len(after))
        for record in before:
            self.assertEqual(record, after[record["id"]])
        self.assertEqual([], list((self.out / "claims").iterdir()))

    def test_kills_at_any_moment_leave_whole_records_and_no_cell_twice(self):
        dice = random.Random(7)
        for _ in range(12):
            process = self.start()
            for _ in range(dice.randrange(3)):
                process.stdout.readline()
            # After a line, at once: in the midst of whatever comes next.
            try:
                process.wait(dice.random() * 0.02)
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate(timeout=DEADLINE)
            if (self.out / "cells").exists():
                self.records()
        done = self.run_study()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(CELLS, len(self.records()))
        self.assertEqual([], list((self.out / "claims").iterdir()))
        self.assertEqual(CELLS, len(list((self.out / "cells").iterdir())))

    def test_an_interrupt_ends_it_and_it_goes_on(self):
        process = self.after_two_cells()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE)
        self.assertEqual(130, process.returncode)
        self.assertLess(len(self.records()), CELLS)
        self.assertEqual(0, self.run_study().returncode)
        self.assertEqual(CELLS, len(self.records()))

    def test_two_processes_share_a_folder_and_do_nothing_twice(self):
        processes = [self.start(), self.start(), self.start()]
        done = 0
        for process in processes:
            out, err = process.communicate(timeout=DEADLINE)
            self.assertEqual(0, process.returncode, err)
            done += sum(line.startswith("[") for line in out.splitlines())
        self.assertEqual(CELLS, done)
        self.assertEqual(CELLS, len(self.records()))

    def test_goes_on_from_records_of_elsewhere(self):
        self.assertIn(f"; {CELLS - 7} are left", self.run_study("--most", "7").stdout)
        lines = self.folder / "records.jsonl"
        lines.write_text("".join(json.dumps(record) + "\n" for record in self.records()))
        self.out = self.folder / "other"
        done = self.run_study("--from", str(lines))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("7 records taken over", done.stdout)
        self.assertIn(f"{CELLS - 7} cells done now", done.stdout)

    def test_a_launcher_starts_the_program(self):
        launcher = self.script("launcher", 'echo "$1" > "$(dirname "$0")/program"; exec "$@" --transport shm --workers 2')
        self.study(f"[[part]]\nkind = 'transfer'\nsize = '4K'\n[part.settings]\nlauncher = '{launcher}'\n")
        done = self.run_study()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["done"], [record["state"] for record in self.records()], done.stdout)
        self.assertTrue(os.path.samefile(PROGRAM, (self.folder / "program").read_text().strip()))

    def test_does_what_failed_elsewhere(self):
        broken = "\n[[part]]\nkind = 'transfer'\nsize = '4K'\n[part.settings]\nlauncher = 'false'\n"
        self.study(STUDY + broken)
        done = self.run_study()
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn("1 of them failed", done.stdout)
        self.assertIn("--retry", done.stdout)
        first, self.out = self.out, self.folder / "other"
        again = self.run_study("--from", str(first))
        self.assertIn(f"{CELLS} records taken over", again.stdout)
        self.assertIn("1 cell done now, 1 of them failed", again.stdout)

    def test_does_again_what_was_timed_on_a_busy_machine(self):
        self.study("[[part]]\nkind = 'transfer'\nsize = '4K'\n" + STUDY.replace('title = "Errors"', ""))
        self.assertEqual(0, self.run_study().returncode)
        for file in (self.out / "cells").iterdir():
            file.write_text(json.dumps(json.loads(file.read_text()) | {"others": 0.9}) + "\n")
        self.assertIn("0 cells done now", self.run_study("--only", "errors", "--retry-busy").stdout)
        self.assertIn("1 cell done now", self.run_study("--retry-busy").stdout)

    def test_a_check_writes_nothing(self):
        self.run_study("--most", "7")
        first, self.out = self.out, self.folder / "other"
        before = self.state_of_everything()
        done = self.run_study("--from", str(first), "--check")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("7 records to take over", done.stdout)
        self.assertEqual(before, self.state_of_everything())

    def failed_transfer(self):
        """The bytes of its record, in a folder where it would fail again."""
        launcher = self.script("launcher", "exit 1")
        self.study(f"[[part]]\nkind = 'transfer'\nsize = '4K'\n[part.settings]\nlauncher = '{launcher}'\n")
        self.assertIn("1 of them failed", self.run_study().stdout)
        return launcher, self.state_of_everything()

    def test_keeps_what_failed_until_it_is_done_again(self):
        launcher, before = self.failed_transfer()
        again = self.run_study()
        self.assertEqual(1, again.returncode, again.stderr)
        self.assertIn("0 cells done now, 0 of them failed; 1 were there before, 1 as failed; all have a record",
                      again.stdout)
        before = self.state_of_everything()
        self.assertEqual(0, self.run_study("--retry", "--check").returncode)
        self.assertEqual(before, self.state_of_everything())
        launcher.unlink()
        before.pop(str(launcher))
        self.assertEqual(2, self.run_study("--retry").returncode)
        self.assertEqual(before, self.state_of_everything())
        self.script("launcher", 'kill -INT $PPID; exec sleep 60')
        self.assertEqual(130, self.run_study("--retry").returncode)
        self.assertEqual(["failed"], [record["state"] for record in self.records()])
        self.script("launcher", 'exec "$@" --transport shm --workers 2')
        self.assertIn("1 cell done now, 0 of them failed; 0 were there before", self.run_study("--retry").stdout)
        self.assertEqual(["done"], [record["state"] for record in self.records()])

    def test_keeps_a_study_that_begins_with_a_mark(self):
        self.file.write_text("\ufeff" + STUDY, encoding="utf-8")
        self.assertEqual(0, self.run_study("--most", "1").returncode)
        again = self.run_study("--most", "1")
        self.assertEqual(0, again.returncode, again.stderr)
        self.assertEqual(2, len(self.records()))

    def test_reports_what_is_there_so_far(self):
        self.run_study("--most", "3")
        for words in (["study", "report"], ["study", "list"]):
            done = subprocess.run([PROGRAM, *words, str(self.out)], capture_output=True, text=True, timeout=DEADLINE)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn(f"3 of {CELLS} cells have a record", done.stdout)
        self.assertIn(f"3 of {CELLS} cells done", (self.out / "report.md").read_text())

    def test_reports_where_files_of_its_cells_are_not(self):
        profile = pathlib.Path(SOURCE, "predict", "profiles", "ethernet-10g.inc").read_text()
        (self.folder / "mine.toml").write_text(profile[profile.index("(") + 1 : profile.rindex(")")])
        self.study("[[part]]\nkind = 'predict'\nnet = 'alexnet'\nprofile = 'mine.toml'\n")
        done = subprocess.run(self.words(), env=environment(), cwd=self.folder, capture_output=True, text=True,
                              timeout=DEADLINE)
        self.assertEqual(0, done.returncode, done.stderr)
        for command in ("report", "list"):
            done = subprocess.run([PROGRAM, "study", command, str(self.out)], cwd="/", capture_output=True, text=True,
                                  timeout=DEADLINE)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("1 of 1 cells have a record", done.stdout)

    def test_compares_nothing_where_there_is_nothing(self):
        self.run_study("--most", "3")
        done = subprocess.run([PROGRAM, "study", "compare", str(self.out), str(self.out)],
                              capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("Both sides have no cell with an error or a time.\n", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
