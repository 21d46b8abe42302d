#!/usr/bin/env python3
"""Pictures of the charts of a report, as PNG.

    tools/page_pictures.py report.html OUT_PREFIX FIGURE...

Writes OUT_PREFIX-FIGURE.png for each figure that the page has, by a browser without a window (Debian's chromium).
"""
import base64
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "browser"))

from browser import Browser  # noqa: E402

WIDTH, HEIGHT = 960, 800

# Charts are drawn when they come into view; two frames later they are there.
SHOW = """(async () => {
  const figure = document.getElementById("figure-" + %s);
  if (!figure) return null;
  for (let part = figure; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  figure.scrollIntoView();
  await new Promise(done => setTimeout(done, 400));
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const canvas = figure.querySelector("canvas");
  if (!canvas) return null;
  const box = figure.getBoundingClientRect();
  return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height};
})()"""


def main(page, prefix, figures):
    browser = Browser()
    try:
        browser.resize(WIDTH, HEIGHT)
        browser.prefer("light")
        browser.open(pathlib.Path(page).resolve().as_uri())
        for figure in figures:
            box = browser.evaluate(SHOW % json.dumps(figure))
            if not box:
                print(f"{page} has no chart {figure}", file=sys.stderr)
                continue
            picture = browser.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=box | {"scale": 1})
            pathlib.Path(f"{prefix}-{figure}.png").write_bytes(base64.b64decode(picture["data"]))
    finally:
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
