"""Every link between pages leads somewhere, also to a heading.

    links_test.py
"""

import re
import tempfile
import pathlib
import unittest

from pages import ROOT, pages, without_fences

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text):
    """The anchors that a forge makes of headings: small letters, hyphens for blanks, nothing else."""
    for heading in re.findall(r"^#+ +(.+?) *$", without_fences(text), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        yield re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def fault(page, link):
    """What is wrong with a link; nothing when it is good or leads out of the project."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return f"{link}: there is no {path}"
    if ROOT not in (target, *target.parents) and page.is_relative_to(ROOT):
        return f"{link}: leads out of the project"
    if anchor and anchor not in anchors(target.read_text()):
        return f"{link}: {target.name} has no such heading"
    return None


def faults(page):
    text = re.sub(r"`[^`\n]*`", "", without_fences(page.read_text()))
    return [f"{page.name}: {found}" for link in LINK.findall(text) if (found := fault(page, link))]


class Links(unittest.TestCase):
    def test_lead_somewhere(self):
        self.assertGreater(len(pages()), 20)
        self.assertEqual([], [found for page in pages() for found in faults(page)])

    def test_that_are_broken_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(
                "# One `two` three\n[a](page.md#one-two-three) [b](page.md#four) [c](none.md) "
                "![d](none.png)\n[e](https://example.org) `[f](g)`\n```text\n[h](i)\n```\n"
            )
            self.assertEqual(
                [
                    "page.md: page.md#four: page.md has no such heading",
                    "page.md: none.md: there is no none.md",
                    "page.md: none.png: there is no none.png",
                ],
                faults(page),
            )

    def test_lead_from_the_start_to_every_page(self):
        reached, waiting = set(), [ROOT / "README.md"]
        while waiting:
            page = waiting.pop()
            if page in reached or page.suffix != ".md":
                continue
            reached.add(page)
            for link in LINK.findall(page.read_text()):
                target = (page.parent / link.partition("#")[0]).resolve()
                waiting += target.glob("*.md") if target.is_dir() else [target][: target.exists()]
        self.assertEqual(set(), set((ROOT / "docs").rglob("*.md")) - reached)


if __name__ == "__main__":
    unittest.main()
