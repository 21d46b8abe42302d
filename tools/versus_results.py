"""The parts of docs/results.md about peers; tools/results.py and tools/versus_pictures.py call it."""
import json

# Percent: what each network reaches in the few epochs of the comparison.
TARGETS = {"mnist-mlp": 2.4, "cifar-conv": 50}
LINKS = {"100mbit": "100 Mbit/s", "1gbit": "1 Gbit/s", "10gbit": "10 Gbit/s", "unlimited": "no limit"}
FORMATS = {"fp16": "fp16", "bf16": "bf16", "e4m3": "float8 e4m3", "e5m2": "float8 e5m2", "bnb8": "8 bits in blocks of 4096",
           "quantize nearest": "(5,2) there and back", "quantize stochastic": "(5,2) there and back, stochastic"}
# Where results of one format part, by package.
WHY_OTHERS = {"qtorch": ", which rounds ties away from zero"}
ALONE = "no communication"
OUR_HOOKS = ("dynamic8", "qsgd:bits=4")
LARGE, CACHED = 25 << 20, 1 << 20


# -- codecs --------------------------------------------------------------------------------------


def codec_groups(folder):
    """By format, our row first: {format: {who: {values: row}}}; and the copy, by number of values."""
    rows = json.loads((folder / "codecs.json").read_text())["rows"]
    copies = {row["values"]: row["encode"]["best"] for row in rows if row["who"] == "memcpy"}
    groups = {}
    for row in rows:
        if row["who"] != "memcpy":
            groups.setdefault(row["beside"], {}).setdefault(row["who"], {})[row["values"]] = row
    return groups, copies


def best(row, what):
    return row[what]["best"] if what in row else None


def cell(value, ours):
    """Nanoseconds, and of a peer how many times ours that is."""
    if value is None:
        return ""
    return f"{value:.2f}" if ours is None else f"{value:.2f} ({value / ours:.1f})"


def codec_lines(groups):
    for beside, by_who in groups.items():
        ours = by_who["narrowcast"]
        for who, rows in by_who.items():
            cells = []
            for values in (CACHED, LARGE):
                for what in ("encode", "decode"):
                    mine = None if who == "narrowcast" else best(ours[values], what)
                    cells.append(cell(best(rows[values], what), mine))
            shown = f"narrowcast `{ours[LARGE]['what']}`" if who == "narrowcast" else f"{who} {rows[LARGE]['what']}"
            yield f"| {FORMATS.get(beside, f'`{beside}`')} | {shown} | " + " | ".join(cells) + " |"


def print_versus_codecs(folder, machine_line):
    if not (folder / "codecs.json").exists():
        return
    found = json.loads((folder / "codecs.json").read_text())
    groups, copies = codec_groups(folder)
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    print("\n## Codecs beside the peers\n\nMade by `scripts/bench versus codecs`: one process, one thread, in turns, into buffers "
          "that are there already; nanoseconds a\nvalue, best of many, and in brackets how many times ours. Formats of the same "
          f"name gave the same values first. {versions}.\nCopying the array takes {copies[CACHED]:.2f} ns a value of 1 M and "
          f"{copies[LARGE]:.2f} of 25 M.\n")
    print(machine_line(folder / "machine.json"))
    for peer, why in found["missing"].items():
        print(f"Not measured: {peer} ({why}).\n")
    for row in found["different"]:
        print(f"Other values than ours: {row}{WHY_OTHERS.get(row.split(' ')[0], '')}.\n")
    print("![nanoseconds a value, ours and theirs](pictures/versus-codecs.svg)\n\n| format | who | encode, 1 M | decode, 1 M | "
          "encode, 25 M | decode, 25 M |\n|---|---|---:|---:|---:|---:|")
    print(*codec_lines(groups), sep="\n")


# -- training ------------------------------------------------------------------------------------


def training(folder):
    """{net: {rate: {way: figures or reason}}}, and {net: {way: epochs or reason}}."""
    steps, errors = {}, {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "machine.json":
            continue
        found = json.loads(path.read_text())
        net, kind = path.name.split(".")[:2]
        if kind == "errors":
            errors.setdefault(net, {})[found["way"]] = found.get("epochs") or found["failed"]
        else:
            steps.setdefault(net, {}).setdefault(kind, {}).update(
                {found["way"]: found["failed"]} if "failed" in found else found["ways"])
    return steps, errors


def steps_to(epochs, target):
    """The step after which the test error was at most the target; None: never."""
    return next((epoch["step"] for epoch in epochs if epoch["error"] <= target), None)


def is_ours(way):
    return way.startswith("train ") or way in OUR_HOOKS


def title(way):
    if way.startswith("train "):
        return f"`narrowcast train`, {way[6:]}"
    if way in OUR_HOOKS:
        return f"DDP, our hook, {way}"
    return f"DDP, {way}"


def order(ways):
    """Theirs, ours in their program, ours."""
    return sorted(ways, key=lambda way: (way.startswith("train "), way in OUR_HOOKS))


def seconds_to(found, epochs, target):
    """Seconds until the error was reached; None where it was not, or nothing is known."""
    if isinstance(found, str) or not isinstance(epochs, list):
        return None
    steps = steps_to(epochs, target)
    return None if steps is None else steps * found["ms"] / 1e3


def times_to_errors(steps, errors):
    """Network, link, way and the seconds of those that reached the error: what the chart shows."""
    for net, by_rate in steps.items():
        for rate, ways in by_rate.items():
            for way in order(ways):
                seconds = seconds_to(ways[way], errors.get(net, {}).get(way), TARGETS[net])
                if seconds is not None:
                    yield net, rate, way, seconds


def training_line(way, found, epochs, target, fp32):
    if isinstance(found, str):
        return f"| {title(way)} | {found} | | | | |"
    cells = [f"{found['ms']:.1f}", f"{found['from']:.1f} to {found['to']:.1f}", f"{fp32 / found['ms']:.2f}" if fp32 else ""]
    if not epochs:
        return f"| {title(way)} | " + " | ".join([*cells, "" if way.endswith(ALONE) else "not measured", ""]) + " |"
    if isinstance(epochs, str):
        return f"| {title(way)} | " + " | ".join([*cells, epochs, ""]) + " |"
    seconds = seconds_to(found, epochs, target)
    reached = "not reached" if seconds is None else f"{seconds:.1f}"
    return f"| {title(way)} | " + " | ".join([*cells, " ".join(f"{e['error']:.2f}" for e in epochs), reached]) + " |"


def print_versus_training(folder, machine_line):
    steps, errors = training(folder) if folder.exists() else ({}, {})
    if not steps:
        return
    print("\n## Training beside PyTorch's DistributedDataParallel\n\nMade by `scripts/bench versus training`: two hosts of one core, "
          "128 images each, the same networks and recipes\n(`bench/versus/networks.py`); torch from PyPI, `narrowcast train` "
          "with Debian's libtorch. Steps are medians, of DDP's ways in\nturns within one process. Test errors in percent after "
          "each epoch, of one seed; they do not hang on the link. Time to an\nerror: steps to the first epoch that has it, times the "
          "step. Steps count reading and augmenting the images, not testing.\n")
    print(machine_line(folder / "machine.json"))
    if any(True for _ in times_to_errors(steps, errors)):
        print("![seconds to the error](pictures/versus-training.svg)\n")
    for net, by_rate in steps.items():
        for rate, ways in by_rate.items():
            fp32 = ways["fp32"]["ms"] if isinstance(ways.get("fp32"), dict) else None
            print(f"### {net}, {LINKS[rate]}\n\n| way | ms a step | quartiles | times as fast as DDP's fp32 | test error by "
                  f"epoch | s to {TARGETS[net]} % |\n|---|---:|---|---:|---|---:|")
            for way in order(ways):
                print(training_line(way, ways[way], errors.get(net, {}).get(way), TARGETS[net], fp32))
            print()
