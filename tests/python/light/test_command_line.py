"""`python -m narrowcast`: the program, without what needs libtorch, MPI or Gloo."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import narrowcast


def run(*words, stdin=b"", cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "narrowcast", *words],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
    )


def test_it_says_its_version():
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.decode().startswith(f"narrowcast {narrowcast.__version__}, ")


def test_bytes_go_through_it_unchanged():
    values = np.linspace(-1, 1, 1000, dtype=np.float32)
    done = run("encode", "dynamic8", stdin=values.tobytes())
    assert done.stdout == narrowcast.encode(values, "dynamic8")


def test_its_exit_code_is_that_of_the_program():
    done = run("decode", stdin=b"no frame")
    assert done.returncode == 3
    assert done.stderr.decode() == "narrowcast: broken frame: this is not a narrowcast frame\n"


@pytest.mark.parametrize(
    "closed, code, said",
    ((1, 5, b"narrowcast: cannot write the output: Bad file descriptor\n"), (2, 0, b"")),
    ids=("stdout", "stderr"),
)
def test_streams_may_be_closed(closed, code, said):
    """Python then has None in the place of its stream."""
    starter = "import os, sys; os.close(int(sys.argv[1])); os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
    words = [str(closed), "-m", "narrowcast", "codecs"]
    done = subprocess.run([sys.executable, "-c", starter, *words], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (code, said)


def test_it_dies_of_signals():
    child = subprocess.Popen(
        [sys.executable, "-m", "narrowcast", "encode", "fp32"], stdin=subprocess.PIPE
    )
    os.kill(child.pid, signal.SIGTERM)
    child.stdin.close()
    assert child.wait(60) == -signal.SIGTERM


def test_it_starts_ranks_as_processes():
    done = run("bench", "allreduce", "--workers", "2", "--codec", "dynamic8", "-e", "64K", "--json")
    assert done.returncode == 0, done.stderr.decode()
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows and all(row["wrong"] == 0 for row in rows if "wrong" in row)


NO_CELL_TRAINS = """
title = "Nothing trains"
[[part]]
kind = "transfer"
size = "4K"
link = "none"
codec = "dynamic8"
"""


@pytest.mark.parametrize(
    "words",
    (
        ("train", "--workers", "2"),
        ("study", "run", "study.toml", "-o", "out"),
        ("study", "run", "study.toml", "-o", "out", "--check"),
        ("study", "run", "no_such_file.toml"),
    ),
    ids=" ".join,
)
def test_training_and_studies_are_refused_and_the_build_that_can_is_named(words, tmp_path):
    (tmp_path / "study.toml").write_text(NO_CELL_TRAINS)
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]
    assert done.stderr.decode() == (
        "narrowcast: training needs libtorch: apt-get install libtorch-dev libopenblas0-pthread, "
        "then run scripts/build in the source tree (the Python package cannot have it)\n"
    )


def test_engines_are_refused_and_the_build_that_has_them_is_named():
    for engine in ("gloo", "mpi"):
        done = run("bench", "allreduce", "--workers", "2", "--transport", engine)
        assert done.returncode == 2
        assert f"{engine} is not installed: apt-get install" in done.stderr.decode()
        assert "then run scripts/build in the source tree" in done.stderr.decode()
