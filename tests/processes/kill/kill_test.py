"""Kills one rank of a job at a random moment: the others have to end, and to name it.

    kill_test.py PROGRAM MODULES

There are NARROWCAST_KILL_POINTS [25] such points over each transport. A point is a number, and the
first one is NARROWCAST_KILL_SEED [0]; whoever is killed, and when, follows from it, as far as time
repeats itself. NARROWCAST_KILL_SHOW=1 shows what became of each.

What is asked for at every point:
- within two seconds the other ranks are gone, and nothing of the job is left a little later;
- the launcher ends with the code of a lost peer, 4;
- every line of complaint names the rank that was killed, and there is such a line.

A rank that dies before it has met the others is known to nobody but the launcher, which then may
end them. After that they have to notice by themselves: so the launcher is stopped meanwhile, and
each of them has to end with a code other than 0 and a complaint of its own.
"""

import dataclasses
import enum
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from ranks import ended, environment, is_group_alive, workers_of

PROGRAM, MODULES = sys.argv[1:3]
POINTS = int(os.environ.get("NARROWCAST_KILL_POINTS", "25"))
FIRST = int(os.environ.get("NARROWCAST_KILL_SEED", "0"))
SHOW = os.environ.get("NARROWCAST_KILL_SHOW") == "1"

ALGORITHMS = (["direct"], ["ring"], ["gather"], ["hierarchy", "--group", "2"])
RANKS = 3
PATIENCE = 2  # seconds for the others to be gone
LONGER = 20  # seconds after which we wait no more, and a hang is a failure
LOST_PEER = 4

# Nobody comes to the end of these before somebody is killed.
ENDLESS = ["-b", "4K", "-e", "4K", "-w", "1000000", "-n", "1"]
WARMING_UP = ["-b", "4", "-e", "4M", "-f", "2", "-w", "100", "-n", "1"]
MEASURING = ["-b", "4", "-e", "4M", "-f", "1048576", "-w", "0", "-n", "200"]


class Phase(enum.Enum):
    STARTING = "starting"  # the rank runs; perhaps the others do not yet
    MEETING = "meeting"  # all run; they join, agree and begin
    WARM_UP = "warm-up"  # of some size, after the row of the first one
    MEASURED = "measured"  # the same, but what is under way is measured


WORDS = {
    Phase.STARTING: ENDLESS,
    Phase.MEETING: ENDLESS,
    Phase.WARM_UP: WARMING_UP,
    Phase.MEASURED: MEASURING,
}
# Milliseconds from the beginning of a phase to the kill, at most.
SPREAD = {
    "shm": {Phase.STARTING: 8, Phase.MEETING: 30, Phase.WARM_UP: 200, Phase.MEASURED: 200},
    "gloo": {Phase.STARTING: 20, Phase.MEETING: 60, Phase.WARM_UP: 200, Phase.MEASURED: 200},
}


@dataclasses.dataclass
class Point:
    number: int
    transport: str

    def __post_init__(self):
        dice = random.Random(f"{self.transport} {self.number}")
        self.phase = list(Phase)[self.number % len(Phase)]
        self.victim = dice.randrange(RANKS)
        self.delay = dice.uniform(0, SPREAD[self.transport][self.phase]) / 1000
        self.algorithm = dice.choice(ALGORITHMS)

    def have_met(self):
        return self.phase in (Phase.WARM_UP, Phase.MEASURED)

    def words(self):
        words = ["bench", "allreduce", "--json", "--transport", self.transport]
        words += ["--workers", str(RANKS), "--algorithm", *self.algorithm]
        return words + WORDS[self.phase]

    def __str__(self):
        return (
            f"rank {self.victim} over {self.transport}, {self.algorithm[0]}, {self.phase.value} "
            f"+ {1000 * self.delay:.1f} ms (NARROWCAST_KILL_SEED={self.number} "
            f"NARROWCAST_KILL_POINTS=1)"
        )


def status_of(pid):
    """What a process that nobody has waited for yet has ended with: like os.wait()'s."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[-1])


class Job:
    def __init__(self, point):
        self.point = point
        self.ranks = {}  # rank: pid
        self.pidfds = {}  # rank: descriptor
        self.launcher = subprocess.Popen(
            [PROGRAM, *point.words()],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.end = os.pidfd_open(self.launcher.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.give_up()
        for pidfd in (self.end, *self.pidfds.values()):
            os.close(pidfd)

    def look_for(self, wanted):
        """Returns when these ranks run."""
        until = time.monotonic() + LONGER
        while not wanted <= self.ranks.keys():
            if ended([self.end], 0.0005) or time.monotonic() > until:
                raise RuntimeError(f"no ranks: {self.give_up()}")
            for rank, pid in workers_of(self.launcher.pid).items():
                if rank not in self.ranks:
                    self.pidfds[rank] = os.pidfd_open(pid)
                    self.ranks[rank] = pid

    def reach_moment(self):
        """Returns when the victim is to be killed."""
        self.look_for({self.point.victim})
        if self.point.phase is not Phase.STARTING:
            self.look_for(set(range(RANKS)))
        if self.point.have_met():
            self.launcher.stdout.readline()
        if ended([self.pidfds[self.point.victim]], self.point.delay):
            raise RuntimeError(f"the job ended before its time: {self.give_up()}")

    def give_up(self):
        """Returns what the job has said."""
        if self.launcher.poll() is None:
            os.killpg(self.launcher.pid, signal.SIGKILL)
        return self.launcher.communicate()[1]

    def stop_launcher(self):
        self.launcher.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.launcher.pid, os.WSTOPPED)


class KilledRank(unittest.TestCase):
    def kill(self, job):
        """Returns the seconds after which the others were gone."""
        point = job.point
        job.reach_moment()
        if point.have_met():
            job.stop_launcher()
        others = {rank: pid for rank, pid in job.ranks.items() if rank != point.victim}
        # The launcher ends after all of its ranks.
        ends = [job.pidfds[rank] for rank in others] if point.have_met() else [job.end]
        start = time.monotonic()
        signal.pidfd_send_signal(job.pidfds[point.victim], signal.SIGKILL)
        self.assertTrue(ended(ends, LONGER), f"still there after {LONGER} s")
        taken = time.monotonic() - start
        if point.have_met():
            self.expect_failed(others)
            job.launcher.send_signal(signal.SIGCONT)
        return taken

    def expect_failed(self, ranks):
        for rank, pid in ranks.items():
            status = status_of(pid)
            self.assertTrue(os.WIFEXITED(status), f"rank {rank} did not end by itself")
            self.assertNotEqual(0, os.WEXITSTATUS(status), f"rank {rank}")

    def expect_named(self, point, errors):
        speakers = set()
        self.assertNotEqual([], errors)
        for line in errors:
            found = re.fullmatch(r"(?:rank (\d+): )?narrowcast: (.*)", line)
            self.assertIsNotNone(found, line)
            self.assertRegex(found[2], rf"\brank {point.victim}\b")
            speakers.add(found[1])
        if point.have_met():
            others = {str(rank) for rank in range(RANKS) if rank != point.victim}
            self.assertEqual(others, speakers, errors)

    def expect_others_to_end(self, point):
        before = sorted(os.listdir("/dev/shm"))
        with Job(point) as job:
            taken = self.kill(job)
            _, err = job.launcher.communicate(timeout=LONGER)
        if SHOW:
            print(f"{taken:.3f} s: {point}", *err.splitlines(), sep="\n  ", flush=True)
        self.assertEqual(LOST_PEER, job.launcher.returncode, err)
        self.expect_named(point, err.splitlines())
        self.assertLess(taken, PATIENCE, f"seconds; {err}")
        self.assertFalse(is_group_alive(job.launcher.pid))
        self.assertEqual(before, sorted(os.listdir("/dev/shm")))

    def expect_others_to_end_at_all_points(self, transport):
        for number in range(FIRST, FIRST + POINTS):
            point = Point(number, transport)
            with self.subTest(str(point)):
                self.expect_others_to_end(point)

    def test_is_named_by_the_others_over_shared_memory(self):
        self.expect_others_to_end_at_all_points("shm")

    @unittest.skipUnless(
        pathlib.Path(MODULES, "narrowcast_gloo.so").exists(), "the gloo module is not built"
    )
    def test_is_named_by_the_others_over_gloo(self):
        self.expect_others_to_end_at_all_points("gloo")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
