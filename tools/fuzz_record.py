#!/usr/bin/env python3
"""docs/results/fuzz.json: what scripts/fuzz counted, which calls it.

    tools/fuzz_record.py SECONDS COMPILER < COUNTS

COUNTS has a line for each fuzzer, its name and its inputs. The machine and the commit are named as in machine.json of a
part, but read here: `narrowcast doctor` is of another build, perhaps of another commit.
"""
import json
import os
import subprocess
import sys


def processor():
    """As bench/machine.cpp names it."""
    with open("/proc/cpuinfo") as file:
        fields = dict(map(str.strip, line.split(":", 1)) for line in file if ":" in line)
    name = fields.get("model name", "unknown")
    return f"{name}, family {fields['cpu family']} model {fields['model']}" if "cpu family" in fields else name


def git(*words):
    return subprocess.run(["git", *words], check=False, capture_output=True, text=True)


def commit():
    """As cmake/Commit.cmake has it."""
    described = git("describe", "--always", "--abbrev=12", "--exclude=*")
    if described.returncode != 0:
        return "unknown"
    differs = git("diff", "--quiet", "HEAD", "--", ".", ":(exclude)docs", ":(exclude)studies/records").returncode
    return described.stdout.strip() + ("-dirty" if differs else "")


def main(seconds, compiler):
    fuzzers = {name: int(inputs) for name, inputs in map(str.split, sys.stdin)}
    print(json.dumps({"cpu": processor(), "cores": os.cpu_count(), "compiler": compiler, "commits": [commit()],
                      "seconds": int(seconds), "inputs": sum(fuzzers.values()), "fuzzers": fuzzers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
