"""tools/tidy_once.py: asks clang-tidy once, as long as nothing has changed.   tidy_once_test.py"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy_once.py"
CLEAN = "int half(int value) { return value / 2; }\n"

# Stands in for clang-tidy: counts its calls, and finds fault with what says so.
TIDY = """#!/bin/sh
for file; do :; done
if [ "$file" = --version ]; then echo "${TIDY_VERSION-1}"; exit; fi
echo called >> "$CALLS"
! grep -q bad "$file"
"""


@unittest.skipUnless(shutil.which("clang++-14"), "clang++-14 is not installed")
class TidyOnce(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        tidy = self.folder / "clang-tidy-14"
        tidy.write_text(TIDY)
        tidy.chmod(0o755)
        self.calls = self.folder / "calls"
        self.environment = os.environ | {
            "PATH": f"{self.folder}:{os.environ['PATH']}", "CALLS": str(self.calls),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        self.source = self.lay_out("checkout")

    def lay_out(self, name):
        """A checkout with the tool, a source file and how it is compiled."""
        root = self.folder / name
        (root / "tools").mkdir(parents=True)
        shutil.copy(TOOL, root / "tools")
        (root / ".clang-tidy").write_text("Checks: '*'\n")
        (root / "value.hpp").write_text("// a header\n")
        source = root / "half.cpp"
        source.write_text('#include "value.hpp"\n' + CLEAN)
        entry = {"directory": str(root), "file": str(source), "command": f"c++ -I{root} -o half.o -c {source}"}
        (root / "compile_commands.json").write_text(json.dumps([entry]))
        return source

    def tidy(self, source=None, words=(), **environment):
        """Whether the file was clean, and how often clang-tidy has been called until now."""
        source = source or self.source
        done = subprocess.run([source.parent / "tools" / TOOL.name, f"-p={source.parent}", *words, source],
                              env=self.environment | environment, capture_output=True, timeout=60, check=False)
        return done.returncode == 0, self.calls.read_text().count("called")

    def test_asks_once_for_what_does_not_change(self):
        self.assertEqual([(True, 1), (True, 1)], [self.tidy(), self.tidy()])

    def test_knows_a_file_again_in_another_checkout(self):
        self.tidy()
        self.assertEqual((True, 1), self.tidy(self.lay_out("other")))

    def test_asks_again_when_anything_has_changed(self):
        self.tidy()
        for count, (name, text) in enumerate([("half.cpp", CLEAN + "// NOLINT\n"), ("half.cpp", "#define A 1\n" + CLEAN),
                                              (".clang-tidy", "Checks: '-*'\n")], start=2):
            self.source.with_name(name).write_text(text)
            self.assertEqual((True, count), self.tidy(), name)
        self.assertEqual((True, 5), self.tidy(words=["-checks=-*"]))
        self.assertEqual((True, 6), self.tidy(TIDY_VERSION="2"))

    def test_asks_again_when_a_header_has_changed(self):
        self.tidy()
        self.source.with_name("value.hpp").write_text("// another comment\n")
        self.assertEqual((True, 2), self.tidy())

    def test_finds_a_fault_every_time(self):
        self.source.write_text("int bad;\n")
        self.assertEqual([(False, 1), (False, 2)], [self.tidy(), self.tidy()])

    def test_leaves_to_clang_tidy_what_cannot_be_compiled(self):
        self.source.write_text('#include "nowhere.hpp"\n')
        self.assertEqual([(True, 1), (True, 2)], [self.tidy(), self.tidy()])


if __name__ == "__main__":
    unittest.main()
