"""What the comparisons share: operations that take turns, and the file that figures go to."""

import json
import os
import statistics
import time


def in_turns(operations, seconds, rounds):
    """Times of each operation, by name. All take turns, so that a slow moment of the machine meets all; each has its
    turn until it has taken that many seconds or rounds, and at least three times."""
    times = {name: [] for name in operations}
    spent = dict.fromkeys(operations, 0.0)
    for operation in operations.values():
        operation()  # memory is laid out, and caches are as they will be
    for turn in range(rounds):
        left = [name for name in operations if turn < 3 or spent[name] < seconds]
        if not left:
            break
        for name in left:
            begin = time.perf_counter()
            operations[name]()
            times[name].append(time.perf_counter() - begin)
            spent[name] += times[name][-1]
    return times


def summary(times, unit):
    """The best and the median, in that unit: the machine can only add to a time."""
    return {"best": min(times) / unit, "median": statistics.median(times) / unit}


def write(path, found):
    """Whole or not at all."""
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    os.replace(f"{path}.part", path)
