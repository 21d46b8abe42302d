"""Starts ranks as processes and collects what each of them says."""

import faulthandler
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile

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
    everywhere = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free_port()),
        "WORLD_SIZE": str(ranks),
        "PATIENCE": str(PATIENCE_SECONDS),
        "GLOO_SOCKET_IFNAME": "lo",
    }
    with tempfile.TemporaryDirectory() as folder:
        asked = {
            "script": script,
            "words": words,
            "ranks": [{**everywhere, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(ranks)],
            "folder": folder,
            "seconds": 2 * PATIENCE_SECONDS,
        }
        nursery = _nursery()
        nursery.stdin.write(json.dumps(asked) + "\n")
        nursery.stdin.flush()
        codes = json.loads(nursery.stdout.readline())
        return [Rank(code, *_printed(folder, rank)) for rank, code in enumerate(codes)]


@functools.lru_cache(maxsize=None)
def _nursery():
    """Ends with this process, which has the other end of its input."""
    return subprocess.Popen(
        [sys.executable, os.path.join(HERE, "nursery.py")],
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # which torch reads when it is loaded
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _printed(folder, rank):
    for name in ("out", "err"):
        with open(f"{folder}/{rank}.{name}", encoding="utf-8", errors="replace") as file:
            yield file.read()


# A rank that hangs says where.
if "RANK" in os.environ:
    faulthandler.dump_traceback_later(float(os.environ["PATIENCE"]), exit=True)


def say(**what):
    """What a rank says to the test."""
    print(json.dumps(what), flush=True)


def error(call):
    """The type and the words of what a call raises; None if it raises nothing."""
    try:
        call()
    except Exception as raised:
        return [type(raised).__name__, str(raised)]
    return None


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
