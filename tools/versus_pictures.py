#!/usr/bin/env python3
"""Charts of the comparisons with peers, as SVG.

    tools/versus_pictures.py docs/results docs/pictures

scripts/bench calls it. Parts that have no figures have no chart. All are dots on an axis by powers of ten: what is twice
as long is as far apart everywhere.
"""
import math
import pathlib
import sys

from collective_results import lines, peers
from picture import line, text
from versus_results import (FORMATS, LARGE, LINKS, TARGETS, best, codec_groups, is_ours, times_to_errors, title,
                            training)

WIDTH, LEFT, RIGHT = 860, 300, 70
ROW, TOP = 20, 64
OURS, THEIRS = "#2563eb", "#94a3b8"
MARKS = [m * 10**e for e in range(-2, 5) for m in (1, 2, 5)]


class Chart:
    """Rows of dots under headings."""

    def __init__(self, heading, axis):
        self.heading, self.axis = heading, axis
        self.rows = []  # (label, colour, [(value, filled)]) or (heading,)

    def group(self, name):
        self.rows.append((name,))

    def row(self, label, colour, dots):
        self.rows.append((label, colour, [dot for dot in dots if dot[0] is not None]))

    def x_of(self, value):
        return LEFT + (math.log10(value) - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)

    def marks(self, height):
        for mark in MARKS:
            if self.low <= math.log10(mark) <= self.high:
                yield line(self.x_of(mark), TOP - 12, self.x_of(mark), height - 40)
                yield text(self.x_of(mark), height - 24, f"{mark:g}", **{"text-anchor": "middle"})
        yield text((LEFT + WIDTH - RIGHT) / 2, height - 8, self.axis, **{"text-anchor": "middle"})

    def dots(self):
        for number, row in enumerate(self.rows):
            y = TOP + ROW * number
            if len(row) == 1:
                yield text(12, y + 4, row[0], **{"font-weight": "bold"})
                continue
            label, colour, dots = row
            yield text(LEFT - 12, y + 4, label, **{"text-anchor": "end"})
            for value, filled in dots:
                fill = colour if filled else "#ffffff"
                yield f'<circle cx="{self.x_of(value):.1f}" cy="{y}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
            value = max(dot[0] for dot in dots)
            yield text(self.x_of(value) + 10, y + 4, f"{value:.3g}", **{"font-size": 11})

    def svg(self):
        values = [dot[0] for row in self.rows if len(row) == 3 for dot in row[2]]
        self.low, self.high = math.log10(min(values) / 1.15), math.log10(max(values) * 1.15)
        height = TOP + ROW * len(self.rows) + 44
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif">',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff" rx="6"/>',
            text(12, 26, self.heading, **{"font-size": 14}), *self.marks(height), *self.dots(), "</svg>", ""])


def codecs(folder):
    chart = Chart("25 M values, one thread: encode (full) and decode (hollow); blue is narrowcast", "ns a value")
    groups, copies = codec_groups(folder)
    chart.group("copy")
    chart.row("memcpy", THEIRS, [(copies[LARGE], True)])
    for beside, by_who in groups.items():
        if len(by_who) == 1:
            continue  # nobody else has it
        chart.group(FORMATS[beside])
        for who, rows in by_who.items():
            dots = [(best(rows[LARGE], "encode"), True), (best(rows[LARGE], "decode"), False)]
            chart.row(who, OURS if who == "narrowcast" else THEIRS, dots)
    return chart


def sums(folder):
    chart = Chart("All-reduce of 6.5 M floats between two hosts; blue is narrowcast", "ms")
    for rate, name in LINKS.items():
        path = folder / f"2x{rate}.jsonl"
        if not path.exists():
            continue
        chart.group(name)
        for label, row in peers(folder, f"2x{rate}").items():
            if "time_us" in row:
                chart.row(label, THEIRS, [(row["time_us"] / 1e3, True)])
        for row in lines(path):
            gloo = row["codec"] == "engine"
            chart.row("Gloo, fp32" if gloo else row["codec"], THEIRS if gloo else OURS, [(row["time_us"] / 1e3, True)])
    return chart


def times(folder):
    chart = Chart("Seconds of training until the test error is reached; blue is narrowcast", "s")
    group = None
    for net, rate, way, seconds in times_to_errors(*training(folder)):
        if group != (net, rate):
            group = net, rate
            chart.group(f"{net}, {TARGETS[net]} %, {LINKS[rate]}")
        chart.row(title(way).replace("`", ""), OURS if is_ours(way) else THEIRS, [(seconds, True)])
    return chart


CHARTS = {"versus-codecs": (codecs, "versus/codecs"), "versus-allreduce": (sums, "collectives"),
          "versus-training": (times, "versus/training")}


def main(results, pictures):
    for name, (draw, folder) in CHARTS.items():
        place = pathlib.Path(results) / folder
        if not place.exists():
            continue
        chart = draw(place)
        if any(len(row) == 3 for row in chart.rows):
            (pathlib.Path(pictures) / f"{name}.svg").write_text(chart.svg())


if __name__ == "__main__":
    main(*sys.argv[1:])
