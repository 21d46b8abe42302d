"""Pages and pictures that are made from figures say what the figures say.

    made_test.py PROGRAM
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from pages import ROOT

PROGRAM = sys.argv.pop(1)
DOCS, TOOLS = ROOT / "docs", ROOT / "tools"

LINKS = {"100 Mbit/s": "2x100mbit", "1 Gbit/s": "2x1gbit", "10 Gbit/s": "2x10gbit"}
LARGE, CACHED = 25 << 20, 1 << 20


def records(pattern):
    """Of the files in docs/results that are called so."""
    files = sorted((DOCS / "results").glob(pattern))
    return [json.loads(line) for file in files for line in file.read_text().splitlines() if line.startswith("{")]


def codec_rows(values):
    """Of one thread, by codec."""
    return {row["codec"]: row for row in records("codecs/*.jsonl") if (row["values"], row["threads"]) == (values, 1)}


def speed_table():
    """What README's table of codecs would say of every codec."""
    for codec, row in codec_rows(LARGE).items():
        ratios = [f"{row[f'{what}_ns'] / row['memcpy_ns']:.2f}" for what in ("encode", "decode", "accumulate")]
        yield f"`{codec}`", [f"{row['bits_per_value']:.2f}".removesuffix(".00"), *ratios]


def fastest_peer(setting):
    peers = records(f"collectives/{setting}.*.jsonl")
    engine = next(row for row in records(f"collectives/{setting}.jsonl") if row["codec"] == "engine")
    return min(row["time_us"] for row in [engine, *peers] if "time_us" in row)


def gain_table():
    """What README's table of all-reduce would say of every link."""
    for link, setting in LINKS.items():
        rows = {row["codec"]: row["time_us"] for row in records(f"collectives/{setting}.jsonl")}
        yield link, [f"{fastest_peer(setting) / rows[codec]:.1f}"
                     for codec in ("dynamic8", "qsgd:bits=4", "onebit:column=512")]


def sentence_figures():
    """What the sentences around the tables say."""
    cached = codec_rows(CACHED)["dynamic8"]
    fp32, gloo = records("collectives/shm.jsonl")[0], records("collectives/loopback.jsonl")[0]
    return [f"In cache `dynamic8` takes {cached['encode_ns']:.2f} ns a value to encode and "
            f"{cached['decode_ns']:.2f} to decode.",
            "fp32 over shared memory between two processes is "
            f"{gloo['time_us'] / fp32['time_us']:.1f} times as fast as Gloo over loopback."]


def table_rows(text, heading):
    """The rows below the line that begins with that, by their first cell."""
    table = text[text.index(f"\n{heading}"):].strip().split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def made(tool, *words):
    """What it prints."""
    return subprocess.run([sys.executable, TOOLS / tool, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


class MadePages(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def same(self, name, text):
        """Which lines differ tells more than that something does."""
        self.assertEqual((DOCS / name).read_text().splitlines(), text.splitlines(), f"docs/{name} is not made anew")

    def test_results_are_those_of_the_figures_and_records(self):
        self.same("results.md", made("results.py", DOCS / "results", PROGRAM))

    def test_predictions_are_those_of_the_figures(self):
        page, picture = self.folder / "prediction.md", self.folder / "prediction.svg"
        shutil.copy(DOCS / "prediction.md", page)
        made("prediction_results.py", DOCS / "results" / "prediction", page, picture)
        self.same("prediction.md", page.read_text())
        self.same("pictures/prediction.svg", picture.read_text())

    def test_pictures_of_peers_are_those_of_the_figures(self):
        made("versus_pictures.py", DOCS / "results", self.folder)
        self.assertEqual({path.name for path in (DOCS / "pictures").glob("versus-*")},
                         {path.name for path in self.folder.iterdir()})
        for picture in self.folder.iterdir():
            self.same(f"pictures/{picture.name}", picture.read_text())


class Readme(unittest.TestCase):
    """Its figures are copied by hand."""

    def setUp(self):
        text = (ROOT / "README.md").read_text()
        self.text = text[text.index("\n## How fast"):text.index("\n## What you can count on")]

    def test_figures_of_codecs_are_those_that_were_measured(self):
        shown, measured = table_rows(self.text, "| codec |"), dict(speed_table())
        self.assertTrue(shown)
        self.assertEqual(shown, {codec: measured.get(codec) for codec in shown})

    def test_figures_of_sums_are_those_that_were_measured(self):
        self.assertEqual(table_rows(self.text, "| link |"), dict(gain_table()))

    def test_figures_in_sentences_are_those_that_were_measured(self):
        text = re.sub(r"\s+", " ", self.text)
        for sentence in sentence_figures():
            self.assertIn(sentence, text)


if __name__ == "__main__":
    unittest.main()
