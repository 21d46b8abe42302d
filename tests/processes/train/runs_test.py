"""Whole training runs: golden losses, equal replicas, equal results however many workers share them.

    runs_test.py PROGRAM MODULES

NARROWCAST_GOLDEN=write writes the golden losses anew.
"""

import json
import os
import pathlib

import training
from training import SMALL, events, final_hash, losses, run

GOLDEN = pathlib.Path(__file__).parent / "golden_losses.json"
CODECS = ["fp32", "dynamic8", "qsgd:bits=4", "onebit:column=512"]


class Runs(training.Training):
    # OpenBLAS picks its kernels by CPU: hence not bit for bit.
    def test_has_the_golden_losses_in_fp32(self):
        found = losses(run(*SMALL, "--steps", "10", "--workers", "2", "--seed", "3"))
        if os.environ.get("NARROWCAST_GOLDEN") == "write":
            GOLDEN.write_text(json.dumps(found, indent=1) + "\n")
        expected = json.loads(GOLDEN.read_text())
        self.assertEqual(10, len(found))
        for step, (here, there) in enumerate(zip(found, expected, strict=True)):
            self.assertAlmostEqual(here, there, delta=1e-4 * there, msg=f"step {step + 1}")

    def test_repeats_itself_bit_for_bit(self):
        words = [*SMALL, "--steps", "12", "--codec", "qsgd:bits=4"]
        self.assertEqual(final_hash(run(*words)), final_hash(run(*words)))

    # An OpenBLAS that does not know the CPU's model would take kernels without AVX.
    def test_multiplies_with_the_instructions_of_this_cpu(self):
        kernels = events(run(*SMALL, "--steps", "1"), "config")[0]["blas"]
        if "avx2" in pathlib.Path("/proc/cpuinfo").read_text().split():
            self.assertNotIn(kernels, ["Prescott", "Nehalem", "Sandybridge"])

    def test_another_seed_is_another_run(self):
        words = [*SMALL, "--steps", "3"]
        self.assertNotEqual(
            final_hash(run(*words, "--seed", "1")), final_hash(run(*words, "--seed", "2"))
        )

    # Replicas are compared after every step; a difference would end the run.
    def test_replicas_are_equal_after_every_step(self):
        for codec in CODECS:
            with self.subTest(codec):
                lines = run(*SMALL, "--steps", "8", "--codec", codec, "--workers", "3",
                            "--set", "hash_every=1")
                self.assertEqual(8, events(lines, "summary")[0]["steps"])

    def test_two_workers_do_what_one_does_with_twice_the_batch(self):
        words = ["--net", "mnist-mlp", "--data", "synthetic", "--no-test", "--steps", "10",
                 "--set", "dropout=false"]
        one = losses_of_all(run(*words, "--workers", "1", "--batch", "32"))
        two = losses_of_all(run(*words, "--workers", "2", "--batch", "16"))
        self.assertAlmostEqual(one, two, delta=1e-3 * one)

    def test_model_parallel_does_what_one_worker_does(self):
        words = ["--net", "mnist-mlp", "--data", "synthetic", "--no-test", "--steps", "10",
                 "--set", "dropout=false"]
        one = losses(run(*words, "--workers", "1", "--batch", "32"))
        two = losses(run(*words, "--workers", "2", "--batch", "16", "--parallel", "model"))
        for here, there in zip(one, two, strict=True):
            self.assertAlmostEqual(here, there, delta=1e-3 * here)

    def test_hybrid_trains_with_overlapping_sub_batches(self):
        lines = run("--net", "cifar-conv", "--data", "synthetic", "--parallel", "hybrid",
                    "--codec", "dynamic8", "--batch", "16", "--steps", "4", "--no-test",
                    "--set", "sub_batches=4", "--set", "hash_every=1")
        self.assertEqual(4, events(lines, "summary")[0]["steps"])

    def test_low_precision_sends_less(self):
        sent = {}
        for codec in CODECS:
            lines = run(*SMALL, "--steps", "2", "--codec", codec)
            sent[codec] = events(lines, "summary")[0]["wire_bytes"]
            fp32 = events(lines, "summary")[0]["fp32_bytes"]
            # Besides the gradients a few bytes of agreement travel at every step.
            self.assertLess(abs(sent["fp32"] - fp32), 100)
        for wider, narrower in zip(CODECS, CODECS[1:]):
            self.assertLess(sent[narrower], 0.6 * sent[wider])

    def test_learns(self):
        lines = run("--net", "mnist-mlp", "--data", "synthetic", "--codec", "dynamic8",
                    "--epochs", "2")
        self.assertLess(events(lines, "epoch")[-1]["test_error"], 10)


def losses_of_all(lines):
    """The mean over all ranks of all steps: a step's record has rank 0's loss only."""
    return events(lines, "epoch")[-1]["train_loss"]


if __name__ == "__main__":
    training.main()
