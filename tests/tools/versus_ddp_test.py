"""When bench/versus/ddp.py writes its figures: versus_ddp_test.py FOLDER_OF_DDP_PY."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))
import ddp  # noqa: E402

WAYS = {"fp32": {"ms": 2.0, "from": 1.0, "to": 3.0}}


class Figures(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.file = pathlib.Path(place.name) / "figures.json"

    def measure(self, broken=()):
        def measured(rate, words):
            if rate in broken:
                raise subprocess.CalledProcessError(1, "hosts")
            return WAYS

        words = ["ddp.py", "--rates", "1gbit", "10gbit", "--json", str(self.file)]
        with mock.patch.object(ddp, "measure", measured), mock.patch.object(sys, "argv", words), \
                contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return ddp.main()

    def test_are_written_when_every_rate_was_measured(self):
        self.assertEqual(self.measure(), 0)
        self.assertEqual(json.loads(self.file.read_text()), {"1gbit": WAYS, "10gbit": WAYS})

    def test_are_not_written_when_a_rate_failed(self):
        for broken in (["1gbit"], ["10gbit"], ["1gbit", "10gbit"]):
            self.assertEqual(self.measure(broken), 5)
            self.assertFalse(self.file.exists(), broken)


if __name__ == "__main__":
    unittest.main()
