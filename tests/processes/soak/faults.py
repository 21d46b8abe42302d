"""The faults: what is done, and what has to come of it. A new one is a row in FAULTS."""

import dataclasses
import signal
import time
from collections.abc import Callable

from leg import Broken
from procfs import sample

WIRE, PEER, SYSTEM = 3, 4, 5  # exit codes, docs/architecture.md


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    strike: Callable  # of a Scene; returns what was done, in words
    codes: tuple = ()  # exit codes that the leg may end with; none: it goes on
    says: str = ""  # a regular expression for one of its complaints; {rank} is the victim
    each_says: str = ""  # the same, for all of them
    transports: tuple = ("shm", "gloo")
    starting: bool = True  # whether it may strike before the first step
    words: tuple = ()  # options of the leg
    harm: str = ""  # what the module for worse links is to do: flip, truncate, ...
    fills_disk: bool = False


@dataclasses.dataclass
class Scene:
    """Where a fault strikes."""

    leg: object
    course: object
    dice: object
    disk: object
    rank: int  # the victim
    timeout: float  # seconds after which the ranks count a silent one as lost

    def follow(self, steps):
        """Reads records until so many further steps are told of; False when the run ends before."""
        while steps > 0:
            record = self.leg.next()
            if record is None:
                return False
            self.course.note(record)
            steps -= record["event"] == "step"
        return True

    def drain(self):
        while (record := self.leg.next()) is not None:
            self.course.note(record)

    def until(self, event):
        while (record := self.leg.next()) is not None:
            if record["event"] == event:
                return record
            self.course.note(record)
        raise Broken(f"{self.leg.log.name}: ended without '{event}': {self.leg.said()}")


def kill_rank(scene):
    scene.leg.send(scene.rank, signal.SIGKILL)
    return f"killed rank {scene.rank}"


def kill_launcher(scene):
    scene.leg.send(None, signal.SIGKILL)
    return "killed the launcher"


def stop_rank(scene):
    scene.leg.send(scene.rank, signal.SIGSTOP)
    return f"stopped rank {scene.rank} for good"


def _pause(scene, rank, name):
    seconds = scene.dice.uniform(0.02, 0.5) * scene.timeout
    scene.leg.send(rank, signal.SIGSTOP)
    time.sleep(seconds)
    scene.leg.send(rank, signal.SIGCONT)
    return f"stopped {name} for {seconds:.1f} s"


def pause_rank(scene):
    return _pause(scene, scene.rank, f"rank {scene.rank}")


def pause_launcher(scene):
    return _pause(scene, None, "the launcher")


def interrupt(scene):
    what = scene.dice.choice((signal.SIGINT, signal.SIGTERM))
    scene.leg.send(None, what)
    return f"asked it to stop by {what.name}"


def fill_disk(scene):
    if scene.disk.is_own:
        scene.disk.fill(scene.course.checkpoints.size() // 2)
    return "filled the disk"


def wait_for_harm(scene):
    return f"harm done to messages of rank {scene.rank}"


KILLS = 3


def kill_ranks_again_and_again(scene):
    """The launcher starts anew by itself, and has no more descriptors and threads than before."""
    counts = []
    for _ in range(KILLS):
        launcher = sample(scene.leg.launcher.pid, scene.course.reached)
        counts.append((launcher.descriptors, launcher.threads))
        scene.leg.send(scene.dice.randrange(4), signal.SIGKILL)
        scene.until("fault")
        scene.course.begin_leg()
        scene.course.note(scene.until("config"))
        scene.follow(scene.dice.randrange(2, 6))
    if len(set(counts)) != 1:
        raise Broken(f"descriptors and threads of the launcher after each restart: {counts}")
    scene.leg.send(None, signal.SIGTERM)
    return f"killed {KILLS} ranks, each after a restart, and asked it to stop"


STOPPED = (128 + signal.SIGINT, 128 + signal.SIGTERM)
NAMED = r"\brank {rank}\b"

FAULTS = (
    Fault("kill-rank", kill_rank, (PEER,), NAMED, NAMED),
    Fault("kill-launcher", kill_launcher, (-signal.SIGKILL,)),
    Fault("silent-rank", stop_rank, (PEER,), NAMED, NAMED),
    Fault("interrupt", interrupt, STOPPED, starting=False),
    Fault("restarts", kill_ranks_again_and_again, STOPPED, rf"restart {KILLS} of", starting=False,
          words=("--restarts", "9")),
    Fault("full-disk", fill_disk, (SYSTEM,), r"No space left|File too large", starting=False,
          fills_disk=True),
    Fault("flipped-bits", wait_for_harm, (WIRE,), NAMED, transports=("gloo",), harm="flip"),
    Fault("cut-messages", wait_for_harm, (WIRE,), NAMED, transports=("gloo",), harm="truncate"),
    Fault("repeated-messages", wait_for_harm, (WIRE,), NAMED, transports=("gloo",), harm="repeat"),
)

FAULTS_BY_NAME = {fault.name: fault for fault in FAULTS}

# These hurt nobody: the run goes on, and another fault ends it.
PAUSES = (Fault("pause-rank", pause_rank), Fault("pause-launcher", pause_launcher))
