"""What the soak looks at, it sees: growth of a process, and a course that is not what it was.

    checks_test.py PROGRAM MODULES
"""

import dataclasses
import os
import pathlib
import random
import sys
import tempfile
import unittest

from course import CHECKPOINT, Checkpoints, Course
from leg import Broken
from procfs import MIB, Sample, growth, sample


def samples(count=41, **grown):
    """Of a process whose `grown` things become more by so much with every step."""
    flat = {"memory": 100 * MIB, "shared": 4 * MIB, "descriptors": 20, "threads": 5}
    return [
        Sample(step, **{name: value + int(grown.get(name, 0) * step) for name, value in flat.items()})
        for step in range(1, count + 1)
    ]


def with_memory(those, amount):
    return [dataclasses.replace(one, memory=one.memory + amount(one.step)) for one in those]


class Growing(unittest.TestCase):
    def test_is_nothing_where_all_is_flat(self):
        self.assertEqual("", growth(samples()).excess())

    def test_is_seen_in_every_thing(self):
        for name, amount, said in (
            ("memory", MIB / 10, "memory steadily by 3"),
            ("shared", MIB / 10, "memory steadily by 3"),
            ("descriptors", 1 / 20, "descriptors by 1"),
            ("threads", 1 / 20, "threads by 1"),
        ):
            with self.subTest(name):
                self.assertIn(said, growth(samples(**{name: amount})).excess())

    def test_a_leak_now_and_then_is_seen(self):
        leaking = with_memory(samples(), lambda step: step // 5 * MIB)
        self.assertIn("memory steadily by", growth(leaking).excess())

    def test_a_few_jumps_are_no_leak_unless_they_are_large(self):
        for size, said in ((4 * MIB, ""), (20 * MIB, "memory by 20.0 MiB within 30 steps")):
            with self.subTest(said):
                jumping = with_memory(samples(), lambda step: size * (step > 26))
                self.assertEqual(said, growth(jumping).excess())

    def test_memory_that_goes_up_and_down_is_no_leak(self):
        # Four of seven parts rise over the one before, and in the end next to nothing is left of it.
        zigzag = with_memory(samples(), lambda step: (0, 3, 0, 3, 0, 3, 0, 1)[(step - 1) * 8 // 41] * MIB)
        self.assertEqual("", growth(zigzag).excess())

    def test_warming_up_is_not_growing(self):
        warm = samples()
        cold = [Sample(one.step, MIB, 0, 3, 1) for one in warm[:9]]
        self.assertEqual("", growth([*cold, *warm[9:]]).excess())

    def test_a_file_that_is_open_for_a_moment_is_no_leak(self):
        those = samples()
        those[-1] = dataclasses.replace(those[-1], descriptors=21)
        self.assertEqual("", growth(those).excess())

    def test_too_few_samples_tell_nothing(self):
        self.assertIsNone(growth(samples(count=5)))

    def test_reads_what_this_process_has(self):
        before = sample(os.getpid(), 1)
        with open("/dev/null"):
            during = sample(os.getpid(), 2)
        self.assertEqual(1, during.descriptors - before.descriptors)
        self.assertGreater(before.memory, MIB)


class Following(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.course = Course(Checkpoints(self.folder), every=5)

    def save(self, step):
        """As the program does: a whole file takes the place of what was there."""
        whole = self.folder / "whole"
        whole.write_bytes(bytes(100))
        whole.rename(self.folder / CHECKPOINT.format(step))

    def start(self, first_step, notes=()):
        self.course.note({"event": "config", "first_step": first_step, "notes": list(notes)})

    def steps(self, *numbers, loss=0.5):
        for number in numbers:
            self.course.note({"event": "step", "step": number, "loss": loss / number, "step_ms": 1})

    def test_goes_on_from_the_newest_checkpoint(self):
        self.start(0)
        self.steps(1, 2, 3, 4, 5, 6)
        self.save(5)
        self.course.begin_leg()
        self.start(5)
        self.steps(6, 7)
        self.assertEqual(1, self.course.repeated)

    def test_a_lost_checkpoint_is_seen(self):
        self.start(0)
        self.steps(1, 2, 3, 4, 5, 6)
        with self.assertRaisesRegex(Broken, "checkpoint 5 is lost"):
            self.course.begin_leg()

    def test_a_start_from_elsewhere_is_seen(self):
        self.save(5)
        self.course.begin_leg()
        with self.assertRaisesRegex(Broken, "goes on from step 0, not 5"):
            self.start(0)

    def test_a_step_that_is_not_repeated_bit_for_bit_is_seen(self):
        self.start(0)
        self.steps(1, 2)
        self.course.begin_leg()
        self.start(0)
        with self.assertRaisesRegex(Broken, "step 1 had a loss of 0.5"):
            self.steps(1, loss=0.5000000001)

    def test_a_step_that_is_left_out_is_seen(self):
        self.start(0)
        with self.assertRaisesRegex(Broken, "step 3 follows step 1"):
            self.steps(1, 3)

    def test_a_damaged_checkpoint_may_be_written_again(self):
        self.save(5)
        self.save(10)
        self.course.damage(random.Random(1))
        self.course.begin_leg()
        self.start(5, notes=[f"{CHECKPOINT.format(10)} is damaged"])
        self.steps(6, 7, 8, 9, 10)  # and no step tells that the checkpoint is there
        self.save(10)
        self.course.begin_leg()
        self.assertEqual(10, self.course.first)
        self.start(10)

    def test_a_damaged_checkpoint_has_to_be_told_of(self):
        self.save(5)
        self.save(10)
        self.course.sure = 10
        self.course.damage(random.Random(1))
        self.course.begin_leg()
        with self.assertRaisesRegex(Broken, "damaged checkpoint 10"):
            self.start(5)
        self.start(5, notes=[f"{CHECKPOINT.format(10)} is damaged"])
        self.steps(6, 7)
        self.course.begin_leg()
        self.assertEqual(5, self.course.first)  # the damaged one is still there

    def test_a_damaged_checkpoint_before_the_newest_is_nobodys_business(self):
        self.save(5)
        self.save(8)
        self.course.damage(random.Random(1))
        self.course.begin_leg()
        self.start(5, notes=[f"{CHECKPOINT.format(8)} is damaged"])
        self.steps(6, 7, 8, 9, 10)
        self.save(10)
        self.course.begin_leg()
        self.start(10)  # the newest is good: no other is read


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
