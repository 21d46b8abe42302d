"""Forks ranks from a process that has loaded torch already: to load it takes longer than most jobs do.

One line of JSON asks for a job: a script of this folder, its words, the environment of each rank, and a folder for what
they print. The answer is the exit code of each rank. A rank ends as any Python program does: it is forked, not spawned,
and leaves through the interpreter's own end."""

import importlib
import json
import os
import runpy
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def become(script, words, environment, folder, number):
    """This process is a rank from now on."""
    os.environ.update(environment)
    for descriptor, name in ((0, "/dev/null"), (1, f"{folder}/{number}.out"), (2, f"{folder}/{number}.err")):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.argv = [script, *words]
    sys.path.insert(0, HERE)
    runpy.run_path(os.path.join(HERE, script), run_name="__main__")


def await_all(children, seconds):
    """The exit codes; who is still there after so long is ended."""
    signal.signal(signal.SIGALRM, lambda *_: [os.kill(child, signal.SIGKILL) for child in children])
    signal.alarm(int(seconds))
    codes = []
    while children:
        codes.append(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))
        del children[0]
    signal.alarm(0)
    return codes


def main():
    # What all ranks need, and what torch itself loads when the first model is made.
    for module in ("torch", "torch._dynamo", "narrowcast.torch"):
        importlib.import_module(module)

    for line in sys.stdin:
        asked = json.loads(line)
        children = []
        for number, environment in enumerate(asked["ranks"]):
            child = os.fork()
            if child == 0:
                return become(asked["script"], asked["words"], environment, asked["folder"], number)
            children.append(child)
        print(json.dumps(await_all(children, asked["seconds"])), flush=True)


if __name__ == "__main__":
    main()
