#!/usr/bin/env python3
"""docs/results.md from what scripts/bench measured, which calls it.

    tools/results.py docs/results PROGRAM > docs/results.md

The folder has one for each part, with the machine and the commits that it was measured on (tools/measured_on.py) and
perhaps a `note` of what was unusual then, and soak.jsonl of scripts/soak, fuzz.json of scripts/fuzz. PROGRAM is
narrowcast, which knows what the records in studies/ say.
"""
import json
import pathlib
import sys

from collective_results import print_collectives
from ddp_results import print_ddp
from emulation_results import print_emulation
from fuzz_results import print_fuzz
from prediction_results import print_prediction
from soak_results import print_soak
from study_results import print_studies
from training_results import print_training
from versus_results import print_versus_codecs, print_versus_training

LARGE, CACHED = 25 << 20, 1 << 20

# Times memcpy of the same array, 25 M values, one thread: what encoding may take.
ENCODE_GOALS = {
    **dict.fromkeys(["fp16", "bf16", "linear8", "e5m2", "e4m3", "float:e=5,m=2", "float:e=4,m=3",
                     "float:e=3,m=0", "onebit", "onebit:column=512"], 1.5),
    **dict.fromkeys(["dynamic8", "bnb8", "qsgd:bits=8", "qsgd:bits=4", "mxfp4"], 2.5),
}
DECODE_GOAL = 1.5  # of every codec but Elias coding; of `float` for 8 and 4 bits
CACHED_GOALS = {"dynamic8": 0.6}  # encode, ns a value, 1 M values
SLOW = 1.0  # ns a value: above it two threads should gain as in cache


def free_of_goal(codec):
    return "elias" in codec or codec in ("float:e=6,m=9", "float:e=8,m=10")


def may_be_cut(codec):
    """Into parts for several threads."""
    return "block=0" not in codec and "elias" not in codec


def cell(ratio, goal):
    if goal is None:
        return f"{ratio:.2f}"
    # As it is shown: what differs further behind is noise.
    return f"{ratio:.2f}" if round(ratio, 2) <= goal else f"**{ratio:.2f}** (goal {goal})"


def ratio(row, what):
    return row[f"{what}_ns"] / row["memcpy_ns"]


def speed_rows(rows):
    for row in rows:
        goal = None if free_of_goal(row["codec"]) else DECODE_GOAL
        yield (f"| `{row['codec']}` | {row['bits_per_value']:.2f} | {row['encode_ns']:.2f} | "
               f"{row['decode_ns']:.2f} | {cell(ratio(row, 'encode'), ENCODE_GOALS.get(row['codec']))} | "
               f"{cell(ratio(row, 'decode'), goal)} | {cell(ratio(row, 'accumulate'), goal)} |")


def cached_rows(rows):
    for row in rows:
        yield (f"| `{row['codec']}` | {cell(row['encode_ns'], CACHED_GOALS.get(row['codec']))} | "
               f"{row['decode_ns']:.2f} | {row['accumulate_ns']:.2f} | {row['memcpy_ns']:.2f} |")


def thread_rows(one, two, at_least):
    """Gains of two threads over one, beside that of the copy."""
    for a, b in zip(one, two):
        gains = {what: a[f"{what}_ns"] / b[f"{what}_ns"] for what in ("encode", "decode", "memcpy")}
        goals = [at_least(a[f"{what}_ns"], gains["memcpy"]) for what in ("encode", "decode")]
        cells = [f"{gains[what]:.2f}" if not may_be_cut(a["codec"]) or round(gains[what], 2) >= round(goal, 2)
                 else f"**{gains[what]:.2f}** (goal {goal:.2f})"
                 for what, goal in zip(("encode", "decode"), goals)]
        yield f"| `{a['codec']}` | {cells[0]} | {cells[1]} | {gains['memcpy']:.2f} |"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def machine_line(path):
    machine = json.loads(path.read_text())
    note = f" {machine['note']}" if "note" in machine else ""
    commits = ", ".join(f"`{commit}`" for commit in machine["commits"])
    return (f"{machine['cpu']}, {machine['cores']} cores, target {machine['target']}, {machine['compiler']}, "
            f"{'commit' if len(machine['commits']) == 1 else 'commits'} {commits}.{note}\n")


def print_codecs(folder):
    rows = [row for path in sorted(folder.glob("*.jsonl")) for row in lines(path)]

    def pick(values, threads):
        return [r for r in rows if r["values"] == values and r["threads"] == threads]

    print("# Results\n\nMade by `scripts/bench` on machines with nothing else to do. They differ and are noisy: what counts are ratios\ninside one run;"
          " each part says which machine it was measured on. Codecs are compared with copying the same float32\narray, "
          "measured in turns with each codec. The copy is the better of `memcpy` and a plain vector loop, on 64-byte\naligned buffers. "
          "A bold figure misses its goal.\n")
    print(machine_line(folder / "machine.json"))
    print("## One thread, 25 M values (100 MiB): times memcpy\n\n"
          "| codec | bits | encode ns | decode ns | encode x | decode x | accumulate x |\n|---|---:|---:|---:|---:|---:|---:|")
    print(*speed_rows(pick(LARGE, 1)), sep="\n")
    print("\n## One thread, 1 M values (4 MiB, in cache): ns a value\n\n"
          "| codec | encode | decode | accumulate | memcpy |\n|---|---:|---:|---:|---:|")
    print(*cached_rows(pick(CACHED, 1)), sep="\n")
    print("\n## Two threads, 1 M values: times as fast as one\n\nGoal: 1.7. Codecs that may not be cut "
          "(`block=0`, Elias coding) run on one thread whatever the number.\nThe two tables of two threads compare "
          "with one thread measured minutes before: where neighbours of one kind differ, the\n"
          "machine had other work for some seconds.\n\n| codec | encode | decode | memcpy |\n|---|---:|---:|---:|")
    print(*thread_rows(pick(CACHED, 1), pick(CACHED, 2), lambda _, copy: 1.7), sep="\n")
    print("\n## Two threads, 25 M values: times as fast as one\n\nGoal: 0.9 of what the copy gains, and 1.7 for what takes "
          "over 1 ns a value.\n\n| codec | encode | decode | memcpy |\n|---|---:|---:|---:|")
    print(*thread_rows(pick(LARGE, 1), pick(LARGE, 2), lambda ns, copy: 1.7 if ns > SLOW else 0.9 * copy), sep="\n")


def main(folder, program):
    print_codecs(folder / "codecs")
    print_versus_codecs(folder / "versus" / "codecs", machine_line)
    print_collectives(folder / "collectives", machine_line)
    print_training(folder, machine_line)
    print_versus_training(folder / "versus" / "training", machine_line)
    print_ddp(folder / "versus" / "ddp", machine_line)
    print_emulation(folder / "versus" / "emulation", machine_line)
    print_prediction(folder / "prediction", machine_line)
    print_soak(folder)
    print_fuzz(folder)
    print_studies(program, pathlib.Path(__file__).resolve().parent.parent)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
