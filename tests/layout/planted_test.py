"""Plants violations into a copy of the tree and expects tools/layout.py to name each of them.

    planted_test.py ROOT ROOMS.TXT
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, ROOMS = map(pathlib.Path, sys.argv[1:3])
COPIED = [line.split(":")[0] for line in ROOMS.read_text().splitlines()] + ["examples", "tests"]


class Layout(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = pathlib.Path(scratch.name, "tree")
        for folder in COPIED:
            shutil.copytree(ROOT / folder, self.tree / folder)
        self.rooms = pathlib.Path(scratch.name, "rooms.txt")
        self.rooms.write_text(ROOMS.read_text())

    def layout(self):
        return subprocess.run(
            [sys.executable, ROOT / "tools/layout.py", self.tree, self.rooms],
            capture_output=True,
            text=True,
        )

    def plant(self, path, text):
        planted = self.tree / path
        planted.parent.mkdir(parents=True, exist_ok=True)
        planted.write_text(text)

    def expect_only(self, fault):
        result = self.layout()
        self.assertEqual((1, fault + "\n"), (result.returncode, result.stdout), result.stderr)

    def test_passes_without_a_planted_violation(self):
        result = self.layout()
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)

    def test_fails_on_a_room_that_may_not_be_seen(self):
        self.plant("base/planted.cpp", '#include <vector>\n#include "codec/codec.hpp"\n')
        self.expect_only("base/planted.cpp:2: base must not see codec")

    def test_fails_on_a_header_that_another_room_owns(self):
        self.plant("cli/planted.hpp", "#  include <hwy/highway.h>\n")
        self.expect_only("cli/planted.hpp:1: only codec may include <hwy/highway.h>")

    def test_fails_on_an_owned_header_in_quotes(self):
        self.plant("bench/planted.cpp", '#include "hwy/highway.h"\n')
        self.expect_only("bench/planted.cpp:1: only codec may include <hwy/highway.h>")

    def test_fails_in_folders_below_a_room(self):
        self.plant("codec/kernel/planted.hpp", '#include "cli/command.hpp"\n')
        self.expect_only("codec/kernel/planted.hpp:1: codec must not see cli")

    def test_fails_on_what_is_private_to_another_room(self):
        self.plant("cli/planted.cpp", '#include "codec/kernel/planted.hpp"\n')
        self.expect_only('cli/planted.cpp:1: "codec/kernel/planted.hpp" is private to codec')

    def test_fails_on_an_unknown_room(self):
        self.plant("codec/planted.cpp", '#include "atelier/planted.hpp"\n')
        self.expect_only(
            'codec/planted.cpp:1: "atelier/planted.hpp" is of atelier, which is no room'
        )

    def test_fails_on_rooms_that_include_tests(self):
        self.plant("codec/planted.cpp", '#include "tests/support/planted.hpp"\n')
        self.expect_only(
            'codec/planted.cpp:1: "tests/support/planted.hpp" is of tests, which is no room'
        )

    def test_fails_on_a_path_that_does_not_start_at_the_root(self):
        self.plant("codec/planted.cpp", '#include "spec.hpp"\n')
        self.expect_only(
            'codec/planted.cpp:1: "spec.hpp" is not written from the root of the tree'
        )

    def test_fails_on_a_folder_that_is_no_room(self):
        self.plant("helpers/planted.cpp", "")
        self.expect_only("helpers/planted.cpp: helpers is no room")

    def test_fails_on_a_cycle(self):
        self.rooms.write_text(ROOMS.read_text().replace("base:", "base: codec", 1))
        result = self.layout()
        self.assertEqual(1, result.returncode)
        for room in ("base", "codec"):
            self.assertIn(f"room {room} depends on itself", result.stdout)

    def test_fails_on_a_dependency_that_is_no_room(self):
        self.rooms.write_text(ROOMS.read_text().replace("codec: base", "codec: base atelier", 1))
        result = self.layout()
        self.assertEqual(1, result.returncode)
        self.assertIn("room codec depends on atelier, which is no room", result.stdout)

    def test_lets_tests_see_everything(self):
        self.plant(
            "tests/codec/planted.cpp",
            '#include <hwy/highway.h>\n#include "codec/kernel/planted.hpp"\n'
            '#include "cli/command.hpp"\n#include "tests/support/planted.hpp"\n',
        )
        self.assertEqual(0, self.layout().returncode)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
