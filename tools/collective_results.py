"""The part of docs/results.md about all-reduce; tools/results.py calls it."""
import json

SETTINGS = {
    "2x100mbit": ("Two hosts, 100 Mbit/s", 1e8),
    "2x1gbit": ("Two hosts, 1 Gbit/s", 1e9),
    "2x10gbit": ("Two hosts, 10 Gbit/s", 1e10),
    "2xunlimited": ("Two hosts, no limit", None),
    "4x1gbit": ("Four hosts on two cores, 1 Gbit/s", 1e9),
}
# The least speed-up over the fastest peer, by setting and codec.
GOALS = {
    "2x1gbit": {"dynamic8": 3.7, "qsgd:bits=4": 7, "onebit:column=512": 15},
    "2x10gbit": {"dynamic8": 2},
    "4x1gbit": {"dynamic8": 3.5, "qsgd:bits=4": 6},
}
RAW_TCP = 0.95  # of the rate
PEERS = {"openmpi": "Open MPI, fp32", "torch": "torch.distributed (Gloo), fp32"}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def peers(folder, name):
    """What others took, in runs of their own: rows with a time, or with the reason why there is none."""
    found = {}
    for peer, title in PEERS.items():
        path = folder / f"{name}.{peer}.jsonl"
        if path.exists():
            found[title] = lines(path)[0]
    return found


def versions(folder):
    """Of the peers, as far as they were written down."""
    engines = json.loads((folder / "machine.json").read_text()).get("engines", {})
    found = {name: engines[name] for name in ("Gloo", "Open MPI") if name in engines}
    torch = [row["version"] for path in sorted(folder.glob("*.torch.jsonl")) for row in lines(path) if "version" in row]
    return found | {"torch": version for version in torch}


SHM_GOAL = 3  # times Gloo over loopback


def wire_ms(name, row):
    """What the bytes take of the link, at the speed of raw TCP."""
    return row["wire_bytes"] * 8 / (RAW_TCP * SETTINGS[name][1]) * 1e3


def misses(name, row, fastest):
    goal = GOALS.get(name, {}).get(row["codec"])
    return goal is not None and fastest / row["time_us"] < goal


def reason(name, row):
    hosts = " for two hosts" if name.startswith("4x") else ""
    return (f"`{row['codec']}` misses its goal: one core encodes, decodes and runs TCP{hosts}.\nIts bytes need "
            f"{wire_ms(name, row):.1f} ms of wire; encoding and decoding took "
            f"{(row['encode_us'] + row['decode_us']) / 1e3:.1f} ms of that core.\n")


def own_row(name, row, fastest):
    """A line of the table for Gloo or one of our codecs."""
    rate = SETTINGS[name][1]
    speedup = fastest / row["time_us"]
    shown = f"{speedup:.2f}"
    if misses(name, row, fastest):
        shown = f"**{shown}** (goal {GOALS[name][row['codec']]})"
    if rate is None:
        wire = " | "
    else:
        needed = wire_ms(name, row)
        wire = f"{needed:.1f} | {row['time_us'] / 1e3 / needed:.2f}"
    title = "Gloo, fp32" if row["codec"] == "engine" else f"`{row['codec']}`"
    return (f"| {title} | {row['time_us'] / 1e3:.1f} | {shown} | {row['wire_bytes'] / 1e6:.2f} | {wire} | "
            f"{row['encode_us'] / 1e3:.1f} | {row['decode_us'] / 1e3:.1f} | {row['wrong']} |")


def peer_row(title, row, fastest):
    if "time_us" not in row:
        return f"| {title} | {row['missing']} | | | | | | | |"
    return f"| {title} | {row['time_us'] / 1e3:.1f} | {fastest / row['time_us']:.2f} | | | | | | {row['wrong']} |"


def print_setting(folder, name):
    path = folder / f"{name}.jsonl"
    if not path.exists():
        return
    print(f"### {SETTINGS[name][0]}\n")
    checks = (folder / f"{name}.txt").read_text().splitlines()
    print(*(f"- link, {line}" for line in checks if " MB: " in line), sep="\n")
    rows, others = lines(path), peers(folder, name)
    engine = next(row for row in rows if row["codec"] == "engine")
    fastest = min(row["time_us"] for row in [engine, *others.values()] if "time_us" in row)
    print("\n| | ms | times as fast as the fastest peer | MB sent | needs ms | x | encode ms | decode ms | wrong |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    print(*(peer_row(title, row, fastest) for title, row in others.items()), sep="\n", end="\n" if others else "")
    print(*(own_row(name, row, fastest) for row in rows), sep="\n")
    print()
    for row in rows:
        if misses(name, row, fastest):
            print(reason(name, row))


def print_processes(folder):
    shm, loopback = lines(folder / "shm.jsonl"), lines(folder / "loopback.jsonl")[0]
    gain = loopback["time_us"] / shm[0]["time_us"]
    shown = f"{gain:.1f}" if gain >= SHM_GOAL else f"**{gain:.1f}**"
    whole, adding = (shm[0][time] / 1e3 for time in ("time_us", "decode_us"))
    why = (f"\nOf the {whole:.1f} ms over `shm`, {adding:.1f} are for adding what arrived, which no transport shortens."
           if gain < SHM_GOAL else "")
    print(f"### Two processes\n\nfp32 over `shm` is {shown} times as fast as Gloo over loopback (goal {SHM_GOAL}), "
          f"which took {loopback['time_us'] / 1e3:.1f} ms.{why}\n\n| codec over shm | ms |\n|---|---:|")
    print(*(f"| `{row['codec']}` | {row['time_us'] / 1e3:.1f} |" for row in shm), sep="\n")


def print_collectives(folder, machine_line):
    print("\n## All-reduce of 6.5 M floats (26 MB)\n\nMade by `scripts/bench collectives`, which is also `scripts/bench versus "
          "allreduce`: hosts are network namespaces of one\nmachine with rate-limited links (`scripts/hosts`), each rank on a core of "
          "its own, four hosts on two cores. Times are medians\nof 20 (of 5 at 100 Mbit/s), of the slowest rank; Gloo's own all-reduce "
          "is in the same run as ours, the other peers' in runs of\ntheir own on the same link. `needs`: what the bytes take at 0.95 "
          "of the rate, which is raw TCP's speed; `x`: times that. A bold\nfigure misses its goal.\n")
    print(machine_line(folder / "machine.json"))
    if found := versions(folder):
        print(f"Peers: {', '.join(f'{name} {version}' for name, version in found.items())}.\n")
    print("![milliseconds by link, ours and theirs](pictures/versus-allreduce.svg)\n")
    for name in SETTINGS:
        print_setting(folder, name)
    print_processes(folder)
