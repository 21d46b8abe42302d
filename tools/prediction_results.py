#!/usr/bin/env python3
"""The generated part of docs/prediction.md, and the scatter of predicted over measured steps.

    tools/prediction_results.py docs/results/prediction docs/prediction.md docs/pictures/prediction.svg

scripts/bench prediction calls it. The part stands between two comments of the page.
"""
import json
import math
import pathlib
import statistics
import sys

BEGIN, END = "<!-- made by scripts/bench prediction -->\n", "<!-- end -->\n"
MEDIAN_GOAL, FAR, FAR_GOAL, ADVICE_GOAL = 0.10, 0.25, 2, 0.05
COLOURS = {"fp32": "#6b6b6b", "dynamic8": "#0072b2", "qsgd:bits=4": "#d55e00", "onebit:column=512": "#009e73", "advised": "#cc79a7"}


def read(folder):
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def error(row):
    return row["predicted_ms"] / row["measured_ms"] - 1


def groups(rows):
    """By link and network: what an advice chooses from."""
    found = {}
    for row in rows:
        found.setdefault((row["link"], row["network"]), []).append(row)
    return found


def regret(group):
    """How much slower than the best measured the advised plan is."""
    advised = next(row for row in group if row["codec"] == "advised")
    return advised["measured_ms"] / min(row["measured_ms"] for row in group) - 1


def verdict(text, good):
    return text if good else f"**{text}**"


def table(rows):
    yield "| link | network | codec | predicted ms | measured ms | off |"
    yield "|---|---|---|---:|---:|---:|"
    for row in rows:
        off = error(row)
        codec = f"`{row['codec']}`" if row["codec"] != "advised" else f"advised: `{row['chosen']}`"
        yield (f"| {row['link']} | {row['network']} | {codec} | {row['predicted_ms']:.1f} | "
               f"{row['measured_ms']:.1f} | {verdict(f'{100 * off:+.0f} %', abs(off) <= FAR)} |")


def summary(rows):
    """Two lines: how far predictions are off, and what advice costs."""
    errors = [abs(error(row)) for row in rows]
    median = statistics.median(errors)
    far = sum(off > FAR for off in errors)
    regrets = {key: regret(group) for key, group in groups(rows).items()}
    worst = max(regrets, key=regrets.get)
    missed = sum(value > ADVICE_GOAL for value in regrets.values())
    return [
        f"{len(rows)} settings: {len(groups(rows))} networks on links, in four codecs and as advised. "
        f"Median error {verdict(f'{100 * median:.1f} %', median <= MEDIAN_GOAL)} (goal 10 %), "
        f"{verdict(str(far), far <= FAR_GOAL)} of them over 25 % (goal: at most 2).",
        f"What was advised was more than 5 % slower than the quickest measured in "
        f"{verdict(str(missed), missed == 0)} of {len(regrets)} (goal: none; worst {100 * regrets[worst]:.1f} %, "
        f"{worst[1]} on {worst[0]}).",
    ]


def off_text(row):
    return f"{100 * error(row):+.0f} %"


def far_lines(rows):
    """Each network and link with a prediction that is far off, beside the rest of them."""
    for (link, network), group in groups(rows).items():
        far = [row for row in group if abs(error(row)) > FAR]
        others = sorted((row for row in group if row not in far), key=error)
        if not far:
            continue
        named = ", ".join(f"`{row['codec']}` {off_text(row)}" for row in far)
        rest = ""
        if others:
            rest = f"; the others of this network and link {off_text(others[0])[:-2]} to {off_text(others[-1])}"
        yield f"- {network} on {link}: {named}{rest}."


def advised_alone(group):
    """What was advised, and the same codec by itself."""
    advised = next(row for row in group if row["codec"] == "advised")
    return advised, next((row for row in group if row["codec"] == advised["chosen"]), None)


def advice_lines(rows):
    for (link, network), group in groups(rows).items():
        if regret(group) <= ADVICE_GOAL:
            continue
        advised, alone = advised_alone(group)
        best = min(group, key=lambda row: row["measured_ms"])
        codec = f"`{advised['chosen']}`"
        parts = []
        if best is not alone:
            parts.append(f"the quickest, `{best['codec']}`, {best['measured_ms']:.1f} ({best['predicted_ms']:.1f})")
        if alone:
            by_itself = f"by itself {alone['measured_ms']:.1f} ({alone['predicted_ms']:.1f})"
            parts.append(f"{codec} {by_itself}" if parts else by_itself)
        took = f"{codec} as advised took {advised['measured_ms']:.1f} ms (predicted {advised['predicted_ms']:.1f})"
        yield f"- {network} on {link}: {took}, {'; '.join(parts)}."


def misses(rows):
    """Every one of them, with what else was predicted and measured there."""
    far, advice = list(far_lines(rows)), list(advice_lines(rows))
    return [*(["Predictions that are over 25 % off:", "", *far, ""] if far else []),
            *(["Advice that was more than 5 % slower than the quickest:", "", *advice, ""] if advice else [])]


def repeated(rows):
    """How well steps repeat: the same prediction, measured as advised and by the codec's own name."""
    apart = {}
    for key, group in groups(rows).items():
        advised, alone = advised_alone(group)
        if alone and alone["predicted_ms"] == advised["predicted_ms"]:
            times = sorted(row["measured_ms"] for row in (advised, alone))
            apart[key] = times[1] / times[0] - 1
    if not apart:
        return []
    worst = max(apart, key=apart.get)
    middle = statistics.median(apart.values())
    return [f"{len(apart)} times what was advised was predicted as its codec by itself. Measured, the two were "
            f"{100 * middle:.1f} % apart in the middle and {100 * apart[worst]:.1f} % at most "
            f"({worst[1]} on {worst[0]})."]


def section(rows):
    lines = [
        *summary(rows),
        "",
        "`2x1gbit`: two hosts with links of 1 Gbit/s (`scripts/hosts`), one core each; four hosts share two cores. "
        "`unlimited` has none.",
        "",
        "![predicted over measured](pictures/prediction.svg)",
        "",
        *table(rows),
        "",
        *misses(rows),
        *repeated(rows),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def print_prediction(folder, machine_line):
    """The part of docs/results.md, which tools/results.py calls for."""
    if not (folder / "machine.json").exists():
        return
    print("\n## Predictions\n\nMade by `scripts/bench prediction`; [the page about it](prediction.md) has every setting.\n")
    print(machine_line(folder / "machine.json"))
    print(*summary(read(folder)), sep="\n")


def scatter(rows):
    """Both axes by powers of ten; the diagonal is a perfect prediction, the dashes are 25 % off."""
    size, edge = 420, 50
    times = [row[key] for row in rows for key in ("predicted_ms", "measured_ms")]
    low, high = math.log10(min(times) / 1.3), math.log10(max(times) * 1.3)

    def at(value):
        return edge + (math.log10(value) - low) / (high - low) * (size - 2 * edge)

    def line(factor, dash):
        ends = 10**low, 10**high
        points = [(at(x), size - at(min(max(x * factor, ends[0]), ends[1]))) for x in ends]
        return (f'<line x1="{points[0][0]:.1f}" y1="{points[0][1]:.1f}" x2="{points[1][0]:.1f}" y2="{points[1][1]:.1f}" '
                f'stroke="#999" {dash}/>')

    dots = (f'<circle cx="{at(row["measured_ms"]):.1f}" cy="{size - at(row["predicted_ms"]):.1f}" r="4" '
            f'fill="{COLOURS.get(row["codec"], "#cc79a7")}" fill-opacity="0.8"><title>{row["link"]} {row["network"]} '
            f'{row["codec"]}: {100 * error(row):+.0f} %</title></circle>' for row in rows)
    marks = []
    for mark in (5, 10, 20, 50, 100, 200, 500, 1000, 2000):
        if low < math.log10(mark) < high:
            marks.append(f'<text x="{at(mark):.1f}" y="{size - edge + 18}" text-anchor="middle">{mark}</text>'
                         f'<text x="{edge - 6}" y="{size - at(mark) + 4:.1f}" text-anchor="end">{mark}</text>')
    keys = (f'<circle cx="{edge + 12}" cy="{edge + 16 * i}" r="4" fill="{colour}"/>'
            f'<text x="{edge + 22}" y="{edge + 4 + 16 * i}">{codec}</text>' for i, (codec, colour) in enumerate(COLOURS.items()))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="11">',
        f'<rect width="{size}" height="{size}" fill="white"/>',
        line(1, ""), line(1.25, 'stroke-dasharray="4"'), line(0.75, 'stroke-dasharray="4"'),
        *marks, *dots, *keys,
        f'<text x="{size / 2}" y="{size - 10}" text-anchor="middle">measured step, ms</text>',
        f'<text x="14" y="{size / 2}" text-anchor="middle" transform="rotate(-90 14 {size / 2})">predicted step, ms</text>',
        "</svg>", ""])


def main():
    folder, page, picture = map(pathlib.Path, sys.argv[1:])
    rows = read(folder)
    text = page.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(before + BEGIN + section(rows) + END + after)
    picture.write_text(scatter(rows))


if __name__ == "__main__":
    main()
