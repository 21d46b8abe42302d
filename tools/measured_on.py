#!/usr/bin/env python3
"""What machine.json of a part says: the machine, and every commit that some of its figures were measured at.

    tools/measured_on.py same FILE < MACHINE    exit code 1 unless FILE is of the same machine
    tools/measured_on.py add FILE < MACHINE     adds the commit; makes FILE where there is none

MACHINE is what scripts/bench finds on this one, with its `commit`. Pieces of one part may be of several commits, since
a measurement goes on where it stopped.
"""
import json
import pathlib
import sys


def read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def split(machine):
    """Without the commit, and the commit."""
    return {key: value for key, value in machine.items() if key != "commit"}, machine["commit"]


def same(path, machine):
    found = read(path)
    found.pop("commits", None)
    return found == split(machine)[0]


def add(path, machine):
    here, commit = split(machine)
    commits = read(path).get("commits", [])
    if commit not in commits:
        commits.append(commit)
    path.write_text(json.dumps(here | {"commits": commits}) + "\n")


def main(what, file):
    path, machine = pathlib.Path(file), json.load(sys.stdin)
    if what == "same":
        return 0 if same(path, machine) else 1
    add(path, machine)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
