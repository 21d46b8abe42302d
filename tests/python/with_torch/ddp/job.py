"""Starts ranks as processes and collects what each of them says."""

import faulthandler
import json
import os
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Long enough for any busy machine, short enough that a hang becomes a failure.
PATIENCE_SECONDS = float(os.environ.get("PATIENCE", 240))


class Said(dict):
    """What a rank said, by name; of one that never came to say it, how it ended."""

    def __init__(self, said, code, err):
        super().__init__(said)
        self._end = f"ended with exit code {code} and did not say"
        self._err = err

    def __missing__(self, name):
        raise AssertionError(f"a rank {self._end} {name!r}:\n{self._err}")


class Rank:
    """How one rank ended: its exit code, what it said in JSON, and its stderr."""

    def __init__(self, code, out, err):
        self.code = code
        self.err = err
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        self.said = Said({key: value for line in lines for key, value in line.items()}, code, err)


def run(script, ranks, *words):
    """Runs a script of this folder on all ranks, to its end."""
    environment = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free_port()),
        "WORLD_SIZE": str(ranks),
        "OMP_NUM_THREADS": "1",
        "PATIENCE": str(PATIENCE_SECONDS),
        "GLOO_SOCKET_IFNAME": "lo",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, os.path.join(HERE, script), *words],
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    try:
        said = [process.communicate(timeout=2 * PATIENCE_SECONDS) for process in processes]
        return [Rank(p.returncode, out, err) for p, (out, err) in zip(processes, said)]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()


# A rank that hangs says where.
if "RANK" in os.environ:
    faulthandler.dump_traceback_later(float(os.environ["PATIENCE"]), exit=True)


def say(**what):
    """What a rank says to the test."""
    print(json.dumps(what), flush=True)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
