"""The part of docs/results.md about training; tools/results.py calls it."""
import json
import math
import statistics

# Student's t, both sides of 95 %, by degrees of freedom: for the few seeds there are.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 8: 2.306}

SPEED_GOALS = {
    ("1gbit", "dynamic8"): 1.75,
    ("1gbit", "qsgd:bits=4"): 1.45,
    ("1gbit", "onebit:column=512"): 1.25,
    ("10gbit", "dynamic8"): 1.25,
}
ERROR_GOAL = 1.7  # percent, mean over the seeds
DIFFERENCE_GOAL = 0.1  # points between means
ONE_SEED_GOAL = 0.3
PLAIN_GOAL = 1.03
IDEAL_GOAL = 1.1

# What TCP carries of a link's rate, in bytes a millisecond.
LINKS = {"100mbit": ("100 Mbit/s", 0.95 * 12.5e3), "1gbit": ("1 Gbit/s", 0.95 * 125e3),
         "10gbit": ("10 Gbit/s", 0.95 * 1250e3), "unlimited": ("No limit", math.inf)}
# Weights of 784-1024-1024-10. The first layer's gradients are there when the backward pass ends, so their bytes wait for
# it; those of the others may travel while the first layer's are made, which is one of the products of a step: each
# layer has one forward and one for its weights, and all but the first one for its inputs.
WEIGHTS = (784 * 1024, 1024 * 1024, 1024 * 10)
FIRST_BYTES = WEIGHTS[0] / sum(WEIGHTS)
FIRST_WORK = WEIGHTS[0] / (3 * sum(WEIGHTS) - WEIGHTS[0])


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def last_error(path):
    return [record["test_error"] for record in records(path) if record["event"] == "epoch"][-1]


def interval(values):
    """Half of the 95 % interval of the mean."""
    return T95[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))


def difference_interval(a, b):
    """Of the difference of two means, of as many runs with a common deviation."""
    pooled = math.sqrt((statistics.variance(a) + statistics.variance(b)) / 2)
    return T95[4] * pooled * math.sqrt(2 / len(a))


def bold(text, good):
    return text if good else f"**{text}**"


def seeds_table(folder, parallel):
    fp32 = None
    for codec in ("fp32", "dynamic8", "linear8"):
        errors = [last_error(folder / f"{parallel}-{codec}-{seed}.jsonl") for seed in (1, 2, 3)]
        fp32 = fp32 or errors
        mean = statistics.mean(errors)
        shown = " ".join(f"{error:.2f}" for error in errors)
        cells = [f"`{codec}`", shown, bold(f"{mean:.3f} ± {interval(errors):.3f}", mean <= ERROR_GOAL)]
        if codec == "fp32":
            cells.append("")
        else:
            off = mean - statistics.mean(fp32)
            cells.append(bold(f"{off:+.3f} ± {difference_interval(errors, fp32):.3f}", abs(off) < DIFFERENCE_GOAL))
        print("| " + " | ".join([parallel, *cells]) + " |")


ONE_SEED = [
    ("data-qsgd4-1", "`qsgd:bits=4`", ONE_SEED_GOAL),
    ("data-onebit-1", "`onebit`, error feedback", ONE_SEED_GOAL),
    ("data-onebit-plain-1", "`onebit` without it", None),
    ("data-float43-aps-1", "`float:e=4,m=3`, APS", None),
    ("data-float43-1", "`float:e=4,m=3` without it", None),
    ("data-float30-aps-1", "`float:e=3,m=0`, APS", None),
    ("data-float30-1", "`float:e=3,m=0` without it", None),
]


def one_seed_rows(folder):
    fp32 = last_error(folder / "data-fp32-1.jsonl")
    for name, title, goal in ONE_SEED:
        error = last_error(folder / f"{name}.jsonl")
        off = f"{error - fp32:+.2f}"
        print(f"| {title} | {error:.2f} | {off if goal is None else bold(off, error - fp32 <= goal)} |")


def print_accuracy(folder, machine_line):
    print("\n## Training: accuracy\n\nMade by `NARROWCAST_DATA=FOLDER scripts/bench training`: MNIST, D16's network "
          "(784-1024-1024-10, dropout), two workers of\n128 images each, 10 epochs, RMSProp at 0.0005 that falls by a "
          "tenth each epoch (the paper's 0.003, set-up `d16-literal`,\nleaves a higher error). Test error in percent "
          "after the last epoch. ± is half of a 95 % interval over three seeds. A bold\nfigure misses its goal: a mean of "
          "at most 1.7 %, less than 0.1 points from fp32.\n")
    print(machine_line(folder / "machine.json"))
    print("| parallelism | codec | seeds 1, 2, 3 | mean | against fp32 "
          "|\n|---|---|---|---:|---:|")
    for parallel in ("data", "model"):
        seeds_table(folder, parallel)
    print("\nIn model parallelism activations and error gradients travel in the codec. One seed each, data parallel; the "
          "goal for\n`qsgd` and `onebit` with feedback is 0.3 points. With (3,0) and without APS most gradients of this network lie "
          "below\nthe smallest number of the format, and training fails; with APS it does not:\n\n| codec | "
          "error | against fp32, seed 1 |\n|---|---:|---:|")
    one_seed_rows(folder)


def medians(rows):
    """Of the runs of each name."""
    names = {}
    for row in rows:
        names.setdefault(row["name"], []).append(row)
    return {name: {key: statistics.median(row[key] for row in same) for key in same[0] if key != "name"}
            for name, same in names.items()}


def ideal_ms(alone, row, rate):
    """A step whose compute costs what it costs alone and whose wire is busy whenever there is something to send."""
    wire = row["wire_bytes"] / LINKS[rate][1]
    return alone + max(wire * FIRST_BYTES, wire - alone * FIRST_WORK)


def ideal_cell(alone, row, rate):
    """Empty for runs that did not count their bytes."""
    if "wire_bytes" not in row:
        return ""
    times = row["step_ms"] / ideal_ms(alone, row, rate)
    return bold(f"{times:.2f}", times <= IDEAL_GOAL)


def speed_rows(found, rate):
    alone = found[f"{rate} alone"]["step_ms"]
    for name, row in found.items():
        if not name.startswith(rate + " "):
            continue
        codec = name.split(" ", 1)[1]
        ratio = row["step_ms"] / alone
        goal = SPEED_GOALS.get((rate, codec))
        shown = f"{ratio:.2f}" if goal is None else bold(f"{ratio:.2f}", ratio <= goal) + f" (goal {goal})"
        title = "no communication" if codec == "alone" else f"`{codec}`"
        print(f"| {title} | {row['step_ms']:.1f} | {shown} | {ideal_cell(alone, row, rate)} | {row['compute_ms']:.1f} | "
              f"{row['encode_ms']:.1f} | {row['wire_ms']:.1f} | {row['decode_ms']:.1f} | {row['wait_ms']:.1f} |")


def print_speed(folder, machine_line):
    found = medians([row for path in sorted(folder.glob("*.jsonl")) for row in records(path)])
    plain, ours = found["plain libtorch"]["step_ms"], found["plain ours"]["step_ms"]
    print("\n## Training: speed\n\nMade by the same command, after the accuracy: D16's network, batch 128 each, two hosts "
          "(`scripts/hosts`) of one core. Medians\nof three runs in turns, each the median of 180 steps (30 at 100 Mbit/s); `alone` are two "
          "processes on the two cores that do not talk.\n`ideal` is that step and the wire time that nothing can hide: the first "
          "layer's gradients leave when the backward pass is\nover, the others' may leave while those are made. The aim is a step "
          f"within {IDEAL_GOAL} of it on every link.\n")
    print(machine_line(folder / "machine.json"))
    for rate, (title, _) in LINKS.items():
        if f"{rate} alone" not in found:
            continue
        print(f"### {title}\n\n| codec | step ms | times no communication | times ideal | compute ms | encode ms | wire ms | decode ms "
              "| wait ms |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        speed_rows(found, rate)
        print()
    ratio = ours / plain
    print(f"One worker on one core takes {ours:.2f} ms a step, plain libtorch (`examples/libtorch_plain.cpp`) {plain:.2f} "
          f"ms: {bold(f'{ratio:.3f}', ratio <= PLAIN_GOAL)} times (goal {PLAIN_GOAL}).\n")
    print("What misses its goal does so because a host has one core. The network's own work, the thread that encodes "
          "and decodes,\nand Gloo's thread, most of whose time is the kernel's TCP and the waking of the other core "
          "(`perf`), cannot hide behind\neach other on it: `compute` has grown beside that of no communication where "
          "they have taken its time, and `wait` is what\nwas left to do and to send. Giving the computing thread a "
          "lower priority shortens the wait and lengthens the compute by\nas much.")


def print_training(folder, machine_line):
    if (folder / "training" / "data-fp32-1.jsonl").exists():
        print_accuracy(folder / "training", machine_line)
    if (folder / "speed" / "machine.json").exists():
        print_speed(folder / "speed", machine_line)
