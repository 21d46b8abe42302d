"""Runs jobs under the mpirun of one MPI, and looks at how they end.

    jobs_test.py openmpi|mpich PROGRAMS MODULES

PROGRAMS is the folder of mpi_contract, mpi_rank and mpi_host_<mpi>; MODULES that of the modules.
Exits with 77 when that MPI, the module for it, or the programs are not there.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

MPI = sys.argv[1]
PROGRAMS, MODULES = map(pathlib.Path, sys.argv[2:4])
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}[MPI]
MPIRUN = shutil.which(f"mpirun.{MPI}")

SKIPPED = 77
PATIENCE = 120  # seconds, for a job that should end by itself

# The ranks of mpi_rank give each other up after 2 seconds. Then they print their line, let go of
# what is under way (at most a second), and the launcher ends what is left.
TIMEOUT = 2
CLEARING = 6

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SLURM_")},
    "NARROWCAST_MODULES": str(MODULES),
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def has_module(mpi):
    return (MODULES / f"narrowcast_{mpi}.so").exists()


def why_not():
    if MPIRUN is None:
        return f"there is no mpirun.{MPI}"
    if not has_module(MPI):
        return f"narrowcast was built without {MPI}"
    if not (PROGRAMS / "mpi_rank").exists():
        return "the programs of these tests were not built"
    return None


def job(ranks, program, *words, before=()):
    launcher = [MPIRUN, "-n", str(ranks)]
    if MPI == "openmpi":
        launcher.append("--oversubscribe")
    start = time.monotonic()
    result = subprocess.run(
        [*launcher, *before, PROGRAMS / program, *words],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=PATIENCE,
    )
    result.seconds = time.monotonic() - start
    return result


class Jobs(unittest.TestCase):
    def expect_success(self, result):
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        self.assertEqual("", result.stderr)

    def expect_failure(self, result, line):
        self.assertNotEqual(0, result.returncode, result.stdout)
        self.assertIn(line, result.stderr)

    def test_keep_the_contract_on_2_ranks(self):
        self.expect_success(job(2, "mpi_contract"))

    def test_keep_the_contract_on_5_ranks(self):
        result = job(5, "mpi_contract")
        self.expect_success(result)
        self.assertIn("CarriesAllToAll", result.stdout)

    def test_end_well_when_nothing_happens(self):
        result = job(3, "mpi_rank", "meet")
        self.expect_success(result)
        self.assertEqual(
            ["rank 0 of 3", "rank 1 of 3", "rank 2 of 3"], sorted(result.stdout.splitlines())
        )

    def test_end_when_a_rank_is_killed(self):
        result = job(3, "mpi_rank", "killed")
        self.assertIn("rank 2 of 3", result.stdout)
        self.assertNotEqual(0, result.returncode)
        self.assertLess(result.seconds, TIMEOUT + CLEARING)

    def test_end_when_a_rank_falls_silent(self):
        result = job(3, "mpi_rank", "stopped")
        self.expect_failure(result, f"error: rank 2 has been silent for {TIMEOUT} s\n")
        self.assertLess(result.seconds, TIMEOUT + CLEARING)

    def test_end_when_a_rank_breaks_off(self):
        result = job(3, "mpi_rank", "broken")
        self.expect_failure(result, "error: this rank breaks on purpose\n")
        self.assertLess(result.seconds, TIMEOUT + CLEARING)

    def test_take_messages_that_nobody_has_asked_for(self):
        self.expect_success(job(3, "mpi_rank", "stubborn"))

    @unittest.skipUnless(os.environ.get("NARROWCAST_LONG"), "takes 4 GB: set NARROWCAST_LONG=1")
    def test_carry_more_bytes_than_an_int_counts(self):
        self.expect_success(job(2, "mpi_rank", "huge"))

    def test_run_inside_a_host_program_that_uses_mpi(self):
        self.expect_success(job(2, f"mpi_host_{MPI}"))

    def test_refuse_a_host_program_without_threads(self):
        self.expect_failure(job(2, f"mpi_host_{MPI}", "single"), "MPI_THREAD_MULTIPLE")

    @unittest.skipUnless(has_module(OTHER), f"narrowcast was built without {OTHER}")
    def test_refuse_the_launcher_of_another_mpi(self):
        variables = {
            "openmpi": ["OMPI_COMM_WORLD_SIZE=2"],
            "mpich": ["-u", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE=2"],
        }[OTHER]
        result = job(2, "mpi_rank", "meet", before=["env", *variables])
        self.expect_failure(result, f"error: the launcher started 2 ranks, but {OTHER} sees 1")


if __name__ == "__main__":
    if reason := why_not():
        print(reason)
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], "--verbose"])
