#!/usr/bin/env python3
"""The README's picture: how much of a gradient each codec keeps, by the bits it takes.

    build/narrowcast compare --json | tools/picture.py > docs/pictures/codecs.svg
"""
import json
import math
import sys

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 48, 56
MOST_DB = 80
BITS = (1.6, 20)  # the axis, logarithmic

FAMILIES = {  # colour by what the codec does
    "scaled by blocks": ("#2563eb", ("dynamic8", "bnb8", "linear8")),
    "stochastic, unbiased": ("#d97706", ("qsgd", "tern", "natural")),
    "plain floats": ("#059669", ("fp16", "bf16", "e4m3", "e5m2")),
    "OCP MX": ("#7c3aed", ("mxfp", "mxint")),
    "one bit": ("#dc2626", ("onebit",)),
}


def colour(codec):
    return next(c for c, names in FAMILIES.values() if codec.startswith(names))


def x_of(bits):
    low, high = map(math.log2, BITS)
    return LEFT + (math.log2(bits) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def y_of(decibel):
    return TOP + (1 - (max(decibel, -5) + 5) / (MOST_DB + 5)) * (HEIGHT - TOP - BOTTOM)


def text(x, y, words, **style):
    style = {"font-size": 12, "fill": "#334155"} | style
    attributes = " ".join(f'{key}="{value}"' for key, value in style.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{words}</text>'


def line(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#e2e8f0"/>'


def axes():
    for bits in (2, 4, 8, 16):
        yield line(x_of(bits), TOP, x_of(bits), HEIGHT - BOTTOM)
        yield text(x_of(bits), HEIGHT - BOTTOM + 18, bits, **{"text-anchor": "middle"})
    for decibel in range(0, MOST_DB + 1, 20):
        yield line(LEFT, y_of(decibel), WIDTH - RIGHT, y_of(decibel))
        yield text(LEFT - 8, y_of(decibel) + 4, decibel, **{"text-anchor": "end"})
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield text(middle, HEIGHT - 14, "bits a value", **{"text-anchor": "middle"})
    height = (TOP + HEIGHT - BOTTOM) / 2
    turned = {"text-anchor": "middle", "transform": f"rotate(-90 16 {height})"}
    yield text(16, height, "signal to noise, dB", **turned)


def legend():
    x = LEFT
    for name, (shade, _) in FAMILIES.items():
        yield f'<circle cx="{x + 5}" cy="22" r="5" fill="{shade}"/>'
        yield text(x + 15, 26, name)
        x += 30 + 6.6 * len(name)


def labels(rows):
    """Labels beside their points, on the side that has room, and moved down where neither has."""
    placed = []
    for row in sorted(rows, key=lambda r: -r["snr_db"]):
        x, y = x_of(row["bits_per_value"]), y_of(row["snr_db"])
        wide = 7 * len(row["codec"])

        def free(left, at):
            return all(left + wide < begin or left > end or abs(at - line) > 12 for begin, end, line in placed)

        at = y + 4
        sides = (x + 9, x - 9 - wide)
        while not any(free(side, at) for side in sides):
            at += 2
        left = next(side for side in sides if free(side, at))
        placed += [(left, left + wide, at), (x - 6, x + 6, y + 4)]
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour(row["codec"])}"/>'
        anchor = "start" if left > x else "end"
        yield text(left if left > x else x - 9, at, row["codec"], **{"text-anchor": anchor})


def main():
    rows = [json.loads(words) for words in sys.stdin]
    rows = [row for row in rows if row["snr_db"] is not None]
    parts = [*axes(), *legend(), *labels(rows)]
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif">\n<title>Codecs on numbers like a gradient\'s: '
        f"signal to noise by bits a value</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff" rx="6"/>\n' + "\n".join(parts) + "\n</svg>"
    )


if __name__ == "__main__":
    main()
