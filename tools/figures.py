"""What docs/results says in numbers that may be compared with another run's: ratios of ours, each with its error.

A figure is a ratio inside one run, the less the better, with the standard error of that ratio as far as the run has
recorded spreads, and the least change between two runs that means anything. What becomes of peers is theirs: they are
what ours is divided by, and have no rows.
"""
import json
import math
import statistics
from typing import NamedTuple

from ddp_results import HOOKS
from training_results import ERROR_GOAL, ONE_SEED, last_error
from versus_results import is_ours


class Unreadable(Exception):
    """Files that are not as scripts/bench leaves them."""


class Figure(NamedTuple):
    ratio: float
    least: float
    error: float = 0.0


class Part(NamedTuple):
    machine: str
    figures: dict


# The best of many short repetitions has no error on record. Copies of the same array, beside which codecs are measured,
# differ within one run by a tenth between their quartiles; two runs have a fifth.
BEST = 0.20
# Medians whose ways took turns in one process, and of processes that ran one after the other, which differ by a tenth
# whatever they do.
IN_TURNS, APART = 0.08, 0.20
PREDICTED = 0.10
# What the page wants of accuracy, 0.1 points for means and 0.3 for one seed, as parts of an error of 1.5 %.
MEAN_ERROR, ONE_ERROR = 0.07, 0.20


def median_error(spread, count):
    """The standard error of a median, as a part of it, from the quartiles' distance: 1.25 deviations / sqrt(count), and
    1.35 deviations lie between the quartiles."""
    return 0.93 * spread / math.sqrt(count)


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def codecs(folder):
    """Times a copy of the same array."""
    for path in sorted(folder.glob("*.jsonl")):
        for row in records(path):
            for what in ("encode", "decode", "accumulate"):
                name = f"{row['codec']}, {what}, {row['values']} values, threads {row['threads']}"
                yield name, Figure(row[f"{what}_ns"] / row["memcpy_ns"], BEST)


def sum_error(row):
    """Sums have no quartiles on record. From the least of 20 to the median it is farther than between the quartiles, of
    5 a little less."""
    return median_error(1 - row["least_us"] / row["time_us"], row["iterations"])


def sum_figure(row, other, least):
    return Figure(row["time_us"] / other["time_us"], least, math.hypot(sum_error(row), sum_error(other)))


def processes(folder):
    """Codecs over shared memory times fp32 over it, which is times Gloo over loopback in a run of its own."""
    if not (folder / "shm.jsonl").exists():
        return
    rows = records(folder / "shm.jsonl")
    fp32 = next(row for row in rows if row["codec"] == "fp32")
    for row in rows:
        if row is not fp32:
            yield f"{row['codec']}, shm", sum_figure(row, fp32, IN_TURNS)
    if (folder / "loopback.jsonl").exists():
        yield "fp32 over shm, of Gloo over loopback", sum_figure(fp32, records(folder / "loopback.jsonl")[0], APART)


def collectives(folder):
    """Times the engine's own sum in the same run."""
    yield from processes(folder)
    for path in sorted(folder.glob("[0-9]x*[a-z].jsonl")):
        if path.name.endswith((".openmpi.jsonl", ".torch.jsonl")):
            continue
        rows = records(path)
        engine = next(row for row in rows if row["codec"] == "engine")
        for row in rows:
            if row is not engine:
                yield f"{row['codec']}, {path.stem}", sum_figure(row, engine, IN_TURNS)


def last_errors(folder, name):
    """By seed."""
    return [last_error(path) for path in sorted(folder.glob(f"{name}-[0-9].jsonl"))]


def mean_error(errors):
    """The standard error of their mean, as a part of it."""
    return statistics.stdev(errors) / math.sqrt(len(errors)) / statistics.mean(errors)


def accuracy(folder):
    """Test errors times those of fp32 with the same seeds; of fp32 itself times its goal. Codecs without a goal show
    what goes wrong with them, and have no rows."""
    for parallel in ("data", "model"):
        fp32 = last_errors(folder, f"{parallel}-fp32")
        if not fp32:
            continue
        yield f"fp32, {parallel}, of the goal", Figure(statistics.mean(fp32) / ERROR_GOAL, MEAN_ERROR, mean_error(fp32))
        for codec in ("dynamic8", "linear8"):
            if errors := last_errors(folder, f"{parallel}-{codec}"):
                yield (f"{codec}, {parallel}", Figure(statistics.mean(errors) / statistics.mean(fp32), MEAN_ERROR,
                                                      math.hypot(mean_error(errors), mean_error(fp32))))
    for name, title, goal in ONE_SEED:
        if goal is not None and (folder / f"{name}.jsonl").exists():
            ratio = last_error(folder / f"{name}.jsonl") / last_error(folder / "data-fp32-1.jsonl")
            yield f"{title.replace('`', '')}, one seed", Figure(ratio, ONE_ERROR)


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
        # Turn by turn: the machine has slow minutes, which both had.
        ratios = [mine / other for mine, other in zip(times, rows[reference], strict=True)]
        ratio = statistics.median(ratios)
        yield name, Figure(ratio, IN_TURNS, median_error((max(ratios) - min(ratios)) / ratio, len(ratios)))


def step_error(way):
    return median_error((way["to"] - way["from"]) / way["ms"], way["steps"])


def step_figure(way, fp32, least):
    return Figure(way["ms"] / fp32["ms"], least, math.hypot(step_error(way), step_error(fp32)))


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
            if fp32 and is_ours(name):
                least = APART if name.startswith("train ") else IN_TURNS
                yield f"{name}, {net}, {rate}", step_figure(way, fp32, least)


def ddp(folder):
    """Times a step in fp32 of the same process."""
    for path in sorted(folder.glob("*.json")):
        if path.name == "machine.json":
            continue
        for rate, ways in json.loads(path.read_text()).items():
            for name, way in ways.items():
                if name not in ("fp32", *HOOKS):
                    yield f"{name}, {rate}", step_figure(way, ways["fp32"], IN_TURNS)


def emulation(folder):
    """Ours beside what has no emulation in it: a product of float32 by BLAS, a copy."""
    found = json.loads((folder / "emulation.json").read_text())
    for table in ("products", "casts"):
        ours = [row for row in found[table] if row["what"].startswith(("narrowcast", "cpd", "the same with Kahan"))]
        plain = next(row for row in found[table] if row["what"].startswith(("float32", "memcpy")))
        for row in ours:
            yield row["what"], Figure(row["ns"] / plain["ns"], BEST)


def versus_codecs(folder):
    """Our codecs beside a copy in the same process."""
    rows = json.loads((folder / "codecs.json").read_text())["rows"]
    copies = {row["values"]: row["encode"] for row in rows if row["who"] == "memcpy"}
    for row in rows:
        if row["who"] != "narrowcast":
            continue
        for what in ("encode", "decode"):
            if what in row:
                yield (f"{row['what']}, {what}, {row['values']} values",
                       Figure(row[what]["best"] / copies[row["values"]]["best"], BEST))


def prediction(folder):
    """How far predictions are off in the middle, by link, as 1 + that: 1.1 is a tenth."""
    for path in sorted(folder.glob("*.jsonl")):
        off = [abs(row["predicted_ms"] / row["measured_ms"] - 1) for row in records(path)]
        yield f"median error, {path.stem}", Figure(1 + statistics.median(off), PREDICTED)


PARTS = {
    "codecs": codecs,
    "collectives": collectives,
    "training": accuracy,
    "speed": speed,
    "prediction": prediction,
    "versus/codecs": versus_codecs,
    "versus/ddp": ddp,
    "versus/emulation": emulation,
    "versus/training": steps,
}


def machine_of(path):
    """What ratios hang on."""
    machine = json.loads(path.read_text())
    return f"{machine['cpu']} ({machine['cores']} cores, {machine['target']})"


def read(folder):
    """The parts that are there, by name."""
    found = {}
    for name, figures in PARTS.items():
        machine = folder / name / "machine.json"
        if not machine.exists():
            continue
        try:
            found[name] = Part(machine_of(machine), dict(figures(folder / name)))
        except (KeyError, TypeError, ValueError, OSError, ZeroDivisionError, StopIteration) as error:
            raise Unreadable(f"{folder / name} has no figures as they should be: {error!r}") from error
    return found
