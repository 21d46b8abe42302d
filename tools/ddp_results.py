"""The part of docs/results.md about DistributedDataParallel; tools/results.py calls it."""
import json

GOALS = {
    "1gbit": [("dynamic8", "fp32", 1.8), ("dynamic8", "best hook", 1.2), ("qsgd:bits=4", "fp32", 2.0)],
    "unlimited": [("auto", "fp32", 0.95)],
}
HOOKS = ("fp16 hook", "bf16 hook")


def step(ways, name):
    return min(ways[hook]["ms"] for hook in HOOKS) if name == "best hook" else ways[name]["ms"]


def goal_text(ways, goal):
    way, other, least = goal
    gain = step(ways, other) / step(ways, way)
    shown = f"{gain:.2f}" if gain >= least else f"**{gain:.2f}**"
    return f"`{way}` is {shown} times as fast as {other} (goal {least})"


def print_ddp(folder):
    file = folder / "ddp.json"
    if not file.exists():
        return
    print("\n## PyTorch's DistributedDataParallel\n\nMade by `bench/versus/ddp.py --json docs/results/ddp.json`: D16's network, "
          "two hosts of one core, 128 images each,\nall ways in one process in turns, torch from PyPI; medians of single "
          "steps and their quartiles.\n")
    for rate, ways in json.loads(file.read_text()).items():
        print(f"### {rate}\n\n| way | ms a step | quartiles |\n|---|---:|---|")
        for way, found in ways.items():
            print(f"| {way} | {found['ms']:.1f} | {found['from']:.1f} to {found['to']:.1f} |")
        print("\n" + "; ".join(goal_text(ways, goal) for goal in GOALS.get(rate, [])) + ".\n")
