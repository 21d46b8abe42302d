#!/usr/bin/env python3
"""What the page says of the machine.

    narrowcast doctor --json | tools/machine.py

doctor knows paths, too, which are nobody else's business. Its versions of engines are those of the libraries' files,
which for Open MPI have little to do with the release; the package's version is what others can install.
"""
import json
import shutil
import subprocess
import sys


def package_version(package):
    """Nothing where the package is not installed, or no Debian is below."""
    if not shutil.which("dpkg-query"):
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def engine_version(engine):
    return package_version(engine["package"]) or f"library {engine['version']}"


def machine(found):
    here = {key: found[key] for key in ("cpu", "cores", "target", "compiler", "commit")}
    return here | {"engines": {engine["name"]: engine_version(engine) for engine in found["engines"] if engine["used"]}}


if __name__ == "__main__":
    print(json.dumps(machine(json.load(sys.stdin))))
