"""What docs/results says in numbers that may be compared with another run's: ratios, each with its noise.

A figure is a ratio inside one run, the less the better, with the part by which it may differ from run to run on the same
machine: from the spread that the run recorded where it did, and at least what its part is known to vary by.
"""
import json
import statistics
from typing import NamedTuple


class Unreadable(Exception):
    """Files that are not as scripts/bench leaves them."""


class Figure(NamedTuple):
    ratio: float
    noise: float


class Part(NamedTuple):
    machine: str
    figures: dict


# The best of many short repetitions; steps of training and sums over links, which other processes disturb more.
CODEC_NOISE, LINK_NOISE = 0.10, 0.08


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def codecs(folder):
    """Times a copy of the same array."""
    for path in sorted(folder.glob("*.jsonl")):
        for row in records(path):
            for what in ("encode", "decode", "accumulate"):
                name = f"{row['codec']}, {what}, {row['values']} values, threads {row['threads']}"
                yield name, Figure(row[f"{what}_ns"] / row["memcpy_ns"], CODEC_NOISE)


def collectives(folder):
    """Times the engine's own sum in the same run."""
    for path in sorted(folder.glob("[0-9]x*[a-z].jsonl")):
        if path.name.endswith((".openmpi.jsonl", ".torch.jsonl")):
            continue
        rows = records(path)
        engine = next(row for row in rows if row["codec"] == "engine")
        for row in rows:
            if row is not engine:
                spread = row["time_us"] / row["least_us"] - 1 + engine["time_us"] / engine["least_us"] - 1
                yield f"{row['codec']}, {path.stem}", Figure(row["time_us"] / engine["time_us"], max(LINK_NOISE, spread))


def speed(folder):
    """Times a step without communication."""
    rows = {}
    for path in sorted(folder.glob("*.jsonl")):
        for row in records(path):
            rows.setdefault(row["name"], []).append(row["step_ms"])
    for name, times in rows.items():
        reference = "plain libtorch" if name == "plain ours" else f"{name.split(' ')[0]} alone"
        if name == reference or name == "plain libtorch":
            continue
        spread = sum((max(each) - min(each)) / statistics.median(each) for each in (times, rows[reference]))
        yield name, Figure(statistics.median(times) / statistics.median(rows[reference]), max(LINK_NOISE, spread))


def quartile_spread(way):
    return (way["to"] - way["from"]) / way["ms"]


def steps(folder):
    """Training beside the peers: times a step of DistributedDataParallel in fp32 on the same link."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "machine.json" or ".errors." in path.name:
            continue
        net, rate = path.name.split(".")[:2]
        found.setdefault((net, rate), {}).update(json.loads(path.read_text()).get("ways", {}))
    for (net, rate), ways in found.items():
        fp32 = ways.get("fp32")
        for name, way in ways.items():
            if fp32 and way is not fp32:
                spread = quartile_spread(way) + quartile_spread(fp32)
                yield f"{name}, {net}, {rate}", Figure(way["ms"] / fp32["ms"], max(LINK_NOISE, spread))


def ddp(folder):
    """Times a step in fp32 of the same process."""
    for path in sorted(folder.glob("*.json")):
        if path.name == "machine.json":
            continue
        for rate, ways in json.loads(path.read_text()).items():
            fp32 = ways["fp32"]
            for name, way in ways.items():
                if way is not fp32:
                    spread = quartile_spread(way) + quartile_spread(fp32)
                    yield f"{name}, {rate}", Figure(way["ms"] / fp32["ms"], max(LINK_NOISE, spread))


def emulation(folder):
    """Ours beside what has no emulation in it: a product of float32 by BLAS, a copy."""
    found = json.loads((folder / "emulation.json").read_text())
    for table in ("products", "casts"):
        ours = [row for row in found[table] if row["what"].startswith(("narrowcast", "cpd"))]
        plain = next(row for row in found[table] if row["what"].startswith(("float32", "memcpy")))
        for row in ours:
            yield row["what"], Figure(row["ns"] / plain["ns"], CODEC_NOISE)


def versus_codecs(folder):
    """Our codecs beside a copy in the same process; what becomes of the peers is theirs."""
    rows = json.loads((folder / "codecs.json").read_text())["rows"]
    copies = {row["values"]: row["encode"] for row in rows if row["who"] == "memcpy"}
    for row in rows:
        if row["who"] != "narrowcast":
            continue
        for what in ("encode", "decode"):
            if what in row:
                yield (f"{row['what']}, {what}, {row['values']} values",
                       Figure(row[what]["best"] / copies[row["values"]]["best"], CODEC_NOISE))


def prediction(folder):
    """How far predictions are off in the middle, by link, as 1 + that: 1.1 is a tenth."""
    for path in sorted(folder.glob("*.jsonl")):
        off = [abs(row["predicted_ms"] / row["measured_ms"] - 1) for row in records(path)]
        yield f"median error, {path.stem}", Figure(1 + statistics.median(off), LINK_NOISE)


PARTS = {
    "codecs": codecs,
    "collectives": collectives,
    "speed": speed,
    "prediction": prediction,
    "versus/codecs": versus_codecs,
    "versus/ddp": ddp,
    "versus/emulation": emulation,
    "versus/training": steps,
}


def read(folder):
    """The parts that are there, by name."""
    found = {}
    for name, figures in PARTS.items():
        machine = folder / name / "machine.json"
        if not machine.exists():
            continue
        try:
            found[name] = Part(json.loads(machine.read_text())["cpu"], dict(figures(folder / name)))
        except (KeyError, TypeError, ValueError, OSError, ZeroDivisionError, StopIteration) as error:
            raise Unreadable(f"{folder / name} has no figures as they should be: {error!r}") from error
    return found
