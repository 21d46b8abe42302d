"""Pages and pictures that are made from figures say what the figures say.

    made_test.py PROGRAM
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from pages import ROOT

PROGRAM = sys.argv.pop(1)
DOCS, TOOLS = ROOT / "docs", ROOT / "tools"


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


if __name__ == "__main__":
    unittest.main()
