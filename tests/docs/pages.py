"""The documentation as data: its pages, and what stands in fences."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def pages():
    """Every Markdown file of the project."""
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted(path for path in (ROOT / "docs").rglob("*.md")),
    ]


def fences(page, language):
    """The insides of the fences of that language."""
    return [match[2] for match in FENCE.finditer(page.read_text()) if match[1] == language]


def without_fences(text):
    return FENCE.sub("", text)


def commands(page):
    """The command lines that a page shows, without their comments; one that goes on in the next line is one."""
    for block in fences(page, "sh"):
        for line in block.replace("\\\n", "").splitlines():
            command = re.sub(r"(^|\s+)#.*$", "", line).strip()
            if command:
                yield command
