"""The part of docs/results.md about the papers' claims; tools/results.py calls it.

What was found comes from studies/records/*.jsonl through `narrowcast study compare` and `study report`, so that the
statistics are the program's own. A claim that no record speaks of says so.
"""
import csv
import json
import pathlib
import subprocess
import tempfile

STUDIES = ("d16", "g18", "a20")
TOLERANCE = {"d16": 0.2, "g18": 0.2, "a20": 0.2}  # percentage points, as in the studies themselves
MISSING = "not measured yet"


class Found:
    """What a study has found so far."""

    def __init__(self, program, root, name):
        self.program, self.name = program, name
        self.records_file = root / "studies" / "records" / f"{name}.jsonl"
        self.study = root / "studies" / f"{name}.toml"
        lines = self.records_file.read_text().splitlines() if self.records_file.exists() else []
        self.records = [json.loads(line) for line in lines]
        self.tables = self.report() if self.records else {}

    def report(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [self.program, "study", "report", self.records_file, "--study", self.study, "-o", folder],
                check=True, stdout=subprocess.DEVNULL)
            return {file.stem: list(csv.DictReader(file.read_text().splitlines()))
                    for file in pathlib.Path(folder).glob("*.csv")}

    def cells(self, kind, **axes):
        return [record for record in self.records if record["kind"] == kind and record["state"] == "done"
                and all(record["axes"].get(axis) == value for axis, value in axes.items())]

    def against(self, codec, **axes):
        """Comparisons of the codec with fp32, of runs to the last epoch."""
        if not self.cells("train", codec=codec):
            return []
        done = subprocess.run(
            [self.program, "study", "compare", "fp32", codec, "--in", self.records_file, "--tolerance",
             str(TOLERANCE[self.name]), "--json"], check=True, capture_output=True, text=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return [row for row in rows if row["cell"].startswith("train ") and row["error"]
                and all(value in row["cell"] for value in axes.values())]


def mean(values):
    return sum(values) / len(values) if values else None


def difference_text(row):
    effect = row["error"]["effect"]
    where = row["cell"].removeprefix("train ").replace(", 2 workers, shm", "")
    if effect["low"] is None:
        return f"{where}: {effect['mean']:+.2f} (one seed)"
    return f"{where}: {effect['mean']:+.2f} ({effect['low']:+.2f} to {effect['high']:+.2f}, n={effect['count']})"


def accuracy(found, codecs, **axes):
    """Differences of the last test error from fp32, and what may be said of them."""
    texts, judgements = [], []
    for codec in codecs:
        rows = found.against(codec, **axes)
        texts += [f"`{codec}` {difference_text(row)}" for row in rows]
        judgements += [row["error"]["judgement"] for row in rows]
    if not texts:
        return MISSING, "-"
    return "; ".join(texts), verdict(judgements)


def verdict(judgements):
    if "worse" in judgements:
        return "some are worse"
    if all(judgement in ("same", "better") for judgement in judgements):
        return "yes"
    return "no difference found; too few runs to call them the same"


def anova(found, data, parallel):
    rows = [row for row in found.tables.get("anova", [])
            if row.get("data", data) == data and row.get("parallel", parallel).startswith(parallel)
            and "mantissa8" in row.get("codecs", "") and row.get("p, last")]
    if not rows:
        return MISSING, "-"
    row = rows[-1]
    p = float(row["p, last"])
    text = f"F({row['degrees of freedom, last']}) = {float(row['F, last']):.2f}, p = {p:.2f}"
    return text, "yes" if p > 0.05 else "no"


def levels(found, codec, **axes):
    errors = [record["values"]["best_error"] for record in found.cells("train", codec=codec, **axes)]
    if not errors:
        return MISSING, "-"
    return f"{mean(errors):.2f} % after 20 epochs, mean of {len(errors)} (best epoch)", "near"


def codec_errors(found):
    printed = {"dynamic8": 2.46, "linear8": 6.47, "mantissa8": 6.89, "static8": 6.3}
    texts, good = [], True
    for codec, claimed in printed.items():
        cells = [record for record in found.cells("errors", data="normal")
                 if record["axes"]["codec"].startswith(codec)
                 and ("rounding=paper" in record["axes"]["codec"] or record["axes"]["codec"] == "linear8:block=0")]
        if not cells:
            return MISSING, "-"
        measured = cells[0]["rows"][0]["relative_percent"]
        good = good and abs(measured - claimed) < 0.15 * claimed
        texts.append(f"{codec} {measured:.2f}")
    return ", ".join(texts), "yes" if good else "no"


def transfers(found):
    cells = found.cells("transfer", size="100M", codec="dynamic8")
    if not cells:
        return MISSING, "-"
    texts = []
    for link in sorted({record["axes"]["link"] for record in cells}):
        gains = [record["values"]["speedup"] for record in cells if record["axes"]["link"] == link]
        texts.append(f"{'shared memory' if link == 'none' else link}: {mean(gains):.2f}")
    return ", ".join(texts) + " (5120 x 5120)", "depends on the link"


def paper(found, model, quantity, bits, corrected=False):
    cells = found.cells("paper", model=model)
    rows = [row for cell in cells for row in cell["rows"]
            if row.get("quantity") == quantity and row.get("bits") == bits]
    key = "corrected" if corrected else "computed"
    values = [row[key] for row in rows if key in row and "104.1" in row.get("setting", "")]
    return max(values) if values else None


def cluster(found):
    wide, narrow = (paper(found, "d16-cluster", "speedup", bits) for bits in (32, 8))
    mended = paper(found, "d16-cluster", "speedup", 8, corrected=True)
    if not wide or not narrow:
        return MISSING, "-"
    text = f"{wide:.1f} and {narrow:.1f} by its formula"
    return text + (f"; {mended:.1f} with its errata mended" if mended else ""), "the formula, yes"


def gains(found, net, codec, workers):
    return [record["values"]["over_fp32"] for record in
            found.cells("predict", net=net, codec=codec, workers=str(workers), profile="ec2-k80")
            if "algorithm" not in record["settings"]]


def end_to_end(found):
    printed = {"alexnet": 2.05, "resnet152": 1.56, "resnet50": 1.26, "resnet110": 1.10,
               "bn-inception": 1.16, "vgg19": 2.25}
    texts, off = [], []
    for net, claimed in printed.items():
        predicted = gains(found, net, "qsgd:bits=8" if net == "resnet152" else "qsgd:bits=4", 8)
        if predicted:
            texts.append(f"{net} {mean(predicted):.2f} ({claimed:.2f})")
            off.append(abs(mean(predicted) / claimed - 1))
    if not texts:
        return MISSING, "-"
    return "predicted (claimed): " + ", ".join(texts), f"median off by {100 * sorted(off)[len(off) // 2]:.0f} %"


def communication(found):
    cells = [record for record in found.cells("predict", net="alexnet", codec="fp32", workers="16", profile="ec2-k80")
             if "algorithm" not in record["settings"]]
    if not cells:
        return MISSING, "-"
    values = cells[0]["values"]
    share = values["wait_ms"] / values["step_ms"]
    return f"{100 * share:.0f} % predicted", "yes" if share > 0.8 else "no"


def consistently(found):
    rows = found.tables.get("answer", [])
    known = [row for row in rows if row.get("pays") in ("yes", "no")]
    if not known:
        return MISSING, "-"
    pays = [row for row in known if row["pays"] == "yes"]
    return f"it pays in {len(pays)} of {len(known)} measured settings that could be judged", "no: it depends on the link"


def round_off(found):
    rows = [row for record in found.cells("round-off", codec="(5,2)") for row in record["rows"]]
    if not rows:
        return MISSING, "-"
    ring = mean([row["format_percent"] for row in rows if row["algorithm"] == "ring"])
    groups = {int(row["group"]): row["format_percent"] for row in rows if row.get("group")}
    best = min(groups, key=groups.get)
    kahan = mean([row["kahan_percent"] for row in rows if row.get("group") == best and "kahan_percent" in row])
    text = f"ring {ring:.0f} %, best groups of {best}: {groups[best]:.0f} %"
    if kahan is not None:
        text += f", with Kahan {kahan:.0f} %"
    return text, "yes, in direction" if ring > groups[best] else "no"


def claims(found):
    d16, g18, a20 = (found[name] for name in STUDIES)
    return [
        ("D16", "MNIST, data parallel: no 8-bit type differs from 32 bits (ANOVA p = .59)",
         anova(d16, "mnist", "data"), "20 epochs instead of 75, our RMSProp rate"),
        ("D16", "MNIST, model parallel: none differs (p = .71)", anova(d16, "mnist", "model"), ""),
        ("D16", "MNIST: errors of 1.20 to 1.30 % in all types", levels(d16, "dynamic8", data="mnist", parallel="data"),
         "fewer epochs"),
        ("D16", "CIFAR-10: all types within 2 % (relative) of 32 bits",
         accuracy(d16, ["dynamic8", "linear8", "static8", "mantissa8"], net="cifar-conv"), "few epochs, two seeds"),
        ("D16", "relative errors on N(0,1): dynamic 2.46, linear 6.47, mantissa 6.89, static 6.3 %", codec_errors(d16),
         "with the author's rounding; linear hangs on the largest sample, of 25 M there and 4 M here"),
        ("D16", "8 bits travel 2.16 times as fast between two GPUs (large matrices)", transfers(d16),
         "slower links gain up to the ratio of bits, links as fast as memory less"),
        ("D16", "96 GPUs, AlexNet: 23x in 32 bits, 50x in 8", cluster(d16), "8-bit messages are sized at an eighth there"),
        ("G18", "QSGD in 8 and 4 bits loses no accuracy", accuracy(g18, ["qsgd:bits=8", "qsgd:bits=4"], parallel="data parallel"),
         "small networks"),
        ("G18", "2 bits lose some", accuracy(g18, ["qsgd:bits=2"], parallel="data parallel"), ""),
        ("S14", "1-bit SGD with error feedback loses nothing", accuracy(g18, ["onebit-reshaped"], parallel="data parallel"), ""),
        ("S14", "without feedback it does", accuracy(g18, ["onebit-no-feedback"], parallel="data parallel"), ""),
        ("Q17", "end-to-end speedups on 8 K80s", end_to_end(g18),
         "predicted from a profile whose links were fitted to three of them"),
        ("Q17", "AlexNet on 16 GPUs: over 80 % of the time is communication", communication(g18),
         "predicted, with 128 images a worker; the paper has 64 there"),
        ("G18", "does low precision consistently improve end-to-end time with no accuracy loss?", consistently(g18),
         "fast links leave nothing to gain"),
        ("A20", "(5,2) and (4,3) with APS are as accurate as fp32", accuracy(a20, ["(5,2) APS", "(4,3) APS"]), ""),
        ("A20", "(4,3) without APS fails or loses", accuracy(a20, ["(4,3)"]),
         "small networks have gradients that still fit"),
        ("A20", "(3,0) with APS loses some, without it nothing is learnt", accuracy(a20, ["(3,0) APS", "(3,0)"]), ""),
        ("A20", "fp32 in the last layer, or in the first epochs, makes up for it",
         accuracy(a20, ["(4,3) APS, last layer fp32", "(4,3) APS from epoch 7"]), ""),
        ("A20", "partial sums in (5,2) over 256 nodes: ring 85 %, groups of 16 42 %; Kahan helps", round_off(a20),
         "values like gradients, not the paper's own"),
    ]


def cell_text(text):
    return text.replace("|", "\\|")


def print_studies(program, root):
    found = {name: Found(program, root, name) for name in STUDIES}
    print("\n## The papers' claims, on this machine\n")
    print("Made from `studies/records/*.jsonl` (`narrowcast study run studies/NAME.toml`). Differences are of the last")
    print("test error from fp32's, in percentage points, paired by seed, with 95 % intervals.\n")
    for name, one in found.items():
        done = sum(record["state"] == "done" for record in one.records)
        print(f"- `{name}`: {done} cells have a record.")
    for picture in sorted((root / "docs" / "pictures").glob("study-*.png")):
        _, study, figure = picture.stem.split("-", 2)
        print(f"\n![{study}: {figure.replace('-', ' ')}](pictures/{picture.name})")
    print("\n| paper | claimed | found here | the same? | why, or why not |\n|---|---|---|---|---|")
    for source, claimed, (text, same), why in claims(found):
        print("| " + " | ".join(map(cell_text, (source, claimed, text, same, why))) + " |")
