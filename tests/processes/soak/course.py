"""What is known of a training over all its legs, and must stay true."""

import collections
import pathlib

from leg import Broken

CHECKPOINT = "checkpoint-{:012}.safetensors"


class Checkpoints:
    """The folder of checkpoints, as it is seen from outside."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._harmed = {}  # by step, what tells the damaged file from one that was written in its place

    def steps(self):
        found = self.folder.glob("checkpoint-*.safetensors")
        return sorted(int(file.name.split("-")[1].split(".")[0]) for file in found)

    def damaged(self):
        return [step for step in self.steps() if self._harmed.get(step) == self._mark(step)]

    def good(self):
        return sorted(set(self.steps()) - set(self.damaged()))

    def _mark(self, step):
        found = (self.folder / CHECKPOINT.format(step)).stat()
        return found.st_ino, found.st_mtime_ns, found.st_size

    def newest_good(self):
        return max(self.good(), default=0)

    def size(self):
        """Bytes of the newest one."""
        return (self.folder / CHECKPOINT.format(self.steps()[-1])).stat().st_size

    def damage_newest(self, dice):
        """Flips a bit of the newest good one, or cuts its end off; returns what was done."""
        step = self.newest_good()
        file = self.folder / CHECKPOINT.format(step)
        content = bytearray(file.read_bytes())
        where = dice.randrange(len(content))
        if dice.random() < 0.5:
            del content[where:]
            deed = f"cut checkpoint {step} off at byte {where}"
        else:
            content[where] ^= 1 << dice.randrange(8)
            deed = f"flipped a bit in byte {where} of checkpoint {step}"
        file.write_bytes(content)
        self._harmed[step] = self._mark(step)
        return deed

    def leftovers(self):
        return [file.name for file in self.folder.iterdir()
                if not file.name.startswith("checkpoint-")]


class Course:
    def __init__(self, checkpoints, every):
        self.checkpoints = checkpoints
        self.every = every
        self.losses = {}  # by step, as first told
        self.reached = 0
        self.sure = 0  # the checkpoint of this step is written, or a later one is
        self.first = 0  # of this leg
        self.told = 0  # steps, those that were done again among them
        self.repeated = 0
        self.step_ms = collections.deque(maxlen=200)  # of late

    def begin_leg(self):
        """Looks at what the next start will find."""
        self.first = self.reached = self.checkpoints.newest_good()
        if self.first < self.sure:
            raise Broken(f"checkpoint {self.sure} is lost, the newest is {self.first}")

    def damage(self, dice):
        """Harms the newest checkpoint, unless it is the only one; returns what was done."""
        if len(self.checkpoints.good()) < 2:
            return ""
        deed = self.checkpoints.damage_newest(dice)
        self.sure = self.checkpoints.newest_good()
        return deed

    def note(self, record):
        """A record of the run: whatever it repeats must be as it was."""
        if record["event"] == "config":
            self._started(record)
        elif record["event"] == "step":
            self._stepped(record)
        elif record["event"] == "summary":
            self.sure = record["steps"]

    def _started(self, record):
        if record["first_step"] != self.first:
            raise Broken(f"goes on from step {record['first_step']}, not {self.first}")
        newer = [step for step in self.checkpoints.damaged() if step > self.first]  # others are not read
        for step in newer:
            if CHECKPOINT.format(step) not in " ".join(record["notes"]):
                raise Broken(f"says nothing of the damaged checkpoint {step}: {record['notes']}")

    def _stepped(self, record):
        step, loss = record["step"], record["loss"]
        if step != self.reached + 1:
            raise Broken(f"step {step} follows step {self.reached}")
        if self.losses.setdefault(step, loss) != loss:
            raise Broken(f"step {step} had a loss of {self.losses[step]!r}, and now has {loss!r}")
        self.repeated += self.told >= step
        self.told = max(self.told, step)
        self.reached = step
        self.step_ms.append(record["step_ms"])
        # A step is told of before its checkpoint is written.
        self.sure = max(self.sure, (step - 1) // self.every * self.every)
