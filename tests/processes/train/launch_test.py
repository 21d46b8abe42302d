"""Training that somebody else has started: torchrun's environment, MPI's launchers; and from a pack.

    launch_test.py PROGRAM MODULES
"""

import pathlib
import shutil
import socket
import subprocess

import training
from training import PROGRAM, SMALL, command, environment, events, final_hash, records, run

ORANGE = pathlib.Path(__file__).resolve().parents[2] / "golden" / "data" / "orange-8x8.jpg"
STEPS = [*SMALL, "--steps", "3", "--codec", "dynamic8", "--json", "-"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Launch(training.Training):
    def setUp(self):
        super().setUp()
        self.alone = final_hash(run(*STEPS[:-2], "--workers", "2"))

    def expect_same(self, text):
        """Whoever starts the ranks and whatever carries their messages, the weights are the same."""
        self.assertEqual(self.alone, final_hash(records(text)))

    def test_runs_in_the_environment_of_torchrun(self):
        port = str(free_port())
        ranks = [
            subprocess.Popen(
                command(*STEPS),
                env=environment() | {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank),
                                     "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
                                     "NARROWCAST_PORT": port},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for rank in range(2)
        ]
        results = [rank.communicate(timeout=training.PATIENCE) for rank in ranks]
        self.assertEqual([0, 0], [rank.returncode for rank in ranks], results)
        self.expect_same(results[0][0])
        self.assertEqual("", results[1][0])

    def launch(self, *launcher):
        if shutil.which(launcher[0]) is None:
            self.skipTest(f"there is no {launcher[0]}")
        done = subprocess.run([*launcher, *command(*STEPS)], env=environment(), capture_output=True, text=True,
                              timeout=training.PATIENCE)
        self.assertEqual(0, done.returncode, done.stderr)
        self.expect_same(done.stdout)

    def test_runs_under_open_mpi(self):
        self.launch("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2")

    def test_runs_under_mpich(self):
        self.launch("mpiexec.mpich", "-n", "2")

    def test_trains_from_a_pack_of_jpegs(self):
        for name in ("orange", "again"):
            (self.folder / "images" / name).mkdir(parents=True)
            for number in range(20):
                shutil.copy(ORANGE, self.folder / "images" / name / f"{number}.jpg")
        pack = self.folder / "images.pack"
        subprocess.run([PROGRAM, "data", "pack", str(self.folder / "images"), "-o", str(pack)], check=True,
                       capture_output=True, env=environment(), timeout=training.PATIENCE)
        lines = run("--net", "mnist-mlp", "--data", str(pack), "--batch", "8", "--epochs", "1", "--workers", "2")
        self.assertEqual(2, events(lines, "summary")[0]["steps"])


if __name__ == "__main__":
    training.main()
