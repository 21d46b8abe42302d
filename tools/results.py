#!/usr/bin/env python3
"""docs/results.md from what `narrowcast bench` measured; scripts/bench calls it.

    tools/results.py docs/results PROGRAM > docs/results.md

The folder has codec.jsonl, collectives/*.jsonl and training/*.jsonl, each with what `narrowcast doctor
--json` printed in the same run. PROGRAM is narrowcast, which knows what the records in studies/ say.
"""
import json
import pathlib
import sys

from ddp_results import print_ddp
from study_results import print_studies
from training_results import print_training

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


def cell(ratio, goal):
    if goal is None:
        return f"{ratio:.2f}"
    return f"{ratio:.2f}" if ratio <= goal else f"**{ratio:.2f}** (goal {goal})"


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
        cells = [f"{gains[what]:.2f}" if gains[what] >= goal else f"**{gains[what]:.2f}** (goal {goal:.2f})"
                 for what, goal in zip(("encode", "decode"), goals)]
        yield f"| `{a['codec']}` | {cells[0]} | {cells[1]} | {gains['memcpy']:.2f} |"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def machine_line(path):
    machine = json.loads(path.read_text())
    return (f"{machine['cpu']}, {machine['cores']} cores, target {machine['target']}, {machine['compiler']}, "
            f"commit `{machine['commit']}`.\n")


# The least speed-up over the engine, by setting and codec; and how much longer than its bytes need.
SPEEDUP_GOALS = {
    "2x1gbit": {"dynamic8": 3.7, "qsgd:bits=4": 7, "onebit:column=512": 15},
    "2x10gbit": {"dynamic8": 2},
    "4x1gbit": {"dynamic8": 3.5, "qsgd:bits=4": 6},
}
BIT_RATES = {"2x1gbit": 1e9, "2x10gbit": 10e9, "4x1gbit": 1e9}
RAW_TCP = 0.95  # of the rate


def collective_rows(name, rows, engine):
    for row in rows:
        needed = row["wire_bytes"] * 8 / (RAW_TCP * BIT_RATES[name]) * 1e6
        speedup = engine / row["time_us"]
        goal = SPEEDUP_GOALS[name].get(row["codec"])
        shown = f"{speedup:.2f}" if goal is None or speedup >= goal else f"**{speedup:.2f}** (goal {goal})"
        yield (f"| `{row['codec']}` | {row['time_us'] / 1e3:.1f} | {shown} | {row['wire_bytes'] / 1e6:.2f} | "
               f"{needed / 1e3:.1f} | {row['time_us'] / needed:.2f} | {row['encode_us'] / 1e3:.1f} | "
               f"{row['decode_us'] / 1e3:.1f} | {row['wrong']} |")


def print_collectives(folder):
    print("\n## All-reduce of 6.5 M floats (26 MB)\n\nMade by `scripts/bench collectives`: hosts are network namespaces "
          "of one machine with rate-limited links\n(`scripts/hosts`), each rank on a core of its own, four hosts on two "
          "cores. Times are medians of 20, of the slowest\nrank; `engine` is Gloo's own fp32 all-reduce in the same run. "
          "`needs`: what the bytes take at 0.95 of the rate, which\nis raw TCP's speed; `x`: times that. A bold figure "
          "misses its goal.\n\nWhat misses its goal does so because cores, not wires, are the limit here: with `qsgd:bits=4` a "
          "rank was busy for 36 of\n40 ms (22 in our code, 14 in the kernel's TCP at 2 ns a byte), with `onebit:column=512` for "
          "14 of 15. At 10 Gbit/s encoding\nand decoding `dynamic8` alone takes 17 ms, as over `shm`. Four hosts share the two "
          "cores.\n")
    print(machine_line(folder / "machine.json"))
    for name, title in (("2x1gbit", "Two hosts, 1 Gbit/s"), ("2x10gbit", "Two hosts, 10 Gbit/s"),
                        ("4x1gbit", "Four hosts on two cores, 1 Gbit/s")):
        print(f"### {title}\n")
        checks = (folder / f"{name}.txt").read_text().splitlines()
        print(*(f"- link, {line}" for line in checks if " MB: " in line), sep="\n")
        rows = lines(folder / f"{name}.jsonl")
        engine = next(row for row in rows if row["codec"] == "engine")["time_us"]
        mpi = folder / f"{name}.openmpi.jsonl"
        if mpi.exists():
            other = lines(mpi)[0]["time_us"]
            print(f"- Open MPI's own fp32 all-reduce, in a run of its own: {other / 1e3:.1f} ms")
            engine = min(engine, other)
        print("\n| codec | ms | times as fast as the faster engine | MB sent | needs ms | x | encode ms | decode ms | wrong |\n"
              "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        print(*collective_rows(name, rows, engine), sep="\n")
        print()
    shm, loopback = lines(folder / "shm.jsonl"), lines(folder / "loopback.jsonl")[0]
    gain = loopback["time_us"] / shm[0]["time_us"]
    shown = f"{gain:.1f}" if gain >= 3 else f"**{gain:.1f}**"
    print(f"### Two processes\n\nfp32 over `shm` is {shown} times as fast as Gloo over loopback (goal 3), which took "
          f"{loopback['time_us'] / 1e3:.1f} ms.\n\n| codec over shm | ms |\n|---|---:|")
    print(*(f"| `{row['codec']}` | {row['time_us'] / 1e3:.1f} |" for row in shm), sep="\n")


def print_codecs(folder):
    rows = lines(folder / "codec.jsonl")

    def pick(values, threads):
        return [r for r in rows if r["values"] == values and r["threads"] == threads]

    print("# Results\n\nMade by `scripts/bench`, on a machine with nothing else to do. Machines differ and are noisy: what "
          "counts are ratios\ninside one run. Codecs are compared with copying the same float32 array, measured in turns "
          "with each codec. The copy is\nthe better of `memcpy` and a plain vector loop, on 64-byte aligned buffers. A "
          "bold figure misses its goal.\n")
    print(machine_line(folder / "codec-machine.json"))
    print("## One thread, 25 M values (100 MiB): times memcpy\n\n"
          "| codec | bits | encode ns | decode ns | encode x | decode x | accumulate x |\n|---|---:|---:|---:|---:|---:|---:|")
    print(*speed_rows(pick(LARGE, 1)), sep="\n")
    print("\n## One thread, 1 M values (4 MiB, in cache): ns a value\n\n"
          "| codec | encode | decode | accumulate | memcpy |\n|---|---:|---:|---:|---:|")
    print(*cached_rows(pick(CACHED, 1)), sep="\n")
    print("\n## Two threads, 1 M values: times as fast as one\n\nGoal: 1.7. Codecs that may not be cut "
          "(`block=0`, Elias coding) run on one thread whatever the number.\nThe two tables of two threads compare "
          "with one thread measured minutes before: where neighbours of one kind differ\n(2.0 here, 1.5 there), the "
          "machine had other work for some seconds.\n\n| codec | encode | decode | memcpy |\n|---|---:|---:|---:|")
    print(*thread_rows(pick(CACHED, 1), pick(CACHED, 2), lambda _, copy: 1.7), sep="\n")
    print("\n## Two threads, 25 M values: times as fast as one\n\nGoal: 0.9 of what the copy gains, and 1.7 for what takes "
          "over 1 ns a value.\n\n| codec | encode | decode | memcpy |\n|---|---:|---:|---:|")
    print(*thread_rows(pick(LARGE, 1), pick(LARGE, 2), lambda ns, copy: 1.7 if ns > SLOW else 0.9 * copy), sep="\n")


if __name__ == "__main__":
    print_codecs(pathlib.Path(sys.argv[1]))
    print_collectives(pathlib.Path(sys.argv[1]) / "collectives")
    print_training(pathlib.Path(sys.argv[1]) / "training", machine_line)
    print_ddp(pathlib.Path(sys.argv[1]))
    print_studies(sys.argv[2], pathlib.Path(__file__).resolve().parent.parent)
