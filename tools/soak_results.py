"""The part of docs/results.md about training under faults; tools/results.py calls it."""
import json
import statistics

MIB = 1 << 20


def seconds_text(seconds):
    return f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"


def fault_rows(events):
    struck = [event for event in events if event["event"] == "fault"]
    for name in sorted({event["fault"] for event in struck}):
        those = [event for event in struck if event["fault"] == name]
        codes = sorted({event["exit"] for event in those})
        ended = [event["ended_after_s"] for event in those]
        yield (f"| `{name}` | {len(those)} | {', '.join(map(str, codes))} | "
               f"{seconds_text(statistics.median(ended))} | {seconds_text(max(ended))} |")


def growth_rows(events):
    for event in events:
        if event["event"] == "growth":
            yield (f"| {event['transport']} | {event['rank']} | {event['steps']} | {event['last_memory'] / MIB:.1f} | "
                   f"{event['memory_trend'] / MIB:+.2f} | {event['memory_rise'] / MIB:+.2f} | {event['last_descriptors']} | "
                   f"{event['descriptor_growth']:+} | {event['last_threads']} | {event['thread_growth']:+} |")


def print_soak(folder):
    file = folder / "soak.jsonl"
    if not file.exists():
        return
    events = [json.loads(line) for line in file.read_text().splitlines()]
    start, end = events[0], events[-1]
    pauses = sum(count for name, count in end["faults"].items() if name.startswith("pause"))
    print(f"\n## Training under faults\n\nMade by `scripts/soak --minutes {start['minutes']:g} --seed {start['seed']}` ([what it does](soak.md)), "
          f"in {end['at'] / 60:.0f} minutes:\n{sum(end['faults'].values())} faults, among them {pauses} "
          f"pauses and {end['faults'].get('damaged-checkpoint', 0)} damaged checkpoints; {end['legs']} starts; {end['steps']} "
          f"steps, and {end['repeated']} of\nthem again. "
          + ("The weights are those of undisturbed runs over shared memory and over Gloo, bit for bit."
             if end["good"] else f"**It failed: {end['why']}.**"))
    print("\nSeconds are from the fault to the end of the launcher and all its ranks: with `silent-rank` the timeout of 8 s "
          "is in\nthem, with altered messages and a full disk the steps until it is noticed.\n\n"
          "| fault | times | exit code | median s | longest s |\n|---|---:|---|---:|---:|")
    print(*fault_rows(events), sep="\n")
    print("\nUndisturbed, after the first quarter of the steps. `trend`: what memory grows by steadily (goal: under 2 MiB); `rise`: jumps "
          "when more\nmessages than ever are there at once are in it, too (goal: under 16 MiB). Descriptors and threads: none.\n\n"
          "| transport | rank | steps | MiB of memory | trend | rise | descriptors | grown | threads | grown |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    print(*growth_rows(events), sep="\n")
