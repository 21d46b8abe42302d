"""Trains on four processes while everything goes wrong, and expects the weights of a run that was left alone.

scripts/soak starts it; --help says what it does.
"""

import hashlib
import os
import pathlib
import random
import re
import signal
import statistics
import sys
import tempfile
import time

import disk
from calm import run_calmly
from course import Checkpoints, Course
from faults import FAULTS, FAULTS_BY_NAME, PAUSES, Scene, interrupt
from leg import Broken
from options import parse
from procfs import MIB
from setting import EVERY, WORKERS, Log, Setting

LINKS = (None, None, "1gbit,200us", "200mbit,1ms")
GUARDS = ((), (), ("--key-file", "{key}"), ("--key-file", "{key}", "--encrypt"))


class Soak:
    def __init__(self, options, folder):
        self.options = options
        self.setting = Setting(options, folder)
        self.log = Log(folder / "soak.jsonl")
        self.dice = random.Random(options.seed)
        self.disk = disk.Disk(folder / "checkpoints")
        self.course = Course(Checkpoints(folder / "checkpoints"), EVERY)
        self.legs = 0
        self.struck = {}  # how often, by name
        self.start_up = 0.0  # seconds until the first step

    def kept(self):
        return ["--checkpoint", str(self.course.checkpoints.folder), "--resume"]

    # Calm legs, to know how fast it goes.

    def get_acquainted(self):
        for transport in ("shm", "gloo"):
            self.legs += 1
            self.course.begin_leg()
            with self.setting.start(f"leg-{self.legs}", "--transport", transport, *self.kept()) as leg:
                scene = self.scene(leg)
                scene.follow(1)
                self.start_up = time.monotonic() - leg.begun
                begun = time.monotonic()
                scene.follow(3 * EVERY)
                pace = (time.monotonic() - begun) / (3 * EVERY)
                interrupt(scene)
                self.end(FAULTS_BY_NAME["interrupt"], scene)
            self.log.tell(
                f"over {transport}: {self.start_up:.1f} s to start, "
                f"{1000 * pace:.0f} ms a step, "
                f"checkpoints of {self.course.checkpoints.size() / MIB:.0f} MiB",
                event="calm", transport=transport, step_s=pace,
                start_s=self.start_up, checkpoint_bytes=self.course.checkpoints.size(),
            )

    # Legs with faults.

    def scene(self, leg):
        return Scene(leg, self.course, self.dice, self.disk, self.dice.randrange(WORKERS),
                     self.options.timeout)

    def harm(self, fault, rank):
        if not fault.harm:
            return ""
        likely = self.dice.choice((0.02, 0.005, 0.002))
        return f"{rank} {fault.harm} {self.dice.randrange(1 << 32)} {likely}"

    def run_leg(self, fault):
        self.legs += 1
        rank = self.dice.randrange(WORKERS)
        transport = self.dice.choice(fault.transports)
        link = self.dice.choice(LINKS)
        guard = [word.format(key=self.setting.key) for word in self.dice.choice(GUARDS)]
        if fault.fills_disk and not self.disk.is_own:
            transport = "gloo"  # shm has a file of its own, which the limit is too small for
            self.disk.fill(self.course.checkpoints.size() // 2)
        words = ["--transport", transport, *(["--shape", link] if link else []), *guard, *fault.words]
        self.course.begin_leg()
        first = self.course.first
        if self.options.plant == "wrong-resume" and self.legs == 4:
            words += ["--set", "optimiser.rate=0.002"]
        with self.setting.start(f"leg-{self.legs}", *words, *self.kept(), harm=self.harm(fault, rank),
                                limit=self.disk.limiter()) as leg:
            scene = self.scene(leg)
            scene.rank = rank
            pauses = [] if self.waits_from_start(fault) else self.pause(scene)
            moment = self.reach_moment(fault, scene)
            deed = fault.strike(scene)
            began = time.monotonic()
            complaints, code = self.end(fault, scene)
        self.disk.free()
        self.struck[fault.name] = self.struck.get(fault.name, 0) + 1
        where = " ".join([transport, link or "unshaped", *(["sealed"] if guard else [])])
        self.log.tell(
            f"leg {self.legs}, {where}, from step {first}: {'; '.join([*pauses, deed])} {moment} "
            f"-> exit {code} at step {self.course.reached}",
            event="fault", leg=self.legs, fault=fault.name, rank=rank, transport=transport, link=link,
            sealed=guard[2:] or guard[:1], pauses=pauses, deed=deed, moment=moment, first_step=first,
            step=self.course.reached, exit=code, ended_after_s=round(time.monotonic() - began, 3),
            complaints=complaints,
        )

    def waits_from_start(self, fault):
        """Whether the leg was started with the fault in it."""
        return fault.harm or (fault.fills_disk and not self.disk.is_own)

    def pause(self, scene):
        """Stops that hurt nobody, before the fault that ends the leg."""
        told = []
        while self.dice.random() < 0.4:
            fault = self.dice.choice(PAUSES)
            self.reach_moment(fault, scene)
            told.append(fault.strike(scene))
            self.struck[fault.name] = self.struck.get(fault.name, 0) + 1
            if not scene.follow(2):
                raise Broken(f"{told[-1]}, and the run ended: {scene.leg.said()}")
        return told

    def reach_moment(self, fault, scene):
        """Waits for a random moment, and names it."""
        kind = self.dice.choice(("start", "step", "step", "checkpoint"))
        if self.waits_from_start(fault):
            return "from the start"
        if kind == "start" and fault.starting and scene.course.reached == scene.course.first:
            seconds = self.dice.uniform(0, 1.5 * self.start_up)
            time.sleep(max(0.0, scene.leg.begun + seconds - time.monotonic()))
            return f"{seconds:.2f} s after its start"
        steps = self.dice.randrange(1, 2 * self.options.steps_a_leg)
        if kind == "checkpoint":
            steps += -(scene.course.reached + steps) % EVERY
        if not scene.follow(steps):
            raise Broken(f"{scene.leg.log.name} ended before its time: {scene.leg.said()}")
        milliseconds = self.dice.uniform(0, 40)
        time.sleep(milliseconds / 1000)
        return f"{milliseconds:.0f} ms after step {scene.course.reached}"

    def end(self, fault, scene):
        """What has to come of a fault that has struck."""
        scene.drain()
        code = scene.leg.finish()
        complaints = scene.leg.complaints()
        if code not in fault.codes:
            raise Broken(f"{scene.leg.log.name}: {fault.name} of rank {scene.rank}: exit {code}, "
                         f"not {fault.codes}: {complaints}")
        pattern = fault.says.format(rank=scene.rank)
        if pattern and not any(re.search(pattern, line) for line in complaints):
            raise Broken(f"{scene.leg.log.name}: no word of '{pattern}': {complaints}")
        pattern = fault.each_says.format(rank=scene.rank)
        if not all(re.search(pattern, line) for line in complaints):
            raise Broken(f"{scene.leg.log.name}: not all speak of '{pattern}': {complaints}")
        return [line.replace(f"{self.setting.folder}/", "") for line in complaints], code

    def damage(self):
        deed = self.course.damage(self.dice)
        if not deed:
            return
        self.struck["damaged-checkpoint"] = self.struck.get("damaged-checkpoint", 0) + 1
        self.log.tell(deed, event="damage", deed=deed)

    # Runs without faults: the truth, and whether anything grows.

    def calm_seconds(self):
        """What the undisturbed runs will take, and the checkpoints in them."""
        return 2 * 1.2 * self.course.told * statistics.median(self.course.step_ms) / 1000

    def run_calmly(self, transport, steps):
        harm = "1 leak 20" if self.options.plant == "leak" else ""
        wish = {"steps": steps, "losses": self.course.losses, "harm": harm}
        return run_calmly(self.setting, self.log, transport, wish)

    def finish_course(self, steps):
        """The last leg, to that step: its hash and its weights."""
        weights = self.setting.folder / "weights.safetensors"
        self.course.begin_leg()
        with self.setting.start("last", "--steps", str(steps), "--weights", str(weights), *self.kept()) as leg:
            scene = self.scene(leg)
            found = scene.until("summary")["replica_hash"]
            scene.drain()
            if (code := leg.finish()) != 0:
                raise Broken(f"the last leg: exit {code}: {leg.said()}")
        self.expect_nothing_left()
        return found, weights.read_bytes()

    def expect_nothing_left(self):
        for what, left in (
            ("the folder of checkpoints", self.course.checkpoints.leftovers()),
            ("TMPDIR", sorted(os.listdir(self.setting.tmp))),
            ("/dev/shm", sorted(os.listdir("/dev/shm")) if self.disk.is_own else []),
        ):
            if left:
                raise Broken(f"left behind in {what}: {left}")

    # All of it.

    def faults(self):
        """In random order, all before any comes again."""
        chosen = [fault for fault in FAULTS if not self.options.only or fault.name in self.options.only]
        while True:
            self.dice.shuffle(chosen)
            yield from chosen
            if self.options.short:
                return

    def is_time_up(self):
        left = 60 * self.options.minutes - self.log.seconds()
        return not self.options.short and left < self.calm_seconds()

    def run(self):
        self.log.tell(
            f"seed {self.options.seed}; a full disk is {self.disk.describe()}; logs in {self.setting.folder}",
            event="start", seed=self.options.seed, minutes=self.options.minutes, disk=self.disk.describe(),
        )
        self.get_acquainted()
        for fault in self.faults():
            self.run_leg(fault)
            if self.dice.random() < 0.15 or self.legs == 5:
                self.damage()
            if self.is_time_up():
                break
        steps = max(self.course.told, self.options.fewest_steps)
        found = self.finish_course(steps)
        for transport in ("gloo", "shm"):
            self.compare(found, self.run_calmly(transport, steps), transport)
        return found[0], steps

    def compare(self, found, truth, transport):
        if found != truth:
            raise Broken(
                f"the weights differ from those of an undisturbed run over {transport}: replicas "
                f"{found[0]} and {truth[0]}, files {hashlib.sha256(found[1]).hexdigest()[:16]} and "
                f"{hashlib.sha256(truth[1]).hexdigest()[:16]}"
            )


def main():
    options = parse(sys.argv[1:])
    disk.enter_namespace()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="narrowcast-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    soak = Soak(options, folder.resolve())
    # Ends the leg that is under way, like Ctrl-C: it has a session of its own.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        found, steps = soak.run()
    except Broken as broken:
        soak.log.tell(f"soak: FAILED: {broken} (seed {options.seed}, logs in {folder})",
                      event="end", good=False, why=str(broken))
        return 1
    except KeyboardInterrupt:
        soak.log.tell("soak: interrupted", event="end", good=False, why="interrupted")
        return 130
    finally:
        soak.disk.empty()
    count = sum(soak.struck.values())
    soak.log.tell(
        f"soak: ok: {count} faults in {soak.legs} legs, {steps} steps and {soak.course.repeated} of them "
        f"again; the weights are those of undisturbed runs (replica hash {found}), and nothing grew",
        event="end", good=True, faults=soak.struck, legs=soak.legs, steps=steps,
        repeated=soak.course.repeated, replica_hash=found,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
