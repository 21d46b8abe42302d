"""Runs `narrowcast study ...` as people do: killed, shared between processes, resumed, refused.

    runs_test.py PROGRAM MODULES SOURCE
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODULES, SOURCE = sys.argv[1:4]
DEADLINE = 240  # seconds: a hang becomes a failure

# Cells of a few milliseconds, with nothing but the program itself.
STUDY = """
title = "Errors"
[[part]]
kind = "errors"
codec = ["fp16", "bf16", "dynamic8", "linear8", "bnb8", "e4m3", "e5m2", "mxfp4"]
data = ["uniform", "normal", "laplace"]
[part.settings]
samples = "64K"
"""
CELLS = 24
MAY_MOUNT = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


def environment(**more):
    plain = {key: value for key, value in os.environ.items() if key != "NARROWCAST_DATA"}
    return plain | {"NARROWCAST_MODULES": MODULES} | more


class Studies(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="narrowcast-study-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file = self.study(STUDY)
        self.out = self.folder / "out"

    def study(self, text):
        file = self.folder / "study.toml"
        file.write_text(text)
        return file

    def words(self, *more):
        return [PROGRAM, "study", "run", str(self.file), "-o", str(self.out), *more]

    def run_study(self, *more, **variables):
        return subprocess.run(
            self.words(*more), env=environment(**variables), capture_output=True, text=True, timeout=DEADLINE
        )

    def start(self):
        process = subprocess.Popen(
            self.words(), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def records(self):
        done = subprocess.run(
            [PROGRAM, "study", "list", str(self.out), "--json"],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def after_two_cells(self):
        """A run that has told of two cells."""
        process = self.start()
        for _ in range(3):  # the title, and two of them
            self.assertTrue(process.stdout.readline())
        return process

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

    def test_does_what_failed_elsewhere(self):
        broken = "\n[[part]]\nkind = 'transfer'\nsize = '4K'\n[part.settings]\nlauncher = 'false'\n"
        self.study(STUDY + broken)
        done = self.run_study()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("1 of them failed", done.stdout)
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

    def test_refuses_the_folder_of_another_study(self):
        self.run_study("--most", "3")
        self.file = self.file.rename(self.folder / "another.toml")
        done = self.run_study()
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertRegex(done.stderr, "is the folder of study 'study', not of 'another'")
        self.assertEqual(3, len(self.records()))
        # More cells of the same study are welcome there.
        self.file = self.study(STUDY.replace('"mxfp4"', '"mxfp4", "mxfp8"'))
        self.assertIn(f"{CELLS} cells done now", self.run_study().stdout)

    def test_reports_what_is_there_so_far(self):
        self.run_study("--most", "3")
        for words in (["study", "report"], ["study", "list"]):
            done = subprocess.run([PROGRAM, *words, str(self.out)], capture_output=True, text=True, timeout=DEADLINE)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn(f"3 of {CELLS} cells have a record", done.stdout)
        self.assertIn(f"3 of {CELLS} cells done", (self.out / "report.md").read_text())

    def test_compares_nothing_where_there_is_nothing(self):
        self.run_study("--most", "3")
        done = subprocess.run([PROGRAM, "study", "compare", str(self.out), str(self.out)],
                              capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("Both sides have no cell with an error or a time.\n", done.stdout)

    def expect_refused(self, code, pattern, *more, **variables):
        done = self.run_study(*more, **variables)
        self.assertEqual(code, done.returncode, done.stderr + done.stdout)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        cells = self.out / "cells"
        self.assertEqual([], list(cells.iterdir()) if cells.exists() else [])

    def test_refuses_in_one_line_before_any_work(self):
        self.study("titel = 'x'\n" + STUDY)
        self.expect_refused(2, r"study.toml:1: a study has no 'titel'")
        self.study("[[part]]\nkind = 'errors'\ncodec = []\n")
        self.expect_refused(2, "empty list")
        self.study("title = 'nothing'\n")
        self.expect_refused(2, "at least one")
        self.expect_refused(2, "at least one", "--only", "train")
        self.study(STUDY)
        self.expect_refused(2, "of kind 'train'", "--only", "train")
        self.expect_refused(2, "count of values", "--most", "0")
        self.assertFalse(self.out.exists())
        self.expect_refused(2, "neither", "--from", str(self.folder / "none"))

    @unittest.skipUnless(pathlib.Path(MODULES, "narrowcast_train.so").exists(), "no libtorch here")
    def test_refuses_a_data_set_that_is_not_there(self):
        self.study("[[part]]\nkind = 'train'\ndata = 'mnist'\n")
        self.expect_refused(2, "there is no mnist", NARROWCAST_DATA=str(self.folder))

    def test_refuses_hosts_that_do_not_answer(self):
        hosts = self.folder / "hosts"
        hosts.write_text("somewhere\n")
        self.study(f"[[part]]\nkind = 'transfer'\nsize = '1M'\n[part.settings]\nhosts = '{hosts}'\n")
        self.expect_refused(4, "host somewhere does not answer", NARROWCAST_RSH="false")

    def test_refuses_a_folder_that_cannot_be(self):
        self.out = self.folder / "study.toml" / "below"
        done = self.run_study()
        self.assertEqual(5, done.returncode, done.stderr)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)

    @unittest.skipUnless(MAY_MOUNT, "a full disk is a mount of its own, which cannot be made here")
    def test_refuses_a_full_disk(self):
        self.out.mkdir()
        mounted = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=1m none "$0" && exec "$@"', str(self.out)]
        done = subprocess.run(
            mounted + self.words(), env=environment(), capture_output=True, text=True, timeout=DEADLINE
        )
        self.assertEqual(5, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r"^narrowcast: .* has [01] MB of room left")

    @unittest.skipUnless(MAY_MOUNT, "a full disk is a mount of its own, which cannot be made here")
    def test_a_disk_that_fills_up_ends_it_in_one_line(self):
        self.out.mkdir()
        # There is room when it looks, and none after the first cell.
        fill = self.folder / "fill"
        fill.write_text(f"#!/bin/sh\ncat /dev/zero > {self.out}/zeros 2> /dev/null\nexit 1\n")
        fill.chmod(0o755)
        self.study(f"[[part]]\nkind = 'transfer'\nsize = '4K'\n[part.settings]\nlauncher = '{fill}'\n" + STUDY)
        self.file.write_text(self.file.read_text().replace('title = "Errors"', ""))
        mounted = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=70m none "$0" && exec "$@"', str(self.out)]
        done = subprocess.run(
            mounted + self.words(), env=environment(), capture_output=True, text=True, timeout=DEADLINE
        )
        self.assertEqual(5, done.returncode, done.stderr)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        self.assertRegex(done.stderr, "No space left on device")

    def test_ships_studies_that_hold(self):
        for file in sorted(pathlib.Path(SOURCE, "studies").glob("*.toml")):
            with self.subTest(file.name):
                self.file = file
                self.out = self.folder / file.stem
                done = self.run_study("--check", NARROWCAST_DATA=str(self.folder))
                # The data sets are not here; everything else about them is looked at first.
                if done.returncode != 0:
                    self.assertRegex(done.stderr, "there is no (mnist|cifar10)|training needs libtorch")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
