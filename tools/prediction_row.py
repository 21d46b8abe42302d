#!/usr/bin/env python3
"""One line of JSON: a step as it was predicted, beside the median of those that were measured.

    narrowcast train --json - | tools/prediction_row.py LINK NET CODEC RANKS PREDICTED

PREDICTED has what `narrowcast predict --json` or `advise --json` printed; CODEC is "advised" for the latter. The first
steps, in which memory is laid out, do not count.
"""
import json
import pathlib
import statistics
import sys

FIRST = 10

link, net, codec, ranks, predicted = sys.argv[1:]
records = map(json.loads, filter(lambda line: line.startswith("{"), sys.stdin))
steps = [record["step_ms"] for record in records if record["event"] == "step"][FIRST:]
if not steps:
    sys.exit(f"tools/prediction_row.py: {net} in {codec} over {link} has no step {FIRST + 1}")
rows = map(json.loads, pathlib.Path(predicted).read_text().splitlines())
# Advice is one line, and may have chosen any codec.
row = next(row for row in rows if codec in ("advised", row["codec"]))
print(json.dumps({"link": link, "network": net, "codec": codec, "ranks": int(ranks),
                  "chosen": row["codec"], "predicted_ms": round(row["step_ms"], 3),
                  "measured_ms": round(statistics.median(steps), 3)}))
