#!/usr/bin/env python3
"""clang-tidy that reads nothing twice: what was found clean before, to the letter, is clean.

    run-clang-tidy-14 -clang-tidy-binary tools/tidy_once.py ...

A file is known again by what its compiler makes of it, comments and macros included, by the words of the call, the checks
and the version of clang-tidy; not by where the checkout lies. What was clean is kept in the user's cache. Other calls, and
files with findings, go to clang-tidy as they are.
"""

import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

TIDY = "clang-tidy-14"
ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "narrowcast" / "tidy"


def compile_command(words):
    """How the file of this call is compiled, and where; None for calls without one."""
    folder = next((word[3:] for word in words if word.startswith("-p=")), None)
    if folder is None or not pathlib.Path(words[-1]).is_file():
        return None
    for entry in json.loads(pathlib.Path(folder, "compile_commands.json").read_text()):
        if pathlib.Path(entry["directory"], entry["file"]).resolve() == pathlib.Path(words[-1]).resolve():
            return shlex.split(entry["command"]), entry["directory"]
    return None


def preprocess(command, folder):
    """The text of the whole unit. clang reads it, whatever compiler the entry names: it is what clang-tidy will see."""
    words = iter(command)
    kept = ["clang++-14"]
    # What stands before the first option is the compiler, perhaps behind a launcher with settings of its own.
    for word in words:
        if word.startswith("-"):
            kept.append(word)
            break
    for word in words:
        if word in ("-o", "-MF", "-MT", "-MQ"):
            next(words)
        elif word not in ("-c", "-MD"):
            kept.append(word)
    done = subprocess.run([*kept, "-E", "-C", "-dD"], cwd=folder, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def stamp(words):
    """The file that says that this very call was clean; None where that cannot be known."""
    found = compile_command(words)
    text = preprocess(*found) if found else None
    if text is None:
        return None
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    checks = ROOT.joinpath(".clang-tidy").read_bytes()
    parts = [version, checks, "\0".join([*words, *found[0]]).encode(), text]
    return CACHE / hashlib.sha256(b"\0\0".join(parts).replace(bytes(ROOT), b".")).hexdigest()


def main():
    words = sys.argv[1:]
    clean = stamp(words) if words else None
    if clean is not None and clean.exists():
        return 0
    done = subprocess.run([TIDY, *words], check=False)
    if clean is not None and done.returncode == 0:
        CACHE.mkdir(parents=True, exist_ok=True)
        clean.touch()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
