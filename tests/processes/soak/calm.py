"""Runs without faults: the truth, and whether anything grows."""

import shutil

from course import Checkpoints, Course
from leg import Broken
from procfs import MIB, growth, sample
from setting import EVERY, WORKERS

SAMPLES = 400  # of a rank


def run_calmly(setting, log, transport, wish):
    """`wish` has the steps, the losses that they must have, and harm to be done. Returns the replicas' hash and
    the weights."""
    folder = setting.folder / f"calm-{transport}"
    folder.mkdir()
    weights = folder / "weights.safetensors"
    course = Course(Checkpoints(folder / "checkpoints"), EVERY)
    course.losses = dict(wish["losses"])
    words = ["--transport", transport, "--steps", str(wish["steps"]), "--weights", str(weights),
             "--checkpoint", str(course.checkpoints.folder)]
    samples = {rank: [] for rank in range(WORKERS)}
    every = max(1, wish["steps"] // SAMPLES)
    with setting.start(f"calm-{transport}", *words, harm=wish["harm"]) as leg:
        while (record := leg.next()) is not None:
            course.note(record)
            if record["event"] == "step" and record["step"] % every == 0:
                take_samples(leg, samples, record["step"])
            if record["event"] == "summary":
                found = record["replica_hash"]
        if (code := leg.finish()) != 0:
            raise Broken(f"undisturbed, over {transport}: exit {code}: {leg.said()}")
    judge_growth(log, transport, samples)
    content = weights.read_bytes()
    shutil.rmtree(folder)
    return found, content


def take_samples(leg, samples, step):
    for rank, pid in leg.ranks().items():
        if one := sample(pid, step):
            samples[rank].append(one)


def judge_growth(log, transport, samples):
    grown = []
    for rank, those in samples.items():
        found = growth(those)
        if found is None:
            raise Broken(f"too few samples of rank {rank} over {transport}: {len(those)}")
        log.tell(
            f"over {transport}, rank {rank}: {found.last.memory / MIB:.1f} MiB of memory, trend "
            f"{found.trend / MIB:+.2f}, rise {found.rise / MIB:+.2f}; {found.last.descriptors} descriptors, "
            f"{found.last.threads} threads; {found.steps} steps",
            event="growth", transport=transport, rank=rank, **found.figures(),
        )
        if text := found.excess():
            grown.append(f"rank {rank} over {transport} has grown: {text}")
    if grown:
        raise Broken("; ".join(grown))
