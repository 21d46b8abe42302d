"""The part of docs/results.md about emulated arithmetic; tools/results.py calls it."""
import json

# What others take, at least or at most so many times ours: by the beginning of a row's name.
AT_LEAST = {"the same arithmetic in numpy": 50, "qtorch": 20}
AT_MOST = {"float32 by numpy": 20}


def goal_of(row, goals):
    return next((goal for name, goal in goals.items() if row["what"].startswith(name)), None)


def cell(row):
    """Others' time as a multiple of ours; for float32, which is faster, the other way round."""
    most = goal_of(row, AT_MOST)
    if most is not None:
        ours = 1 / row["times_ours"]
        return f"1 / {ours:.1f}" if ours <= most else f"**1 / {ours:.1f}** (goal 1 / {most})"
    least = goal_of(row, AT_LEAST)
    shown = f"{row['times_ours']:.3g}"
    return shown if least is None or row["times_ours"] >= least else f"**{shown}** (goal {least})"


def print_emulation(folder, machine_line):
    file = folder / "emulation.json"
    if not file.exists():
        return
    found = json.loads(file.read_text())
    print(f"\n## Emulated arithmetic\n\nMade by `scripts/bench versus emulation`, on one core and one thread: "
          f"matrices of {found['size']} rows and\ncolumns, casts of {found['count']} values. Others are to take 50 times as "
          "long (numpy) and 20 times (qtorch), float32\nat least a twentieth.\n")
    print(machine_line(folder / "machine.json"))
    for name in ("products", "casts"):
        print(f"| {name} | ns a {found[name][0]['unit']} | times ours |\n|---|---:|---:|")
        for row in found[name]:
            print(f"| {row['what']} | {row['ns']:.3g} | {cell(row)} |")
        print()
