#!/usr/bin/env python3
"""One line of JSON with the median step of a training run, whose records come in.

    narrowcast train --json - | tools/median_step.py NAME

The first steps, in which memory is laid out, do not count.
"""
import json
import statistics
import sys

FIRST = 20
PARTS = ("step_ms", "compute_ms", "encode_ms", "wire_ms", "decode_ms", "wait_ms", "overlap", "wire_bytes")

records = map(json.loads, filter(lambda line: line.startswith("{"), sys.stdin))
steps = [record for record in records if record["event"] == "step"][FIRST:]
if not steps:
    sys.exit(f"tools/median_step.py: {sys.argv[1]} has no step {FIRST + 1}")
print(json.dumps({"name": sys.argv[1], "steps": len(steps)} |
                 {part: round(statistics.median(step[part] for step in steps), 3) for part in PARTS}))
