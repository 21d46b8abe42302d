"""The part of docs/results.md about the papers' claims; tools/results.py calls it.

What was found comes from studies/records/*.jsonl (study_found.py). Each function below gives what was found and whether
it is what the paper says; those about accuracy are in study_verdicts.py. A claim that no record speaks of says so.
"""
import statistics

from study_found import MISSING, Found, interval_text, mean, number, seeds_text
from study_verdicts import D16_TYPES, anova, learns_nothing, levels, loses, loses_nothing, within_part

STUDIES = ("d16", "g18", "a20")


# ---- codecs, transfers and sums ----

def codec_errors(found):
    printed = {"dynamic8:block=0,rounding=paper": 2.46, "linear8:block=0": 6.47, "mantissa8:rounding=paper": 6.89,
               "static8:rounding=paper": 6.3}
    texts, near = [], 0
    for codec, claimed in printed.items():
        cells = found.cells("errors", data="normal", codec=codec)
        if not cells:
            return MISSING
        measured = cells[0]["rows"][0]["relative_percent"]
        near += abs(measured - claimed) < 0.05 * claimed
        texts.append(f"{codec.split(':')[0]} {measured:.2f}")
    return ", ".join(texts), "yes" if near == len(printed) else f"{near} of {len(printed)}"


def transfers(found):
    cells = found.cells("transfer", size="100M", codec="dynamic8")
    rows = [row for row in found.rows("transfers", codec="dynamic8") if number(row, "size (KiB)") == 102400]
    if not cells:
        return MISSING
    if not rows:
        return "measured only while other programs were at work", "-"
    count = len({cell["axes"]["seed"] for cell in cells})
    texts = [f"{'shared memory' if row['link'] == 'no limit' else row['link']}: "
             f"{interval_text(row, 'speedup (times)', 'times', count=count)}" for row in rows]
    gains = [number(row, "speedup (times)") for row in rows]
    return "<br>".join(texts) + "<br>(5120 x 5120)", \
        "yes" if min(gains) >= 2.16 else "no" if max(gains) < 2.16 else "on the slower link"


def round_off(found):
    cells = found.cells("round-off", codec="(5,2)")
    if not cells:
        return MISSING
    rows = [row for record in cells for row in record["rows"]]
    ring = mean([row["format_percent"] for row in rows if row["algorithm"] == "ring"])
    groups = {size: mean([row["format_percent"] for row in rows if row.get("group") == size])
              for size in sorted({row["group"] for row in rows if row.get("group")})}
    best = min(groups, key=groups.get)
    kahan = mean([row["kahan_percent"] for row in rows if row.get("group") == best])
    text = f"ring {ring:.0f} %, groups of {best:.0f}, the best, {groups[best]:.0f} %, with Kahan {kahan:.0f} %; " \
        f"means of {seeds_text(len(cells))}"
    return text, "yes" if best == 16 and kahan < groups[best] < ring else "no"


# ---- the papers' own models ----

def paper(found, model, bits, key="computed"):
    values = [row[key] for cell in found.cells("paper", model=model) for row in cell["rows"]
              if row.get("quantity") == "speedup" and row.get("bits") == bits and "104.1" in row.get("setting", "")]
    return max(values) if values else None


def node(found):
    wide, narrow = (paper(found, "d16-node", bits) for bits in (32, 8))
    return (f"{wide:.2f} and {narrow:.2f} by its formula", "the formula, yes") if wide and narrow else MISSING


def cluster(found):
    wide, narrow = (paper(found, "d16-cluster", bits) for bits in (32, 8))
    if not wide or not narrow:
        return MISSING
    mended = paper(found, "d16-cluster", 8, "corrected")
    return f"{wide:.1f} and {narrow:.1f} by its formula; {mended:.1f} with its errata mended", \
        "the formula, yes; its 50x, no"


def steps(found):
    rows = {row["setting"]: row for cell in found.cells("paper", model="a20-steps") for row in cell["rows"]}
    ring, groups = rows.get("p=256, ring"), rows.get("p=256, k=16")
    if not ring or not groups:
        return MISSING
    return f"{ring['computed']:.0f} and {groups['computed']:.0f} by its formula", "ring, yes; groups, no"


# ---- speed ----

def predicted(found, net, codec, workers, value="over_fp32"):
    """On K80s, with sums as CNTK's MPI makes them."""
    cells = [record["values"] for record in
             found.cells("predict", net=net, codec=codec, workers=str(workers), profile="ec2-k80")
             if "algorithm" not in record["settings"]]
    return cells[0][value] if cells else None


def end_to_end(found):
    printed = {"alexnet": (4, 8, 2.05), "resnet152": (8, 8, 1.56), "resnet50": (4, 8, 1.26), "resnet110": (4, 8, 1.10),
               "bn-inception": (4, 8, 1.16), "vgg19": (4, 8, 2.25), "lstm-an4": (4, 2, 2.0)}
    texts, off = [], []
    for net, (bits, workers, claimed) in printed.items():
        gain = predicted(found, net, f"qsgd:bits={bits}", workers)
        if gain is not None:
            texts.append(f"{net} {gain:.2f} ({claimed:.2f})")
            off.append(abs(gain / claimed - 1))
    if not texts:
        return MISSING
    near = sum(each <= 0.1 for each in off)
    return "predicted (claimed): " + ", ".join(texts), \
        f"{near} of {len(off)} within 10 %; median off by {100 * statistics.median(off):.0f} %"


def communication(found):
    wait, step = (predicted(found, "alexnet", "fp32", 16, value) for value in ("wait_ms", "step_ms"))
    if wait is None:
        return MISSING
    return f"{100 * wait / step:.0f} % predicted", "yes" if wait > 0.8 * step else "less"


def alexnet_epoch(found):
    gain = predicted(found, "alexnet", "qsgd:bits=4", 16)
    if gain is None:
        return MISSING
    return f"{gain:.2f} predicted", "yes" if abs(gain / 2.5 - 1) <= 0.1 else "more" if gain > 2.5 else "less"


def consistently(found):
    rows = found.rows("answer")
    counts = {word: sum(row["pays"] == word for row in rows) for word in ("yes", "if accurate", "no", "too little data")}
    judged = counts["yes"] + counts["no"]
    if judged + counts["if accurate"] == 0:
        return MISSING
    text = f"of {len(rows)} measured settings: it pays in {counts['yes']}, not in {counts['no']}; quicker, but the error " \
        f"not shown to be the same, in {counts['if accurate']}; too little data in {counts['too little data']}"
    links = sorted({row["link"] for row in rows if row["pays"] in ("yes", "if accurate")})
    text += f"<br>quicker over: {', '.join(links)}" if links else ""
    if counts["no"]:
        return text, "no: in some settings it does not"
    return text, "yes" if counts["yes"] == len(rows) else "not shown everywhere"


def aps_against_half(found):
    texts, gains = [], []
    for half in found.rows("samples", codec="fp16"):
        axes = {axis: half.get(axis) for axis in ("network", "data", "workers", "transport", "link", "machine")}
        for row in found.rows("samples", codec="(5,2) APS", **axes):
            if number(half, "step (ms)") and number(row, "step (ms)"):
                gains.append(number(half, "step (ms)") / number(row, "step (ms)"))
                texts.append(f"{half['link']}: {gains[-1]:.2f}")
    if not gains:
        return MISSING
    return "fp16's step over (5,2) APS's: " + ", ".join(texts), \
        "yes" if min(gains) > 1.03 else "over slow links" if max(gains) > 1.03 else "no"


def claims(found):
    d16, g18, a20 = (found[name] for name in STUDIES)
    untrained = "not trained: neither a GPU nor the images are here", "-"
    data = {"parallel": "data"}
    return [
        ("D16", "MNIST, data parallel: no 8-bit type differs from 32 bits (ANOVA p = .59)",
         anova(d16, network="mnist-mlp", data="mnist", parallel="data"), "20 epochs instead of 75, our RMSProp rate"),
        ("D16", "MNIST, model parallel: none differs (p = .71)",
         anova(d16, network="mnist-mlp", data="mnist", parallel="model"), "as above"),
        ("D16", "MNIST: best errors of 1.20 to 1.30 % in all types",
         levels(d16, 1.2, 1.3, network="mnist-mlp", data="mnist", parallel="data"), "fewer epochs"),
        ("D16", "CIFAR-10: all types within 2 % (relative) of 32 bits",
         within_part(d16, D16_TYPES, 0.02, network="cifar-conv"), "5 epochs, two seeds"),
        ("D16", "ImageNet: top-5 error 18.65 % in 8 bits, 18.55 % in 32", untrained, ""),
        ("D16", "relative errors on N(0,1): dynamic 2.46, linear 6.47, mantissa 6.89, static 6.3 %", codec_errors(d16),
         "with the author's rounding, which our linear does not have: nearest is better; and its scale is the largest "
         "sample, of 25 M there and 4 M here"),
        ("D16", "8 bits travel 2.16 times as fast between two GPUs (large matrices)", transfers(d16),
         "slow links gain up to the ratio of bits, links as fast as memory less"),
        ("D16", "four GPUs, AlexNet: 3.53x in 32 bits, 3.67x in 8", node(d16), "a model, computed"),
        ("D16", "96 GPUs, AlexNet: 23x in 32 bits, 50x in 8", cluster(d16), "8-bit messages are sized at an eighth there"),
        ("G18", "QSGD in 8 and 4 bits loses no accuracy", loses_nothing(g18.accuracy(["qsgd:bits=8", "qsgd:bits=4"], **data)),
         "small networks"),
        ("Q17", "2 bits lose some", loses(g18.accuracy(["qsgd:bits=2"], **data)), "small networks, buckets of 128"),
        ("S14", "1-bit SGD with error feedback loses nothing", loses_nothing(g18.accuracy(["onebit-reshaped"], **data)),
         "columns of 64"),
        ("S14", "without feedback it does", loses(g18.accuracy(["onebit-no-feedback"], **data)), "columns of 64"),
        ("Q17", "ImageNet: QSGD within .3 points of 32 bits (AlexNet, ResNet-50, ResNet-152)", untrained, ""),
        ("Q17", "end-to-end speedups on 8 K80s (LSTM: on 2)", end_to_end(g18),
         "predicted from a profile whose links were fitted to three of them; two were projected there, too"),
        ("Q17", "AlexNet on 16 GPUs: over 80 % of the time is communication", communication(g18),
         "predicted, with 128 images a worker; the paper has 64 there"),
        ("Q17", "AlexNet on 16 GPUs: 4 bits make an epoch 2.5 times as short", alexnet_epoch(g18), "as above"),
        ("G18", "does low precision consistently improve end-to-end time with no accuracy loss?", consistently(g18),
         "fast links leave nothing to gain"),
        ("A20", "(5,2) and (4,3) with APS are as accurate as fp32", loses_nothing(a20.accuracy(["(5,2) APS", "(4,3) APS"])),
         "other networks and data"),
        ("A20", "(4,3) without APS fails or loses", loses(a20.accuracy(["(4,3)"])),
         "gradients of small networks may still fit"),
        ("A20", "(3,0) with APS loses some", loses(a20.accuracy(["(3,0) APS"])), ""),
        ("A20", "(3,0) without APS learns nothing", learns_nothing(a20.accuracy(["(3,0)"])), ""),
        ("A20", "with the last layer, or the first epochs, in fp32, (4,3) with APS is as accurate as fp32",
         loses_nothing(a20.accuracy(["(4,3) APS, last layer fp32", "(4,3) APS from epoch 7"])), ""),
        ("A20", "partial sums in (5,2) over 256 nodes: ring 85 %, groups of 16 42 %; Kahan helps", round_off(a20),
         "values like gradients, not the paper's own"),
        ("A20", "256 nodes: 510 steps in a ring, 74 in groups of 16", steps(a20), "the paper adds up wrongly"),
        ("A20", "8 bits with APS are 1.1 to 1.4 times as fast as 16 bits", aps_against_half(a20),
         "whole steps over a link here, single layers on 32 GPUs there"),
        ("A20", "Cityscapes and ImageNet: as accurate as fp32 on up to 256 nodes", untrained, ""),
    ]


def cell_text(text):
    return text.replace("|", "\\|")


def print_extent(one):
    done = sum(record["state"] == "done" for record in one.records)
    failed = f", {one.failed()} failed" if one.failed() else ""
    print(f"- `{one.name}`: {done} of {one.cell_count or 'its'} cells have a record{failed}. Cut: "
          + " ".join(one.cuts))


def print_studies(program, root):
    found = {name: Found(program, root, name) for name in STUDIES}
    print("\n## The papers' claims, on this machine\n")
    print("Made from `studies/records/*.jsonl` (`narrowcast study run studies/NAME.toml`). Differences are of the last")
    print("test error from fp32's, in percentage points, paired by seed, with 95 % intervals and the number of seeds;")
    print("the verdict is `study report`'s: `same` within 0.2 points, p corrected over all comparisons of a study.\n")
    for one in found.values():
        print_extent(one)
    for picture in sorted((root / "docs" / "pictures").glob("study-*.png")):
        _, study, figure = picture.stem.split("-", 2)
        print(f"\n![{study}: {figure.replace('-', ' ')}](pictures/{picture.name})")
    print("\n| paper | claimed | found here | the same? | why, or why not |\n|---|---|---|---|---|")
    for source, claimed, (text, same), why in claims(found):
        print("| " + " | ".join(map(cell_text, (source, claimed, text, same, why))) + " |")
