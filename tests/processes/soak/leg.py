"""One start of `narrowcast train`, from its first word to its last."""

import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from ranks import ended, environment, is_group_alive, workers_of

PATIENCE = 120  # seconds in which something must happen, on however busy a machine
GONE = 5  # seconds for what is left of a job to be gone, once its launcher is


class Broken(Exception):
    """Something that must hold does not."""


class Leg:
    def __init__(self, command, log, variables=None, limit=None):
        """`log` is a path without its ending; `limit` is called in the new process."""
        self.log = pathlib.Path(log)
        self.begun = time.monotonic()
        self.records = queue.Queue()
        with open(f"{log}.err", "wb") as errors:
            self.launcher = subprocess.Popen(
                command,
                env=environment(variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                preexec_fn=limit,
            )
        self.end = os.pidfd_open(self.launcher.pid)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        with open(f"{self.log}.jsonl", "wb") as copy:
            for line in self.launcher.stdout:
                copy.write(line)
                if line.endswith(b"\n"):  # a killed process may leave half a line
                    self.records.put(json.loads(line))
        self.records.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if is_group_alive(self.launcher.pid):
            os.killpg(self.launcher.pid, signal.SIGKILL)
        self.launcher.wait()
        self.reader.join()
        self.launcher.stdout.close()
        os.close(self.end)

    def next(self, seconds=PATIENCE):
        """The next record; None when there will be no more."""
        try:
            return self.records.get(timeout=seconds)
        except queue.Empty:
            raise Broken(f"{self.log.name}: nothing happened for {seconds} s: {self.said()}")

    def ranks(self):
        """Process ids by rank, of those that run now."""
        return workers_of(self.launcher.pid)

    def pid_of(self, rank):
        """Of a rank that runs, or soon will."""
        until = time.monotonic() + PATIENCE
        while rank not in (found := self.ranks()):
            if ended([self.end], 0.002) or time.monotonic() > until:
                raise Broken(f"{self.log.name}: there is no rank {rank}: {self.said()}")
        return found[rank]

    def send(self, rank, what):
        """A signal to a rank, or to the launcher when `rank` is None."""
        try:
            os.kill(self.launcher.pid if rank is None else self.pid_of(rank), what)
        except ProcessLookupError:
            raise Broken(f"{self.log.name}: gone before the signal came: {self.said()}")

    def finish(self, seconds=PATIENCE):
        """Waits for the end and returns the exit code; nothing of the job may be left then."""
        if not ended([self.end], seconds):
            raise Broken(f"{self.log.name}: still there after {seconds} s: {self.said()}")
        code = self.launcher.wait()
        until = time.monotonic() + GONE
        while is_group_alive(self.launcher.pid):
            if time.monotonic() > until:
                raise Broken(f"{self.log.name}: processes are left behind")
            time.sleep(0.01)  # processes that are not our children give no event
        return code

    def said(self):
        return pathlib.Path(f"{self.log}.err").read_text(errors="replace").strip()

    def complaints(self):
        """What it said on standard error: nothing but lines of the program's own."""
        lines = self.said().splitlines()
        for line in lines:
            if not re.match(r"(rank \d+: )?narrowcast: ", line):
                raise Broken(f"{self.log.name}: no line of the program's own: {line}")
        return lines
