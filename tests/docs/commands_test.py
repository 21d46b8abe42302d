"""Types what the pages for newcomers show, in order, in a folder like a fresh checkout after a build.

    commands_test.py PROGRAM MODULES

A command is run as it is shown, or as the table below has it where that would take minutes. A command that the
table does not know fails the test: whoever shows one says here how it is tried.
"""

import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from pages import ROOT, commands

PROGRAM, MODULES = map(pathlib.Path, sys.argv[1:3])
PAGES = [
    "README.md",
    "docs/quick-start.md",
    "docs/when-not-to-compress.md",
    "docs/model-parallelism.md",
    "docs/clusters.md",
]
DEADLINE = 240  # seconds: a hang becomes a failure

AS_SHOWN = None
# Few values and few iterations.
FEW = "-b 1K -e 4K -n 2 -w 0"
# Where a shorter one stands beside a command, the words that make it long are other ones.
TRIED = {
    # Tried by whoever runs this test, and by scripts/test --long.
    "scripts/demo": "scripts/demo --help",
    "scripts/test": "scripts/test --help",
    # scripts/wheel builds the package in an environment like this one, and installs it in another.
    "scripts/setup build": "scripts/setup --help",
    "python3 -m venv venv && venv/bin/pip install .": "python3 -m venv venv && venv/bin/pip --version",
    "build/narrowcast codecs": AS_SHOWN,
    "build/narrowcast encode dynamic8 < grad.f32 > grad.ncf": AS_SHOWN,
    "build/narrowcast inspect grad.ncf": AS_SHOWN,
    "build/narrowcast decode < grad.ncf > back.f32": AS_SHOWN,
    "build/narrowcast bench codec --sizes 1M,25M": "build/narrowcast bench codec --sizes 1K,25K --min-time 0",
    "build/narrowcast errors --dist normal": "build/narrowcast errors --dist normal --samples 4K",
    "build/narrowcast doctor": AS_SHOWN,
    "build/narrowcast calibrate --workers 2 --net mnist-mlp -o here.toml":
        "build/narrowcast calibrate --workers 2 --net mnist-mlp -o here.toml --seconds 0.5",
    "build/narrowcast advise --net mnist-mlp --profile here.toml -o plan.toml": AS_SHOWN,
    "build/narrowcast advise --net mnist-mlp --profile here.toml": AS_SHOWN,
    "build/narrowcast predict --net resnet50 --profile ethernet-10g --workers 2..64 --html page.html": AS_SHOWN,
    "build/narrowcast train --workers 2 --codec dynamic8": AS_SHOWN,
    "build/narrowcast train --net resnet20 --data cifar10 --plan plan.toml --checkpoint kept --restarts 5": AS_SHOWN,
    "build/narrowcast train --net resnet20 --data cifar10 --codec qsgd:bits=4 --epochs 20 --json run.jsonl": AS_SHOWN,
    "build/narrowcast train --parallel model --codec dynamic8 --json run.jsonl": AS_SHOWN,
    "build/narrowcast curves run.jsonl --html run.html": AS_SHOWN,
    "build/narrowcast nets": AS_SHOWN,
    "build/narrowcast data pack FOLDER -o images.pack": AS_SHOWN,
    "build/narrowcast bench allreduce --workers 4 --codec dynamic8 --codec qsgd:bits=4":
        f"build/narrowcast bench allreduce --workers 4 --codec dynamic8 --codec qsgd:bits=4 {FEW}",
    "mpirun -n 4 build/narrowcast bench allreduce --codec engine --codec dynamic8":
        f"mpirun -n 4 build/narrowcast bench allreduce --codec engine --codec dynamic8 {FEW}",
    "build/narrowcast bench allreduce --hosts hosts.txt --codec engine --codec onebit:column=512":
        f"build/narrowcast bench allreduce --hosts hosts.txt --codec engine --codec onebit:column=512 {FEW}",
    "build/narrowcast errors allreduce": "build/narrowcast errors allreduce --ranks 4 --values 1K",
    "build/narrowcast study run studies/quick.toml -o quick":
        "build/narrowcast study run studies/quick.toml -o quick --only paper --only errors",
    "build/narrowcast study report quick": AS_SHOWN,
    "narrowcast train --parallel model --codec dynamic8": AS_SHOWN,
    # Its network takes minutes a step here.
    "narrowcast train --net alexnet --parallel hybrid --codec dynamic8 --set sub_batches=4":
        "narrowcast train --net cifar-conv --parallel hybrid --codec dynamic8 --set sub_batches=4",
    # Slurm itself is not here: mpirun stands for it where MPI does.
    'srun narrowcast train --net resnet50 --data "$DATA" --plan plan.toml --checkpoint "$SCRATCH/points" --resume':
        'mpirun -n 2 narrowcast train --data synthetic --plan plan.toml --checkpoint "$SCRATCH/points" --resume',
    'mkdir "$SCRATCH/meeting-$SLURM_JOB_ID"': AS_SHOWN,
    "srun sh -c 'RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS narrowcast train --codec dynamic8 "
    '--rendezvous "file://$SCRATCH/meeting-$SLURM_JOB_ID"\'': AS_SHOWN,
    "narrowcast calibrate --workers 2 --net resnet20 -o here.toml":
        "narrowcast calibrate --workers 2 --net resnet20 --batch 16 -o here.toml --seconds 0.5",
    "narrowcast advise --net resnet20 --profile here.toml": AS_SHOWN,
}

# Runs of two steps of few images; the words of the command line stay those of the page.
SMALL_RUNS = {
    "NARROWCAST_TRAIN_STEPS": "2",
    "NARROWCAST_TRAIN_BATCH": "4",
    "NARROWCAST_TRAIN_TEST": "false",
}
LAUNCHED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_cifar10(folder):
    """Six files in the layout of CIFAR-10, of forty images each."""
    folder.mkdir(parents=True)
    names = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]
    for name in names:
        images = (bytes([image % 10]) + bytes((image * 7 + at) % 256 for at in range(3072)) for image in range(40))
        (folder / name).write_bytes(b"".join(images))


def make_script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def furnish(folder):
    """What the commands find beside them: what a build leaves, and what a reader is told to bring."""
    (folder / "build").mkdir()
    for name in ("scripts", "studies"):
        (folder / name).symlink_to(ROOT / name)
    # Both ways to call it that pages use.
    for name in ("build/narrowcast", "narrowcast"):
        (folder / name).symlink_to(PROGRAM)
    (folder / "grad.f32").write_bytes(struct.pack("<1000f", *(0.001 * i for i in range(1000))))
    for number in range(10):
        orange = folder / "FOLDER" / "orange" / f"{number}.jpg"
        orange.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests/golden/data/orange-8x8.jpg", orange)
    make_cifar10(folder / "data" / "cifar10")
    (folder / "hosts.txt").write_text("127.0.0.1\nlocalhost\n")
    (folder / "plan.toml").write_text('rule = [ { tensors = "*", codec = "dynamic8" } ]\n')
    # It does what ssh does with its words, without going anywhere.
    make_script(folder / "agent", 'shift\ncd / && eval "exec env -i PATH=$PATH $*"')
    # And this what srun does, on one node.
    make_script(
        folder / "srun",
        'export SLURM_NTASKS=2 SLURM_TASKS_PER_NODE=2\n'
        'SLURM_PROCID=1 SLURM_LOCALID=1 "$@" & SLURM_PROCID=0 SLURM_LOCALID=0 "$@" && wait $!',
    )


def environment(folder):
    kept = {key: value for key, value in os.environ.items() if key not in LAUNCHED}
    return kept | SMALL_RUNS | {
        "PATH": f"{folder}:{kept['PATH']}",
        "NARROWCAST_MODULES": str(MODULES),
        "NARROWCAST_DATA": str(folder / "data"),
        "NARROWCAST_RSH": str(folder / "agent"),
        "NARROWCAST_PORT": str(free_port()),
        "GLOO_SOCKET_IFNAME": "lo",
        "SCRATCH": str(folder),
        "SLURM_JOB_ID": "7",
        # For Open MPI, which starts four ranks on two cores, and for root, only when told to.
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


class Commands(unittest.TestCase):
    maxDiff = None

    def type_in(self, command, folder):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", TRIED[command] or command],
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        self.assertEqual(0, done.returncode, f"{command}\n{done.stdout[-2000:]}\n{done.stderr}")

    def test_of_every_page_work_in_the_order_they_are_shown(self):
        for page in PAGES:
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                furnish(folder)
                for command in commands(ROOT / page):
                    with self.subTest(page=page, command=command):
                        self.assertIn(command, TRIED, "say in commands_test.py how it is tried")
                        self.type_in(command, folder)
                if page == "README.md":
                    before, after = ((folder / name).stat().st_size for name in ("grad.f32", "back.f32"))
                    self.assertEqual(before, after)
                    self.assertGreater((folder / "page.html").stat().st_size, 1000)
                    self.assertGreater((folder / "run.html").stat().st_size, 1000)
                    self.assertTrue((folder / "quick" / "report.html").exists())

    def test_that_are_tried_are_shown(self):
        shown = {command for page in PAGES for command in commands(ROOT / page)}
        self.assertEqual(set(), TRIED.keys() - shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
