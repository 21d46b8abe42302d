"""What the tests of training share: starting runs and reading what they leave."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import ranks
from ranks import workers_of

PROGRAM, MODULES = sys.argv[1:3]

SMALL = ["--net", "mnist-mlp", "--data", "synthetic", "--batch", "16", "--no-test"]
PATIENCE = 120  # seconds for a whole run


def environment():
    return ranks.environment({"NARROWCAST_MODULES": MODULES})


def command(*words):
    return [PROGRAM, "train", *words]


def train(*words, check=True, **options):
    """Returns the finished process; fails when it does, unless `check` is False."""
    done = subprocess.run(
        command(*words),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        **options,
    )
    if check and done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}")
    return done


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def run(*words):
    """The records of a run that has to go well."""
    return records(train(*words, "--json", "-").stdout)


def events(lines, event):
    return [line for line in lines if line["event"] == event]


def losses(lines):
    return [line["loss"] for line in events(lines, "step")]


def final_hash(lines):
    return events(lines, "summary")[-1]["replica_hash"]


class Training(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="narrowcast-train-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def expect_refused(self, code, pattern, *words, **options):
        """One clear line and that exit code."""
        done = train(*words, check=False, **options)
        lines = [line for line in done.stderr.splitlines() if line]
        self.assertEqual(code, done.returncode, done.stderr)
        self.assertRegex(done.stderr, pattern)
        for line in lines:
            self.assertRegex(line, r"^(rank \d+: )?narrowcast: ")


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
