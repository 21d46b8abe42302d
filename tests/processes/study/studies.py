"""A study and its folder, for tests that run `narrowcast study ...` as people do.

The words of such a test are PROGRAM MODULES SOURCE.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODULES, SOURCE = map(os.path.abspath, sys.argv[1:4])
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

    def script(self, name, line):
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{line}\n")
        file.chmod(0o755)
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

    def state_of_everything(self):
        return {str(path): path.is_file() and path.read_bytes() for path in self.folder.rglob("*")}
