"""The part of docs/results.md about DistributedDataParallel; tools/results.py calls it."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench" / "versus"))
from ddp import GOALS, HOOKS  # noqa: E402


def step(ways, name):
    return min(ways[hook]["ms"] for hook in HOOKS) if name == "best hook" else ways[name]["ms"]


def gain_of(ways, way, other):
    return step(ways, other) / step(ways, way)


def goal_text(ways, goal):
    way, other, least = goal
    gain = gain_of(ways, way, other)
    shown = f"{gain:.2f}" if gain >= least else f"**{gain:.2f}**"
    return f"`{way}` is {shown} times as fast as {other} (goal {least})"


WHY_MISSED = """What misses does so because a host has one core: computing, encoding, decoding and TCP do not hide
behind each other, and hooks of 16 bits have less to do. [Where the time of a step goes](ddp.md#speed).
"""
LINKS = ("100mbit", "1gbit", "10gbit", "unlimited")


def print_ddp(folder, machine_line):
    if not folder.exists():
        return
    print("\n## PyTorch's DistributedDataParallel\n\nMade by `scripts/bench versus ddp`: D16's network, "
          "two hosts of one core, 128 images each,\nall ways in one process in turns, torch from PyPI; medians of single "
          "steps and their quartiles.\n")
    print(machine_line(folder / "machine.json"))
    for rate in LINKS:
        ways = json.loads((folder / f"{rate}.json").read_text())[rate]
        print(f"### {rate}\n\n| way | ms a step | quartiles | of fp32 | of best hook |\n|---|---:|---|---:|---:|")
        for way, found in ways.items():
            gains = " | ".join(f"{step(ways, other) / found['ms']:.2f}" for other in ("fp32", "best hook"))
            print(f"| {way} | {found['ms']:.1f} | {found['from']:.1f} to {found['to']:.1f} | {gains} |")
        wanted = GOALS.get(rate, [])
        goals = [goal_text(ways, goal) for goal in wanted]
        print("\n" + "; ".join(goals) + ".\n" if goals else "")
        if any(gain_of(ways, way, other) < least for way, other, least in wanted):
            print(WHY_MISSED)
