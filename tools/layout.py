#!/usr/bin/env python3
"""Holds every #include to the graph of the rooms.

    tools/layout.py ROOT ROOMS.TXT

ROOMS.TXT is written by CMake (cmake/Room.cmake), one line for each room:
"name: rooms it depends on : header prefixes that it alone may include". Prints one line for each
violation and exits with 1 if there are any.
"""

import pathlib
import re
import sys
from dataclasses import dataclass

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')
SUFFIXES = {".cpp", ".hpp", ".h", ".inc"}
# Folders that are no rooms and see all of them; only tests also see what is private.
GUESTS = {"tests", "examples"}


@dataclass
class Room:
    depends: list
    owns: list


def read_rooms(text):
    rooms = {}
    for line in text.splitlines():
        name, depends, owns = (part.strip() for part in line.split(":"))
        rooms[name] = Room(depends.split(), owns.split())
    return rooms


def graph_faults(rooms):
    """Names that are no rooms, and rooms that see themselves."""
    for name, room in rooms.items():
        for other in room.depends:
            if other not in rooms:
                yield f"room {name} depends on {other}, which is no room"
        if name in below(rooms, name):
            yield f"room {name} depends on itself: the graph has a cycle"


def below(rooms, name):
    """All rooms that `name` depends on, directly or not."""
    found, waiting = set(), list(rooms[name].depends)
    while waiting:
        other = waiting.pop()
        if other not in found:
            found.add(other)
            waiting += rooms[other].depends if other in rooms else []
    return found


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def include_fault(rooms, folder, quote, header):
    """What is wrong with a file of `folder` including `header`, or None."""
    for name, room in rooms.items():
        if any(header.startswith(prefix) for prefix in room.owns):
            if folder != name and folder not in GUESTS:
                return f"only {name} may include <{header}>"
            return None
    if quote == "<":
        return None
    target, _, rest = header.partition("/")
    if not rest:
        return f'"{header}" is not written from the root of the tree'
    if target == folder:
        return None
    if target not in rooms:
        return f'"{header}" is of {target}, which is no room'
    if folder in GUESTS:
        visible = set(rooms)
    else:
        visible = below(rooms, folder)
    if target not in visible:
        return f"{folder} must not see {target}"
    if "/" in rest and folder != "tests":
        return f'"{header}" is private to {target}'
    return None


def sources(root):
    for folder in sorted(root.iterdir()):
        if folder.is_dir() and not folder.name.startswith((".", "build")):
            for path in sorted(folder.rglob("*")):
                if path.suffix in SUFFIXES:
                    yield folder.name, path


def faults(root, rooms):
    yield from graph_faults(rooms)
    for name in rooms:
        if not (root / name).is_dir():
            yield f"room {name} has no folder"
    for folder, path in sources(root):
        place = path.relative_to(root)
        if folder not in rooms and folder not in GUESTS:
            yield f"{place}: {folder} is no room"
            continue
        for number, quote, header in includes(path):
            if fault := include_fault(rooms, folder, quote, header):
                yield f"{place}:{number}: {fault}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, rooms = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = list(faults(root, read_rooms(rooms.read_text())))
    print("\n".join(found) if found else "every include keeps to the graph")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
