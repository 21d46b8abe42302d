#!/usr/bin/env python3
"""Compares the figures of two folders like docs/results, row by row.

    tools/compare_results.py [OLD NEW]

Without folders: docs/results beside what was committed last. Only what got worse counts, by more than chance does: that
ends with exit code 1. Rows that are new or gone are named. Parts that were measured on different machines are not
compared, because ratios of one say nothing of the other's.
"""
import math
import pathlib
import subprocess
import sys
import tempfile

import figures

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = "docs/results"
# Standard errors that chance exceeds once in a hundred times, and in half of these it is for the worse.
CERTAIN = 2.58


def change(old, new):
    """How much longer the new takes, as a part; and what of that is noise."""
    return new.ratio / old.ratio - 1, max(old.least, new.least, CERTAIN * math.hypot(old.error, new.error))


def compare_part(name, old, new):
    """Lines to print, and how many rows got worse."""
    if old.machine != new.machine:
        return [f"{name}: measured on {new.machine}, before on {old.machine}: another machine, not compared"], 0
    lines, worse = [], 0
    for row, figure in new.figures.items():
        if row not in old.figures:
            lines.append(f"{name}: new: {row}: {figure.ratio:.2f}")
            continue
        by, noise = change(old.figures[row], figure)
        if abs(by) > noise:
            verdict = "WORSE" if by > 0 else "better"
            worse += by > 0
            lines.append(f"{name}: {verdict}: {row}: {old.figures[row].ratio:.2f} before, {figure.ratio:.2f} now "
                         f"({100 * by:+.0f} %, noise {100 * noise:.0f} %)")
    lines += [f"{name}: gone: {row}" for row in old.figures if row not in new.figures]
    return lines, worse


def compare(old, new):
    """The same of all parts."""
    lines, worse = [], 0
    for name, part in new.items():
        if name not in old:
            lines.append(f"{name}: new, with {len(part.figures)} rows")
            continue
        more, count = compare_part(name, old[name], part)
        lines += more
        worse += count
    lines += [f"{name}: gone" for name in old if name not in new]
    rows = sum(len(part.figures) for part in new.values())
    lines.append(f"{rows} rows, {worse} worse")
    return lines, worse


def committed(folder):
    """What the last commit has, put into that folder."""
    archive = subprocess.run(["git", "archive", "HEAD", RESULTS], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", folder], check=True, input=archive.stdout)
    return folder / RESULTS


def main(words):
    if len(words) not in (0, 2):
        print(__doc__, file=sys.stderr)
        return 2
    for folder in words:
        if not pathlib.Path(folder).is_dir():
            print(f"tools/compare_results.py: there is no folder {folder}", file=sys.stderr)
            return 2
    try:
        if words:
            old, new = map(figures.read, map(pathlib.Path, words))
        else:
            with tempfile.TemporaryDirectory() as folder:
                old, new = figures.read(committed(pathlib.Path(folder))), figures.read(ROOT / RESULTS)
    except figures.Unreadable as error:
        print(f"tools/compare_results.py: {error}", file=sys.stderr)
        return 2
    lines, worse = compare(old, new)
    print(*lines, sep="\n")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
