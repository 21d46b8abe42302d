#!/usr/bin/env python3
"""Says which source files can be compiled together as one.

    tools/unity.py ROOT FILE...

Names in unnamed namespaces belong to their file, so two files that use the same one for different things
must not be in one translation unit; headers are looked for below ROOT. Prints a line of files for each group;
what stands alone is left out. Called by cmake/Unity.cmake.
"""

import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
# More files in one unit save less and less, and leave the other cores without work.
MOST_FILES = 8
# Highway compiles these once for every target by including them again.
ALONE = re.compile(r"foreach_target\.h|#\s*define\b")

NOISE = re.compile(
    r'R"(?P<mark>\w*)\(.*?\)(?P=mark)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.S,
)
ALIAS = re.compile(r"\busing (?:(\w+) = [^;]+|[\w:]+::(\w+))")
INCLUDE = re.compile(r'^#include "(.+)"', re.M)
PUBLIC = re.compile(r"^ *(?:struct|class|enum(?: class)?|using) (\w+)|^ *inline constexpr [^=]*?(\w+)(?:\[\])? =", re.M)
TYPE = re.compile(r"(?:struct|class|enum(?: class)?) (\w+)")
# The last word before what begins parameters, a value, an array or the end.
OBJECT = re.compile(r"(\w+) ?(?:[(={\[]|$)")
# What is called or made, unless it is a member or of a named namespace.
CALL = re.compile(r"(?<![\w.>:])(\w+)\s*[({<]")
# What macros like TEST_P(Suite, Name) declare has names that are unique in the whole program.
MACRO = re.compile(r"[A-Z][A-Z0-9_]+\(")


def unnamed(text):
    """The insides of the unnamed namespaces."""
    for begin in re.finditer(r"\bnamespace\s*\{", text):
        depth, at = 1, begin.end()
        while depth and at < len(text):
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
        yield text[begin.end() : at - 1]


def declarations(inside):
    """The beginning of each declaration at the top: up to its body, its value or its end."""
    depth, words = 0, ""
    for letter in inside:
        if letter in "{};" and depth == 0:
            yield re.sub(r"\s+", " ", words).strip()
            words = ""
        elif depth == 0:
            words += letter
        depth += (letter == "{") - (letter == "}")


@functools.cache
def declared_for(path):
    """The types and constants that a file declares, and those of the headers that it includes."""
    text = path.read_text()
    found = {match[1] or match[2] for match in PUBLIC.finditer(text)}
    for name in INCLUDE.findall(text):
        if (ROOT / name).exists():
            found |= declared_for(ROOT / name)
    return found


class Source:
    def __init__(self, path):
        self.path = path
        text = NOISE.sub(lambda match: " " if match[0].startswith("/") else '""', path.read_text())
        # The names that are the file's own, each with what it stands for.
        self.names = {match[1] or match[2]: match[0] for match in ALIAS.finditer(text)}
        for inside in unnamed(text):
            for words in declarations(inside):
                words = re.sub(r"^template ?<[^()]*?> (?=\w)|\[\[.*?\]\] ?", "", words)
                match = TYPE.match(words) or OBJECT.search(words)
                if match and not MACRO.match(words) and not words.startswith("using "):
                    self.names[match[1]] = path
        # Those that it takes from elsewhere.
        self.uses = (set(CALL.findall(text)) | declared_for(path)) - self.names.keys()

    def bears(self, other):
        """Whether no name of ours means something else there."""
        return not self.names.keys() & other.uses and all(
            other.names.get(name, meaning) == meaning for name, meaning in self.names.items()
        )


def grouped(paths):
    """The files with the most rivals get a group first, and the others fill them up."""
    sources = [Source(path) for path in paths if not ALONE.search(path.read_text())]
    counted = collections.Counter(name for each in sources for name in each.names)
    groups = []
    for each in sorted(sources, key=lambda each: -max((counted[name] for name in each.names), default=0)):
        for group in groups:
            if len(group) < MOST_FILES and all(each.bears(other) and other.bears(each) for other in group):
                group.append(each)
                break
        else:
            groups.append([each])
    return [sorted(each.path for each in group) for group in groups if len(group) > 1]


if __name__ == "__main__":
    for group in grouped([pathlib.Path(word) for word in sys.argv[2:]]):
        print(*group, sep=";")
