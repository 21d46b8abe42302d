"""The training that is soaked, how it is started, and where it is told of."""

import json
import random
import time

from leg import Leg

WORKERS = 4
EVERY = 5  # steps from checkpoint to checkpoint
SEED = 5  # of the training
# Codecs with randomness and with residuals, which a checkpoint has to keep.
PLAN = """\
fusion = "1MiB"

[[rule]]
tensors = "*fc2*"
codec = "onebit:column=512"
feedback = true

[[rule]]
tensors = "*"
codec = "qsgd:bits=4"
"""


class Log:
    """A line for people, a JSON line for programs."""

    def __init__(self, file):
        self.begun = time.monotonic()
        self.file = open(file, "w", buffering=1)

    def seconds(self):
        return time.monotonic() - self.begun

    def tell(self, text, **facts):
        minutes, seconds = divmod(int(self.seconds()), 60)
        print(f"{minutes:3}:{seconds:02}  {text}", flush=True)
        self.file.write(json.dumps({"at": round(self.seconds(), 2)} | facts) + "\n")


class Setting:
    def __init__(self, options, folder):
        self.program = options.program
        self.modules = options.modules
        self.timeout = options.timeout  # seconds after which a silent rank counts as lost
        self.folder = folder
        self.tmp = folder / "tmp"
        self.tmp.mkdir()
        self.plan = folder / "plan.toml"
        self.plan.write_text(PLAN)
        self.key = folder / "job.key"
        self.key.touch(mode=0o600)
        self.key.write_bytes(random.Random(options.seed).randbytes(32))

    def start(self, name, *words, harm="", limit=None):
        """A leg of the training, with these words more. `harm` is for worse_gloo.cpp."""
        command = [
            self.program, "train", "--net", "mnist-mlp", "--data", "synthetic", "--no-test",
            "--batch", "8", "--seed", str(SEED), "--workers", str(WORKERS), "--epochs", "100000",
            "--plan", str(self.plan), "--set", "hash_every=10", "--checkpoint-every", str(EVERY),
            "--timeout", str(self.timeout), "--json", "-", *words,
        ]
        variables = {"NARROWCAST_MODULES": str(self.modules), "TMPDIR": str(self.tmp)}
        if harm:
            variables["NARROWCAST_SOAK"] = harm
        return Leg(command, self.folder / name, variables, limit)
