"""What a process has: memory, descriptors, threads; and whether that grows."""

import dataclasses
import itertools
import os
import pathlib
import statistics

MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Sample:
    step: int
    memory: int  # bytes of its own
    shared: int  # bytes that it shares with other processes
    descriptors: int
    threads: int


def sample(pid, step):
    """None when the process is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return None
    status = dict(line.split(":", 1) for line in lines)
    if "RssAnon" not in status:  # it has ended, and nobody has waited for it yet
        return None
    kib = {name: int(status[name].split()[0]) for name in ("RssAnon", "RssShmem")}
    return Sample(step, 1024 * kib["RssAnon"], 1024 * kib["RssShmem"], descriptors,
                  int(status["Threads"]))


@dataclasses.dataclass(frozen=True)
class Allowed:
    """Bytes of memory over the steps that are looked at."""

    trend: int = 2 * MIB
    rise: int = 16 * MIB


@dataclasses.dataclass(frozen=True)
class Growth:
    """Over all steps but the first quarter, which is warming up.

    Memory rises in a few jumps even where nothing leaks, when more messages than ever before happen to be
    there at once. A leak rises steadily. So the trend is what counts, the median rise from one part of the
    steps to the next, which up to three jumps leave at nothing, and never more than what is left of it in
    the end; the rise itself has a wider bound.
    """

    steps: int
    trend: float
    rise: float
    shared: float  # trend of what is shared
    descriptors: int
    threads: int
    last: Sample

    def excess(self, allowed=Allowed()):
        """What grew, in words; nothing when all is flat. Descriptors and threads may not grow at all."""
        grown = []
        if max(self.trend, self.shared) > allowed.trend:
            grown.append(f"memory steadily by {max(self.trend, self.shared) / MIB:.1f} MiB")
        if self.rise > allowed.rise:
            grown.append(f"memory by {self.rise / MIB:.1f} MiB")
        for name in ("descriptors", "threads"):
            if getattr(self, name) > 0:
                grown.append(f"{name} by {getattr(self, name)}")
        return f"{', '.join(grown)} within {self.steps} steps" if grown else ""

    def figures(self):
        return {
            "steps": self.steps,
            "memory_trend": round(self.trend),
            "memory_rise": round(self.rise),
            "shared_trend": round(self.shared),
            "descriptor_growth": self.descriptors,
            "thread_growth": self.threads,
        } | {f"last_{name}": value for name, value in dataclasses.asdict(self.last).items()
             if name != "step"}


PARTS = 8


def trend(samples, name):
    """What it grows by over all parts, if the median rise from part to part is the rule: memory that goes up and
    down may rise more often than it falls, so the last part has to bear it out."""
    size = len(samples) / PARTS
    medians = [statistics.median(getattr(one, name) for one in samples[round(part * size): round((part + 1) * size)])
               for part in range(PARTS)]
    typical = statistics.median(after - before for before, after in itertools.pairwise(medians))
    return PARTS * min(typical, (medians[-1] - medians[0]) / (PARTS - 1))


def growth(samples):
    """Of one process; None when there are too few samples to tell. Of descriptors and threads the fewest
    count, because a file that is just being written is open only for a moment."""
    warm = [one for one in samples if one.step >= samples[0].step + (samples[-1].step - samples[0].step) / 4]
    if len(warm) < 2 * PARTS:
        return None
    early, late = warm[: len(warm) // 3], warm[-(len(warm) // 3):]

    def grew(name, middle):
        return middle(getattr(one, name) for one in late) - middle(getattr(one, name) for one in early)

    return Growth(
        steps=warm[-1].step - warm[0].step,
        trend=trend(warm, "memory"),
        rise=grew("memory", statistics.median),
        shared=trend(warm, "shared"),
        descriptors=grew("descriptors", min),
        threads=grew("threads", min),
        last=samples[-1],
    )
