"""What the records of a study say, through `narrowcast study report`: the statistics are the program's own."""
import csv
import json
import pathlib
import re
import subprocess
import tempfile
import tomllib

MISSING = "not measured yet", "-"  # found, and verdict


class Found:
    """What a study has found so far: its records, and the CSVs of its report."""

    def __init__(self, program, root, name):
        self.name = name
        file = root / "studies" / f"{name}.toml"
        self.cuts = tomllib.loads(file.read_text()).get("cuts", [])
        records = root / "studies" / "records" / f"{name}.jsonl"
        lines = records.read_text().splitlines() if records.exists() else []
        self.records = [json.loads(line) for line in lines]
        self.cell_count, self.tables = report_of(program, records, file) if self.records else (0, {})

    def cells(self, kind, **axes):
        return [record for record in self.records if record["kind"] == kind and record["state"] == "done"
                and all(record["axes"].get(axis) == value for axis, value in axes.items())]

    def rows(self, table, **columns):
        """Of a figure's CSV, those with these values."""
        return [row for row in self.tables.get(table, [])
                if all(row.get(column) == value for column, value in columns.items())]

    def accuracy(self, codecs, **columns):
        """Of each codec, its rows with a difference from fp32, or with seeds that left none."""
        return [row for codec in codecs for row in self.rows("accuracy", codec=codec, **columns)
                if number(row, "difference (points)") is not None or without_error(row)]

    def failed(self):
        return sum(record["state"] == "failed" for record in self.records)


def report_of(program, records, study):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "study", "report", records, "--study", study, "-o", folder],
                              check=True, capture_output=True, text=True)
        tables = {file.stem: list(csv.DictReader(file.read_text().splitlines()))
                  for file in pathlib.Path(folder).glob("*.csv")}
    return int(re.search(r"of (\d+) cells", done.stdout)[1]), tables


def number(row, column):
    """Nothing where there is none."""
    text = row.get(column) or ""
    return float(text) if text else None


def without_error(row):
    """Seeds that failed, or whose error is no number."""
    return sum(int(number(row, column) or 0) for column in ("failed (seeds)", "not a number (seeds)"))


def mean(values):
    return sum(values) / len(values) if values else None


def seeds_text(count):
    return "one seed" if count == 1 else f"{count} seeds"


def interval_text(row, column, unit, digits=2, sign="", count=None):
    """"+0.02 (-0.05 to +0.09, 5 seeds)"."""
    name = column.removesuffix(f" ({unit})")
    low, high = number(row, f"{name} from ({unit})"), number(row, f"{name} to ({unit})")
    text = f"{number(row, column):{sign}.{digits}f}"
    between = [] if low is None else [f"{low:{sign}.{digits}f} to {high:{sign}.{digits}f}"]
    seeds = [] if count is None else [seeds_text(count)]
    return f"{text} ({', '.join(between + seeds)})" if between or seeds else text
