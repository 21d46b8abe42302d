#!/usr/bin/env python3
"""Training end to end: PyTorch's DistributedDataParallel with its own hooks and with ours, beside `narrowcast train`.

    bench/versus/training.py steps NET WAYS --rate 1gbit --json FILE [--deadline 80]
    bench/versus/training.py errors NET WAY --epochs 4 --json FILE [--deadline 900]

`steps`: the median step of each way between two hosts of one core each (scripts/hosts, root), by ways in turns within
one process; `errors`: the test error after each epoch, of two workers on this machine, which does not hang on the
link. WAYS is `hooks`, all of DistributedDataParallel that take turns, or one way. Data sets are in NARROWCAST_DATA.
A way that gives no answer before its deadline, or fails, is written down as such. `scripts/bench versus training`
calls it for all.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = ROOT / "build" / "narrowcast"
POWER_SGD = "PowerSGD hook"
# Its hook waits for sums within the callbacks of others, which with several buckets is for ever over Gloo.
ONE_BUCKET = "PowerSGD hook, one bucket"
ALONE = "no communication"
HOOKS = (ALONE, "fp32", "fp16 hook", "bf16 hook", "dynamic8", "qsgd:bits=4")
DATA = {"mnist-mlp": "mnist", "cifar-conv": "cifar10"}
FIRST = 10  # steps in which memory is laid out; of PowerSGD those before it begins
UNLIMITED = "1000gbit"


def main():
    words = parse()
    if words.what == "rank":
        from training_rank import work

        return work(words)
    begin = time.monotonic()
    found = {"net": words.net, "way": words.way}
    try:
        found |= measure(words)
    except subprocess.TimeoutExpired:
        found["failed"] = f"no answer within {words.deadline} s"
    except subprocess.CalledProcessError as error:
        found["failed"] = last_line(error.stderr) or f"exit code {error.returncode}"
    if "failed" in found:
        print(f"training: {words.net}, {words.way}: {found['failed']}", file=sys.stderr)
    found["seconds"] = round(time.monotonic() - begin, 1)
    from timing import write

    write(words.json, found)
    return 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("steps", "errors", "rank"))
    parser.add_argument("net", choices=tuple(DATA))
    parser.add_argument("way", help="hooks, a hook, or 'train CODEC' for narrowcast train")
    parser.add_argument("--rate", default="1gbit", help="of the links; 'unlimited' is none")
    parser.add_argument("--steps", type=int, default=60, help="of each way")
    parser.add_argument("--epochs", type=int, default=0)
    parser.add_argument("--json", help="the file to write")
    parser.add_argument("--deadline", type=float, default=600, help="seconds")
    return parser.parse_args()


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def measure(words):
    """What rank 0 printed, one way or the other."""
    ours = words.way.startswith("train ")
    command = own_command(words) if ours else rank_command(words)
    if words.what == "steps":
        rate = UNLIMITED if words.rate == "unlimited" else words.rate
        command = [ROOT / "scripts" / "hosts", "with", "2", "--rate", rate, "--no-check", "--", *command]
        done = run(command, words.deadline)
    elif ours:
        done = run(command, words.deadline)
    else:
        done = run_pair(command, words.deadline)
    records = [json.loads(line) for line in done.splitlines() if line.startswith("{")]
    return (own_figures if ours else lambda _, records: records[-1])(words, records)


def rank_command(words):
    return [sys.executable, __file__, "rank", words.net, words.way, "--steps", str(words.steps), "--epochs",
            str(words.epochs)]


def own_command(words):
    codec = words.way.split(" ", 1)[1]
    command = [PROGRAM, "train", "--net", words.net, "--data", DATA[words.net], "--json", "-"]
    command += ["--workers", "1"] if codec == ALONE else ["--codec", codec]
    if words.what == "steps":
        command += ["--no-test", "--steps", str(words.steps + FIRST)]
        # Each rank by itself, on its own core.
        return ["env", "-u", "RANK", "-u", "WORLD_SIZE", "-u", "MASTER_ADDR", *command] if codec == ALONE else command
    return [*command, "--workers", "2", "--epochs", str(words.epochs)]


def own_figures(words, records):
    if words.what == "errors":
        return {"epochs": [{"step": record["step"], "error": record["test_error"]} for record in records
                           if record["event"] == "epoch"]}
    times = [record["step_ms"] for record in records if record["event"] == "step"][FIRST:]
    return {"ways": {words.way: quartiles(times)}}


def quartiles(times):
    low, _, high = statistics.quantiles(times, n=4)
    return {"ms": round(statistics.median(times), 3), "from": round(low, 3), "to": round(high, 3), "steps": len(times)}


# -- processes -----------------------------------------------------------------------------------


def run(command, deadline, **environment):
    """What it printed. Past the deadline it is asked to end, with all that it has started, and then made to."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **environment}) as child:
        try:
            out, errors = child.communicate(timeout=deadline)
        except subprocess.TimeoutExpired:
            end(child)
            raise
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command, out, errors)
    return out


def end(child):
    child.terminate()
    try:
        child.communicate(timeout=40)  # scripts/hosts gives its ranks half a minute
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)


def run_pair(command, deadline):
    """Two ranks on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    other = subprocess.Popen(command, env={**os.environ, **place, "RANK": "1"}, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        return run(command, deadline, **place, RANK="0")
    finally:
        other.kill()
        other.wait()


if __name__ == "__main__":
    sys.exit(main())
