"""Studies that are refused in one line, before any work where that can be.

    refused_test.py PROGRAM MODULES SOURCE
"""

import pathlib
import subprocess
import sys
import unittest

from studies import CELLS, DEADLINE, MAY_MOUNT, MODULES, PROGRAM, SOURCE, STUDY, Studies, environment


class Refused(Studies):
    def test_looks_only_at_what_it_is_to_do(self):
        self.study(STUDY + "[[part]]\nkind = 'transfer'\nsize = '4K'\n[part.settings]\nlauncher = 'no-such-program'\n")
        self.expect_refused(2, "no program 'no-such-program'")
        done = self.run_study("--only", "errors")
        self.assertEqual(0, done.returncode, done.stderr)

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
        self.expect_refused(2, "--most takes a number of cells", "--most", "0")
        for part in (
            "kind = 'predict'\nnet = 'alexnet'\nprofile = 'ec2-k80'\nparallel = 'model'",
            "kind = 'predict'\nnet = 'alexnet'\nprofile = 'ec2-k80'\ncodec = 'onebit:column=shape'",
            "kind = 'round-off'\ncodec = 'qsgd:bits=4'",
        ):
            self.study(f"[[part]]\n{part}\n")
            self.expect_refused(2, "study.toml:1: .*(hybrid|shape|sum=format)", "--check")
        self.study(STUDY)
        self.assertFalse(self.out.exists())
        (self.folder / "empty").mkdir()
        self.expect_refused(2, "neither", "--from", str(self.folder / "empty"))

    def test_refuses_a_file_that_is_not_there_as_every_command_does(self):
        missing = str(self.folder / "none")
        self.expect_refused(5, "cannot read .*none", "--from", missing)
        for words in (["list", missing], ["report", missing], ["compare", missing, missing],
                      ["report", missing, "--study", str(self.file)], ["run", missing, "-o", str(self.out)]):
            with self.subTest(words[0]):
                done = subprocess.run([PROGRAM, "study", *words], env=environment(), capture_output=True, text=True,
                                      timeout=DEADLINE)
                self.assertEqual((5, 1), (done.returncode, len(done.stderr.splitlines())), done.stderr)
                self.assertRegex(done.stderr, "cannot read .*none': No such file")

    @unittest.skipUnless(pathlib.Path(MODULES, "narrowcast_train.so").exists(), "no libtorch here")
    def test_refuses_a_data_set_that_is_not_there(self):
        self.study("[[part]]\nkind = 'train'\ndata = 'mnist'\n")
        self.expect_refused(2, "there is no mnist", NARROWCAST_DATA=str(self.folder))

    def test_refuses_hosts_that_do_not_answer(self):
        hosts = self.folder / "hosts"
        hosts.write_text("somewhere 2\n")
        self.study(f"[[part]]\nkind = 'transfer'\nsize = '1M'\n[part.settings]\nhosts = '{hosts}'\n")
        self.expect_refused(4, "host somewhere does not answer", NARROWCAST_RSH="false")

    def test_refuses_hosts_of_another_number_of_workers(self):
        hosts = self.folder / "hosts"
        hosts.write_text("here 2\nthere\n")
        self.study(f"[[part]]\nkind = 'transfer'\nsize = '1M'\n[part.settings]\nhosts = '{hosts}'\n")
        self.expect_refused(2, "its hosts are for 3 workers, not 2", NARROWCAST_RSH="true")

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
        self.assertRegex(done.stderr, r"^narrowcast: .* has [01] MB of room left")
        self.assertNotIn("FAILED", done.stdout)  # the cell is still to be done

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
