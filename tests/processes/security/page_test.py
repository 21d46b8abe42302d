"""docs/security.md names a test for what it claims: each is there. And the sources start no shell.

    page_test.py SOURCE
"""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
SHELL = re.compile(r"\b(?:system|popen|wordexp)\s*\(|\"/bin/(?:ba)?sh\"|\"(?:ba)?sh\",\s*\"-c\"|shell\s*=\s*True")
ROOMS = ("base", "codec", "transport", "collective", "plan", "store", "data", "exchange", "predict", "run", "train",
         "emulate", "study", "bench", "cli", "python")


def names_of_tests():
    """SUITE.Name of gtest, and class.test of unittest, wherever they stand below tests/."""
    names = set()
    for file in (SOURCE / "tests").rglob("*.cpp"):
        for suite, name in re.findall(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", file.read_text()):
            names.add(f"{suite}.{name}")
    for file in (SOURCE / "tests").rglob("*_test.py"):
        suite = ""
        for kind, name in re.findall(r"^\s*(class|def) (\w+)", file.read_text(), re.M):
            suite = name if kind == "class" else suite
            names.add(f"{suite}.{name}")
    return names


class Page(unittest.TestCase):
    def test_names_tests_that_are_there(self):
        rows = re.findall(r"^\| [^|]+ \| (`[^|]+`) \|$", (SOURCE / "docs/security.md").read_text(), re.M)
        self.assertGreater(len(rows), 30)
        known = names_of_tests()
        for row in rows:
            for name in re.findall(r"`([^`]+)`", row):
                self.assertIn(name, known)


class Sources(unittest.TestCase):
    def test_start_no_shell(self):
        for room in ROOMS:
            for file in sorted((SOURCE / room).rglob("*")):
                if file.suffix not in (".cpp", ".hpp", ".py"):
                    continue
                for number, line in enumerate(file.read_text().splitlines(), 1):
                    self.assertIsNone(SHELL.search(line), f"{file.relative_to(SOURCE)}:{number}: {line.strip()}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
