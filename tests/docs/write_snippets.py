"""Writes what stands in the fences of a page to files, for a compiler.

    write_snippets.py PAGE LANGUAGE FOLDER

The first fence of that language goes to FOLDER/LANGUAGE_1, and so on.
"""

import pathlib
import sys

from pages import fences

page, language, folder = sys.argv[1:]
for number, text in enumerate(fences(pathlib.Path(page), language), 1):
    pathlib.Path(folder, f"{language}_{number}").write_text(text)
