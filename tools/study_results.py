"""The part of docs/results.md about the papers' claims; tools/results.py calls it.

What was found comes from studies/records/*.jsonl (study_found.py). Each function below gives what was found and whether
it is what the paper says; those about accuracy are in study_verdicts.py, those about models and predictions in
study_predictions.py. A claim that no record speaks of says so.
"""
import json

from study_found import MISSING, Found, interval_text, mean, number, seeds_text
from study_predictions import beside, cluster, communication_of, communication_over, end_to_end, less_communication, node, \
    shorter_epoch, steps
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
    return text, f"ring, {beside(ring, 85.2)}; groups of {best:.0f}, {beside(groups[best], 41.8)}; " \
        f"Kahan helps, {'yes' if kahan < groups[best] else 'no'}"


def codec_cost(results):
    """Of one thread, on as many values as the paper's largest matrix has."""
    rows = [json.loads(line) for line in (results / "codecs" / "all.jsonl").read_text().splitlines()]
    row = next((row for row in rows if row["codec"] == "dynamic8" and row["threads"] == 1 and row["values"] == 25 << 20), None)
    if not row:
        return MISSING
    return f"{row['encode_ns']:.2f} and {row['decode_ns']:.2f} on one core", \
        f"to compress, {beside(row['encode_ns'], 1.0)}; to decompress, {beside(row['decode_ns'], 0.5)}"


# ---- speed ----

def consistently(found):
    rows = found.rows("answer")
    counts = {word: sum(row["pays"] == word for row in rows)
              for word in ("yes", "if accurate", "later", "no", "unclear", "too little data")}
    counts["no"] += counts["later"]
    judged = counts["yes"] + counts["no"]
    if judged + counts["if accurate"] == 0:
        return MISSING
    text = f"of {len(rows)} measured settings: it pays in {counts['yes']}, not in {counts['no']}; quicker, but the error " \
        f"not shown to be the same, in {counts['if accurate']}; unclear in {counts['unclear']}, too little data in " \
        f"{counts['too little data']}"
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


def claims(found, results):
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
        ("D16", "a number takes 1 ns to compress and 0.5 ns to decompress on a GPU", codec_cost(results),
         "`dynamic8` on a CPU; the raw timings behind the paper say 0.10 and 0.05 ns"),
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
        ("Q17", "ImageNet: 4 bits in buckets of 8192 lose .68 points, 2 bits in buckets of 64 lose 1.73", untrained, ""),
        ("Q17", "ResNet-110 on CIFAR-10: 94.19 % in 4 bits, 93.86 % in 32",
         loses_nothing(g18.accuracy(["qsgd:bits=4"], network="resnet20")), "ResNet-20 for few epochs instead"),
        ("Q17", "LSTM on AN4: 81.15 % in 4 bits, 81.13 % in 32", ("not trained: the recordings are not here", "-"), ""),
        ("Q17", "AlexNet on 16 GPUs: over 80 % of the time is communication",
         communication_over(g18, "alexnet", 16, 0.8), "predicted, with the paper's 64 images a worker"),
        ("Q17", "AlexNet on 16 GPUs: 4 bits communicate 4 times less", less_communication(g18, "alexnet", 16, 4.0),
         "predicted: bits are 7.9 times fewer, and codecs cost little in the profile"),
        ("Q17", "AlexNet on 16 GPUs: 4 bits make an epoch 2.5 times as short", shorter_epoch(g18, "alexnet", 16, 2.5),
         "as above"),
        ("Q17", "LSTM on 2 GPUs: 71 % of the time is communication", communication_of(g18, "lstm-an4", 2, 0.71),
         "predicted, with the paper's 128 frames a worker; that sequences are cut into 20 is assumed"),
        ("Q17", "LSTM on 2 GPUs: 4 bits communicate 6.8 times less", less_communication(g18, "lstm-an4", 2, 6.8), "as above"),
        ("Q17", "LSTM on 2 GPUs: 4 bits make an epoch 2.7 times as short", shorter_epoch(g18, "lstm-an4", 2, 2.7),
         "as above"),
        ("G18", "does low precision consistently improve end-to-end time with no accuracy loss?", consistently(g18),
         "fast links leave nothing to gain"),
        ("A20", "(5,2) and (4,3) with APS are as accurate as fp32", loses_nothing(a20.accuracy(["(5,2) APS", "(4,3) APS"])),
         "other networks and data"),
        ("A20", "(5,2) without APS loses up to 5 points (ResNet-50), with DavidNet none", loses(a20.accuracy(["(5,2)"])),
         "gradients of small networks may still fit"),
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
        ("A20", "three layers of a block in one lazy all-reduce take 2752 us in 8 bits, two of them one by one 2865",
         ("not measured here: buffers of layers are fused in all studies", "-"), ""),
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
    print("the verdict is `study report`'s: `same` within 0.2 points, p corrected over all comparisons of a study.")
    print("Other figures are the claimed ones when they are within 10 % of them; else they are more or less.\n")
    for one in found.values():
        print_extent(one)
    for picture in sorted((root / "docs" / "pictures").glob("study-*.png")):
        _, study, figure = picture.stem.split("-", 2)
        print(f"\n![{study}: {figure.replace('-', ' ')}](pictures/{picture.name})")
    print("\n| paper | claimed | found here | the same? | why, or why not |\n|---|---|---|---|---|")
    for source, claimed, (text, same), why in claims(found, root / "docs" / "results"):
        print("| " + " | ".join(map(cell_text, (source, claimed, text, same, why))) + " |")
