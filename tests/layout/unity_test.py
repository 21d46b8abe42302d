"""Which files tools/unity.py compiles together, and which it keeps apart.

    unity_test.py ROOT
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])


class Unity(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def groups(self, **files):
        """The groups of these files, by name; headers are written and not asked for."""
        for name, text in files.items():
            (self.folder / name.replace("_hpp", ".hpp")).write_text(text)
        asked = [self.folder / name for name in files if not name.endswith("_hpp")]
        done = subprocess.run(
            [sys.executable, ROOT / "tools/unity.py", self.folder, *asked], capture_output=True, text=True, check=True
        )
        return [[pathlib.Path(path).name for path in line.split(";")] for line in done.stdout.splitlines()]

    def test_puts_files_together_whose_names_do_not_meet(self):
        self.assertEqual(
            [["a", "b"]],
            self.groups(a="namespace {\nint one() { return two; }\n}", b="namespace {\nint other = 1;\n}"),
        )

    def test_keeps_files_apart_that_use_one_name_for_two_things(self):
        for one in ("int same(int a) { return a; }", "struct same { int a; };", "constexpr int same[] = {1};",
                    "template <class A>\nA same(A a) { return a; }", "using same = int;"):
            with self.subTest(one):
                self.assertEqual([], self.groups(a=f"namespace {{\n{one}\n}}", b="namespace {\nint same() {}\n}"))

    def test_keeps_a_file_apart_that_calls_what_another_has_under_that_name(self):
        self.assertEqual(
            [], self.groups(a="namespace {\nvoid read(Text text) {}\n}", b="void f() { read(0, here, 1); }")
        )
        self.assertEqual(
            [["a", "b"]],
            self.groups(a="namespace {\nvoid read(Text text) {}\n}", b="void f() { stream.read(here, 1); }"),
        )

    def test_keeps_a_file_apart_that_hides_a_type_another_one_sees(self):
        self.assertEqual(
            [],
            self.groups(
                one_hpp="struct Meeting {};", two_hpp='#include "one.hpp"\n',
                a="namespace {\nenum class Meeting { tcp };\n}", b='#include "two.hpp"\nint f();',
            ),
        )

    def test_keeps_a_file_apart_that_hides_a_constant_another_one_sees(self):
        self.assertEqual(
            [],
            self.groups(
                one_hpp="inline constexpr std::uint32_t kMagic = 7;",
                a="namespace {\nconstexpr int kMagic = 1;\n}", b='#include "one.hpp"\nint f();',
            ),
        )

    def test_lets_files_share_an_alias_of_one_meaning(self):
        same = "using framing::Header;\nnamespace {\nusing Clock = std::chrono::steady_clock;\n}"
        self.assertEqual([["a", "b"]], self.groups(a=same, b=same))
        self.assertEqual([], self.groups(a=same, b=same.replace("steady", "system")))

    def test_takes_no_names_from_comments_texts_and_tests(self):
        text = 'namespace {\n// int same();\nTEST(A, B) { say("int same() {"); }\n}'
        self.assertEqual([["a", "b"]], self.groups(a=text, b=text))

    def test_keeps_macros_and_many_targets_to_their_file(self):
        for line in ("#define ONE 1", '#include "hwy/foreach_target.h"'):
            self.assertEqual([], self.groups(a=line, b=""))

    def test_puts_eight_together_and_no_more(self):
        files = {f"f{number}": f"int g{number}();" for number in range(10)}
        self.assertEqual([8, 2], [len(group) for group in self.groups(**files)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
