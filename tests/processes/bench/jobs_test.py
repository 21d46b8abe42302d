"""Runs `narrowcast bench ...` on ranks that are processes.

    jobs_test.py PROGRAM MODULES
"""

import json
import os
import pathlib
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from ranks import environment

PROGRAM, MODULES = sys.argv[1:3]
QUICK = ["-b", "1K", "-e", "16K", "-n", "2", "-w", "1", "--json"]
DEADLINE = 120  # seconds: a hang becomes a failure


def has_module(name):
    return pathlib.Path(MODULES, f"narrowcast_{name}.so").exists()


def run(*words, env=None, before=(), folder=None):
    return subprocess.run(
        [*before, PROGRAM, *words],
        env=environment(env),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children(pid):
    found = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sorted(int(child) for child in found)


class Bench(unittest.TestCase):
    def rows(self, done):
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("", done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def expect_sound(self, done, transport, ranks, sizes=3):
        rows = self.rows(done)
        self.assertEqual(sizes, len(rows))
        for row in rows:
            self.assertEqual(0, row["wrong"])
            self.assertEqual(transport, row["transport"])
            self.assertEqual(ranks, row["ranks"])

    def test_starts_ranks_over_shared_memory(self):
        for ranks in (2, 3):
            done = run("bench", "allreduce", "--workers", str(ranks), *QUICK)
            self.expect_sound(done, "shm", ranks)

    def test_starts_two_ranks_when_nobody_says_how_many(self):
        self.expect_sound(run("bench", "sendrecv", *QUICK), "shm", 2)

    @unittest.skipUnless(has_module("gloo"), "the gloo module is not built")
    def test_starts_ranks_over_gloo(self):
        for ranks in (2, 3):
            done = run(
                "bench", "allreduce", "--transport", "gloo", "--workers", str(ranks), *QUICK
            )
            self.expect_sound(done, "gloo", ranks)

    @unittest.skipUnless(has_module("gloo"), "the gloo module is not built")
    def test_measures_the_engine_beside_codecs(self):
        codecs = ["--codec", "engine", "--codec", "dynamic8"]
        done = run("bench", "allreduce", "--transport", "gloo", *codecs, *QUICK)
        rows = self.rows(done)
        self.assertEqual(["engine", "dynamic8"] * 3, [row["codec"] for row in rows])
        for engine, codec in zip(rows[::2], rows[1::2]):
            self.assertEqual(1, engine["speedup"])
            self.assertAlmostEqual(engine["time_us"] / codec["time_us"], codec["speedup"])

    @unittest.skipUnless(has_module("gloo"), "the gloo module is not built")
    def test_is_a_rank_where_torchrun_says_so(self):
        place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "NARROWCAST_PORT": str(free_port())}
        words = [PROGRAM, "bench", "broadcast", *QUICK]
        other = subprocess.Popen(
            words, env=environment(place | {"RANK": "1"}), stdout=subprocess.PIPE, text=True
        )
        first = run(*words[1:], env=place | {"RANK": "0"})
        out, _ = other.communicate(timeout=DEADLINE)
        self.expect_sound(first, "gloo", 2)
        self.assertEqual("", out)
        self.assertEqual(0, other.returncode)

    @unittest.skipUnless(has_module("gloo"), "the gloo module is not built")
    def test_meets_in_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [PROGRAM, "bench", "allreduce", "--rendezvous", f"file://{folder}", *QUICK]
            place = {"WORLD_SIZE": "2"}
            other = subprocess.Popen(
                words, env=environment(place | {"RANK": "1"}), stdout=subprocess.PIPE, text=True
            )
            first = run(*words[1:], env=place | {"RANK": "0"})
            out, _ = other.communicate(timeout=DEADLINE)
        self.expect_sound(first, "gloo", 2)
        self.assertEqual(("", 0), (out, other.returncode))

    @unittest.skipUnless(has_module("gloo"), "the gloo module is not built")
    def test_refuses_ranks_that_were_asked_for_something_else(self):
        place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "NARROWCAST_PORT": str(free_port())}
        words = ["bench", "broadcast", *QUICK]
        other = subprocess.Popen(
            [PROGRAM, *words, "--seed", "8"],
            env=environment(place | {"RANK": "1"}),
            stderr=subprocess.PIPE,
            text=True,
        )
        first = run(*words, "--seed", "7", env=place | {"RANK": "0"})
        _, err = other.communicate(timeout=DEADLINE)
        self.assertEqual((4, 4), (first.returncode, other.returncode), first.stderr + err)
        self.assertIn("rank 1 differs in seed", first.stderr)

    @unittest.skipUnless(has_module("gloo"), "the gloo module is not built")
    def test_starts_ranks_on_hosts(self):
        for algorithm in ("direct", "hierarchy"):
            with tempfile.TemporaryDirectory() as folder:
                # It does what ssh does with its words, without going anywhere: nothing of the
                # environment comes along, and the folder is another one.
                agent = pathlib.Path(folder, "agent")
                agent.write_text(
                    '#!/bin/sh\necho "$1" >> "$0.log"\nshift\necho "$*" >> "$0.words"\n'
                    'cd / && eval "exec env -i PATH=$PATH $*"\n'
                )
                agent.chmod(0o755)
                hosts = pathlib.Path(folder, "hosts")
                hosts.write_text("# two and one\n127.0.0.1 2\nme@localhost\n")
                key = pathlib.Path(folder, "key")
                key.write_text("5a" * 32)
                key.chmod(0o600)
                variables = {
                    "NARROWCAST_RSH": str(agent),
                    "NARROWCAST_PORT": str(free_port()),
                    "NARROWCAST_MODULES": os.path.relpath(MODULES, folder),
                    "GLOO_SOCKET_IFNAME": "lo",
                }
                words = ["bench", "allreduce", "--hosts", "hosts", "--algorithm", algorithm]
                if algorithm == "direct":
                    words += ["--key-file", "key"]
                else:
                    variables["NARROWCAST_KEY_FILE"] = "key"
                done = run(*words, *QUICK, env=variables, folder=folder)
                self.expect_sound(done, "gloo", 3)
                self.assertEqual({"key"}, {row["sealing"] for row in self.rows(done)})
                for line in pathlib.Path(folder, "agent.words").read_text().splitlines():
                    self.assertIn(" GLOO_SOCKET_IFNAME=lo ", line)
                    self.assertIn(" NARROWCAST_MODULES=/", line)
                asked = sorted(pathlib.Path(folder, "agent.log").read_text().split())
                self.assertEqual(["127.0.0.1", "127.0.0.1", "me@localhost"], asked)

    def expect_jobs_under(self, mpirun):
        launcher = shutil.which(mpirun)
        if launcher is None:
            self.skipTest(f"{mpirun} is not installed")
        # MPI libraries never free some of what they start with.
        words = ["env", "ASAN_OPTIONS=detect_leaks=0", launcher, "-n", "2"]
        if "openmpi" in mpirun:
            words += ["--allow-run-as-root", "--oversubscribe"]
        done = run("bench", "allreduce", "--codec", "engine", *QUICK, before=words)
        self.assertEqual(0, done.returncode, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(3, len(rows))
        for row in rows:
            self.assertEqual(("mpi", 2, 0), (row["transport"], row["ranks"], row["wrong"]))

    @unittest.skipUnless(has_module("openmpi"), "the Open MPI module is not built")
    def test_is_a_rank_under_open_mpi(self):
        self.expect_jobs_under("mpirun.openmpi")

    @unittest.skipUnless(has_module("mpich"), "the MPICH module is not built")
    def test_is_a_rank_under_mpich(self):
        self.expect_jobs_under("mpirun.mpich")

    def expect_death_is_named(self, transport):
        words = ["bench", "allreduce", "--transport", transport, "--workers", "3", "--json"]
        sizes = ["-b", "4", "-e", "4M", "-f", "1048576", "-w", "0", "-n", "3000"]
        # The first line says that all ranks are at work; the next one would come much later.
        with subprocess.Popen(
            [PROGRAM, *words, *sizes],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as job:
            job.stdout.readline()
            victim = children(job.pid)[2]
            os.kill(victim, signal.SIGKILL)
            _, err = job.communicate(timeout=DEADLINE)
        self.assertEqual(4, job.returncode, err)
        self.assertIn("narrowcast: rank 2 ", err)

    def test_names_the_rank_that_was_killed_over_shared_memory(self):
        self.expect_death_is_named("shm")

    @unittest.skipUnless(has_module("gloo"), "the gloo module is not built")
    def test_names_the_rank_that_was_killed_over_gloo(self):
        self.expect_death_is_named("gloo")

    def test_ends_when_it_is_interrupted(self):
        with subprocess.Popen(
            [PROGRAM, "bench", "allreduce", "--json", "-b", "4", "-e", "4M", "-f", "1048576"]
            + ["-w", "0", "-n", "3000"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as job:
            job.stdout.readline()
            ranks = children(job.pid)
            job.send_signal(signal.SIGTERM)
            job.communicate(timeout=DEADLINE)
        self.assertEqual(128 + signal.SIGTERM, job.returncode)
        for rank in ranks:
            self.assertFalse(pathlib.Path(f"/proc/{rank}").exists())

    def test_shows_progress_on_a_terminal(self):
        ours, theirs = pty.openpty()
        done = subprocess.run(
            [PROGRAM, "bench", "allreduce", *QUICK],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=DEADLINE,
        )
        os.close(theirs)
        shown = os.read(ours, 1 << 16).decode()
        os.close(ours)
        self.assertEqual(0, done.returncode)
        self.assertIn("[1/3] dynamic8, 1K bytes", shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
