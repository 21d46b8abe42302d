"""Calibration and what follows from it, by processes that really train.

    predict_test.py PROGRAM MODULES
"""

import json
import subprocess

import training
from training import PROGRAM, SMALL, environment, events, records, train


def narrowcast(*words):
    return subprocess.run(
        [PROGRAM, *words], env=environment(), capture_output=True, text=True, timeout=training.PATIENCE
    )


class Prediction(training.Training):
    def test_calibrates_advises_and_trains_by_the_plan(self):
        profile, plan = self.folder / "here.toml", self.folder / "plan.toml"
        done = narrowcast("calibrate", "--workers", "2", "--net", "mnist-mlp", "--net", "resnet20", "--batch", "16",
                          "--codec", "fp32,dynamic8", "--seconds", "0.2", "-o", str(profile))
        self.assertEqual((0, ""), (done.returncode, done.stdout), done.stderr)
        self.assertEqual(2, profile.read_text().count("[[model]]"))
        done = narrowcast("advise", "--net", "mnist-mlp", "--profile", str(profile), "--json", "-o", str(plan))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertGreater(json.loads(done.stdout)["step_ms"], 0)
        train(*SMALL, "--steps", "3", "--workers", "2", "--plan", str(plan))

    def test_finds_a_codec_by_itself(self):
        done = train(*SMALL, "--steps", "3", "--workers", "2", "--codec", "auto", "--shape", "50mbit", "--json", "-")
        self.assertIn("Compress: ", done.stderr)
        epoch = events(records(done.stdout), "epoch")[0]
        self.assertLess(epoch["wire_bytes"], epoch["fp32_bytes"])

    def test_refuses_auto_where_it_would_not_be_the_same_again(self):
        for words in (["--resume", "--checkpoint", str(self.folder)], ["--parallel", "model"]):
            done = train(*SMALL, "--workers", "2", "--codec", "auto", *words, check=False)
            self.assertEqual(2, done.returncode)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
            self.assertIn("--codec auto", done.stderr)


if __name__ == "__main__":
    training.main()
