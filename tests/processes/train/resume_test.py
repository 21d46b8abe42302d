"""Checkpoints: a run that was stopped goes on as if it never had been.

    resume_test.py PROGRAM MODULES
"""

import json
import pathlib
import signal
import subprocess

import training
from training import SMALL, command, environment, events, final_hash, records, run

LAST = "40"
GOLDEN = pathlib.Path(__file__).parents[2] / "golden/formats"


def checkpoints(folder):
    return sorted(folder.glob("checkpoint-*.safetensors"))


def held_in(checkpoint):
    """A line for each text and each array of it, as tests/golden/formats has them."""
    content = checkpoint.read_bytes()
    start = 8
    header = json.loads(content[start : start + int.from_bytes(content[:start], "little")])
    texts = header.pop("__metadata__")
    arrays = (f"{name} {each['dtype']} {each['shape']}" for name, each in header.items())
    return [*sorted(texts), *sorted(arrays)]


class Resume(training.Training):
    def words(self, *more):
        return [*SMALL, "--steps", LAST, "--codec", "onebit:column=512", *more]

    def undisturbed(self):
        return final_hash(run(*self.words()))

    def test_goes_on_bit_for_bit(self):
        kept = ["--checkpoint", str(self.folder / "kept")]
        run(*self.words(*kept)[: len(SMALL)], "--steps", "17", "--codec", "onebit:column=512", *kept)
        lines = run(*self.words(*kept, "--resume"))
        self.assertEqual(17, events(lines, "config")[0]["first_step"])
        self.assertEqual(self.undisturbed(), final_hash(lines))

    def test_finds_what_checkpoints_have_always_held(self):
        """By its name, type and shape: an array of another name is lost to those who have old checkpoints."""
        for net, optimiser, momentum in (("mnist-mlp", "sgd", "0.9"), ("resnet20", "adam", "0")):
            with self.subTest(net):
                folder = self.folder / net
                words = ["--net", net, *SMALL[2:], "--workers", "2", "--codec", "onebit:column=512",
                         "--set", f"optimiser.name={optimiser}",
                         "--set", f"optimiser.momentum={momentum}", "--checkpoint", str(folder)]
                run(*words, "--steps", "2")
                golden = (GOLDEN / f"checkpoint.{net}.txt").read_text().splitlines()
                self.assertEqual(golden, held_in(checkpoints(folder)[-1]))
                lines = run(*words, "--steps", "3", "--resume")
                self.assertEqual(2, events(lines, "config")[0]["first_step"])
                self.assertEqual(golden, held_in(checkpoints(folder)[-1]))

    def test_goes_on_in_model_parallel(self):
        words = [*SMALL, "--parallel", "model", "--codec", "dynamic8"]
        kept = ["--checkpoint", str(self.folder / "kept")]
        whole = str(self.folder / "whole.safetensors")
        again = str(self.folder / "again.safetensors")
        run(*words, "--steps", "20", "--weights", whole)
        run(*words, "--steps", "9", *kept)
        run(*words, "--steps", "20", *kept, "--resume", "--weights", again)
        self.assertEqual(pathlib.Path(whole).read_bytes(), pathlib.Path(again).read_bytes())

    def test_goes_on_with_another_number_of_workers(self):
        kept = ["--checkpoint", str(self.folder)]
        run(*SMALL, "--steps", "10", "--codec", "onebit:column=512", "--workers", "2", *kept)
        lines = run(*SMALL, "--steps", "14", "--codec", "onebit:column=512", "--workers", "4",
                    "--resume", "--set", "hash_every=1", *kept)
        self.assertGreater(events(lines, "config")[0]["first_step"], 0)

    def test_never_goes_back_to_the_steps_of_another_number_of_workers(self):
        """Four workers take half as many steps for the same images: theirs have smaller numbers."""
        kept = ["--checkpoint", str(self.folder)]
        run(*SMALL, "--steps", "10", "--workers", "2", *kept)
        run(*SMALL, "--steps", "7", "--workers", "4", "--resume", *kept)
        lines = run(*SMALL, "--steps", "9", "--workers", "4", "--resume", *kept)
        self.assertEqual(7, events(lines, "config")[0]["first_step"])

    def test_tells_of_every_epoch_though_it_ends_with_a_checkpoint(self):
        """Stopped right after the checkpoint of an epoch's last step, it has been told of already."""
        kept = ["--checkpoint", str(self.folder), "--checkpoint-every", "4"]
        lines = run(*SMALL, "--steps", "8", "--workers", "2", *kept)
        self.assertEqual(1, len(events(lines, "epoch")))
        lines = run(*SMALL, "--steps", "8", "--workers", "2", "--resume", *kept)
        self.assertEqual(8, events(lines, "summary")[0]["steps"])

    def test_passes_over_a_damaged_checkpoint(self):
        kept = ["--checkpoint", str(self.folder), "--checkpoint-every", "6"]
        run(*self.words(*kept)[: len(SMALL)], "--steps", "18", "--codec", "onebit:column=512", *kept)
        newest = checkpoints(self.folder)[-1]
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        lines = run(*self.words(*kept, "--resume"))
        config = events(lines, "config")[0]
        self.assertEqual(12, config["first_step"])
        self.assertIn(newest.name, config["notes"][0])
        self.assertEqual(self.undisturbed(), final_hash(lines))

    def test_refuses_when_no_checkpoint_is_good(self):
        kept = ["--checkpoint", str(self.folder), "--checkpoint-every", "6"]
        run(*SMALL, "--steps", "12", *kept)
        for file in checkpoints(self.folder):
            file.write_bytes(file.read_bytes()[:1000])
        self.expect_refused(3, "checkpoint", *SMALL, "--steps", "14", *kept, "--resume")

    def test_refuses_a_checkpoint_of_another_run(self):
        kept = ["--checkpoint", str(self.folder)]
        run(*SMALL, "--steps", "2", *kept)
        self.expect_refused(2, "seed", *SMALL, "--steps", "4", "--seed", "9", *kept, "--resume")

    def test_does_not_mix_two_runs_in_one_folder(self):
        kept = ["--checkpoint", str(self.folder)]
        run(*SMALL, "--steps", "2", *kept)
        self.expect_refused(2, "earlier run", *SMALL, "--steps", "4", *kept)

    def test_interrupted_it_leaves_a_good_checkpoint(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(how.name):
                folder = self.folder / how.name
                words = [*SMALL, "--codec", "dynamic8", "--checkpoint", str(folder)]
                job = subprocess.Popen(
                    command(*words, "--epochs", "50", "--json", "-"),
                    env=environment(), stdout=subprocess.PIPE, text=True,
                )
                seen = [job.stdout.readline() for _ in range(20)]
                job.send_signal(how)
                rest, _ = job.communicate(timeout=training.PATIENCE)
                self.assertEqual(128 + how, job.returncode)
                summary = events(records("".join(seen) + rest), "summary")[0]
                self.assertTrue(summary["stopped"])
                step = summary["steps"]
                lines = run(*words, "--steps", str(step + 5), "--resume")
                self.assertEqual(step, events(lines, "config")[0]["first_step"])
                self.assertEqual(
                    final_hash(run(*SMALL, "--codec", "dynamic8", "--steps", str(step + 5))),
                    final_hash(lines),
                )


if __name__ == "__main__":
    training.main()
