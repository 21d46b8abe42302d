"""What the papers' own models compute, and what our predictions say beside the speeds that papers claim."""
import statistics

from study_found import MISSING

NEAR = 0.1  # of the claimed figure: as far off as it still counts as the same

# Of a worker: the paper's batch over its workers (G18); ResNet-50's is not known.
BATCHES = {
    "alexnet": {2: 128, 4: 128, 8: 128, 16: 64},
    "bn-inception": {2: 128, 4: 64, 8: 32, 16: 64},
    "resnet152": {2: 16, 4: 16, 8: 16, 16: 16},
    "vgg19": {2: 32, 4: 32, 8: 32},
    "resnet50": {8: 32},
    "resnet110": {2: 64, 4: 32, 8: 16, 16: 8},
    "lstm-an4": {2: 6, 4: 3, 8: 2, 16: 1},
}


def is_near(found, claimed):
    return abs(found / claimed - 1) <= NEAR


def beside(found, claimed):
    if is_near(found, claimed):
        return "yes"
    return "more" if found > claimed else "less"


# ---- the papers' own models ----

def model_rows(found, model, **members):
    return [row for cell in found.cells("paper", model=model) for row in cell["rows"]
            if all(row.get(member) == value for member, value in members.items())]


def best_speedup(found, model, bits, key="computed"):
    rows = model_rows(found, model, quantity="speedup", bits=bits, setting="T=104.1 ms")
    return max((row[key] for row in rows), default=None)


def follows(found, model):
    """Whether the formula gives what the paper prints, in all its rows."""
    return all(is_near(row["computed"], row["printed"]) for row in model_rows(found, model) if "printed" in row)


def formula_text(found, model):
    return "the formula, yes" if follows(found, model) else "the formula, no"


def node(found):
    wide, narrow = (best_speedup(found, "d16-node", bits) for bits in (32, 8))
    if not wide or not narrow:
        return MISSING
    return f"{wide:.2f} and {narrow:.2f} by its formula", formula_text(found, "d16-node")


def cluster(found):
    wide, narrow = (best_speedup(found, "d16-cluster", bits) for bits in (32, 8))
    if not wide or not narrow:
        return MISSING
    mended = best_speedup(found, "d16-cluster", 8, "corrected")
    return f"{wide:.1f} and {narrow:.1f} by its formula; {mended:.1f} with its errata mended", \
        f"{formula_text(found, 'd16-cluster')}; with its errata mended, {beside(mended, 50)}"


def steps(found):
    rows = {row["setting"]: row for row in model_rows(found, "a20-steps")}
    ring, groups = rows.get("p=256, ring"), rows.get("p=256, k=16")
    if not ring or not groups:
        return MISSING
    # Steps are counted, not measured: only the same number is the same.
    said = ["yes" if row["computed"] == row["printed"] else "no" for row in (ring, groups)]
    return f"{ring['computed']:.0f} and {groups['computed']:.0f} by its formula", f"ring, {said[0]}; groups, {said[1]}"


# ---- speed, predicted ----

def predicted(found, net, codec, workers):
    """A step on K80s with the paper's batch, and sums as CNTK's MPI makes them; nothing where there is none."""
    cells = [record["values"] for record in
             found.cells("predict", net=net, codec=codec, workers=str(workers), profile="ec2-k80",
                         batch=str(BATCHES[net][workers]))
             if "algorithm" not in record["settings"]]
    return cells[0] if cells else None


def end_to_end(found):
    printed = {"alexnet": (4, 8, 2.05), "resnet152": (8, 8, 1.56), "resnet50": (4, 8, 1.26), "resnet110": (4, 8, 1.10),
               "bn-inception": (4, 8, 1.16), "vgg19": (4, 8, 2.25), "lstm-an4": (4, 2, 2.0)}
    texts, off = [], []
    for net, (bits, workers, claimed) in printed.items():
        if step := predicted(found, net, f"qsgd:bits={bits}", workers):
            gain = step["over_fp32"]
            texts.append(f"{net} {gain:.2f} ({claimed:.2f})")
            off.append(abs(gain / claimed - 1))
    if not texts:
        return MISSING
    near = sum(each <= NEAR for each in off)
    return "predicted (claimed): " + ", ".join(texts), \
        f"{near} of {len(off)} within 10 %; median off by {100 * statistics.median(off):.0f} %"


def communication(found, net, workers):
    """The part of a step in fp32 that waits for communication."""
    step = predicted(found, net, "fp32", workers)
    return step["wait_ms"] / step["step_ms"] if step else None


def communication_over(found, net, workers, claimed):
    part = communication(found, net, workers)
    return (f"{100 * part:.0f} % predicted", "yes" if part > claimed else "less") if part is not None else MISSING


def communication_of(found, net, workers, claimed):
    part = communication(found, net, workers)
    return (f"{100 * part:.0f} % predicted", beside(part, claimed)) if part is not None else MISSING


def less_communication(found, net, workers, claimed):
    wide, narrow = (predicted(found, net, codec, workers) for codec in ("fp32", "qsgd:bits=4"))
    if not wide or not narrow:
        return MISSING
    times = wide["wait_ms"] / narrow["wait_ms"]
    return f"{times:.1f} times less predicted", beside(times, claimed)


def shorter_epoch(found, net, workers, claimed):
    step = predicted(found, net, "qsgd:bits=4", workers)
    return (f"{step['over_fp32']:.2f} predicted", beside(step["over_fp32"], claimed)) if step else MISSING
