"""The example, as its first lines say it is started."""

import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
EXAMPLE = os.path.join(ROOT, "examples", "ddp_mnist.py")
DATA = "/usr/share/datasets/fashion-mnist"


def run(*words):
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*torchrun, EXAMPLE, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=environment,
    )


@pytest.mark.skipif(not os.path.isdir(DATA), reason="apt-get install dataset-fashion-mnist")
@pytest.mark.parametrize(("plan", "ratio"), (("dynamic8", 3.5), ("auto", 1.0)))
def test_the_example_learns(plan, ratio):
    done = run("--plan", plan, "--epochs", "2", "--images", "12800")
    assert done.returncode == 0, done.stderr
    right, fewer = re.fullmatch(r"(.*) % right, (.*) times fewer bytes\n", done.stdout).groups()
    assert float(right) > 75
    assert float(fewer) >= ratio
    if plan == "dynamic8":
        assert "narrowcast: dynamic8 for 2 tensors (99.3 % of 235,146 values)" in done.stderr


def test_the_example_is_short():
    with open(EXAMPLE, encoding="utf-8") as file:
        assert len(file.readlines()) <= 60
