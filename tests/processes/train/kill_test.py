"""Kills a worker at random steps: with --restarts the run ends with the weights of an undisturbed one.

    kill_test.py PROGRAM MODULES

NARROWCAST_KILL_POINTS [20] is how often.
"""

import os
import random
import signal
import subprocess

import training
from training import SMALL, command, environment, events, final_hash, records, run, workers_of

POINTS = int(os.environ.get("NARROWCAST_KILL_POINTS", "20"))
STEPS = 30
WORDS = [*SMALL, "--steps", str(STEPS), "--codec", "onebit:column=512", "--checkpoint-every", "4"]


class KilledWorker(training.Training):
    def test_is_replaced_and_nothing_is_lost(self):
        undisturbed = final_hash(run(*WORDS[:-2]))
        for number in range(POINTS):
            dice = random.Random(number)
            step, victim = dice.randrange(1, STEPS - 1), dice.randrange(2)
            with self.subTest(f"rank {victim} after step {step}"):
                lines = self.killed(self.folder / str(number), step, victim)
                self.assertEqual(1, len(events(lines, "fault")), lines[-1])
                self.assertIn(f"rank {victim}", events(lines, "fault")[0]["text"])
                self.assertEqual(STEPS, events(lines, "summary")[0]["steps"])
                self.assertEqual(undisturbed, final_hash(lines))

    def killed(self, folder, step, victim):
        job = subprocess.Popen(
            command(*WORDS, "--checkpoint", str(folder), "--restarts", "2", "--json", "-"),
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        seen = [job.stdout.readline() for _ in range(step + 1)]  # config, and that many steps
        os.kill(workers_of(job.pid)[victim], signal.SIGKILL)
        rest, err = job.communicate(timeout=training.PATIENCE)
        self.assertEqual(0, job.returncode, err)
        return records("".join(seen) + rest)

    def test_ends_the_run_without_restarts(self):
        job = subprocess.Popen(
            command(*SMALL, "--epochs", "1000", "--json", "-"),
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(5):
            job.stdout.readline()
        os.kill(workers_of(job.pid)[1], signal.SIGKILL)
        _, err = job.communicate(timeout=training.PATIENCE)
        self.assertEqual(4, job.returncode)
        self.assertIn("rank 1", err)


if __name__ == "__main__":
    training.main()
