"""A disk for checkpoints that can be full: a small tmpfs of our own, else a limit on files' sizes."""

import os
import pathlib
import resource
import shutil
import subprocess
import sys

ROOMY = "2g"
INSIDE = "NARROWCAST_SOAK_INSIDE"  # set where mounts are ours alone


def enter_namespace():
    """Starts this program again where it may mount, seen by nobody else and gone with it. Returns
    when that is so, or cannot be."""
    if INSIDE in os.environ or shutil.which("unshare") is None:
        return
    way = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    mounts = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
    if subprocess.run([*way, "sh", "-c", mounts], capture_output=True).returncode != 0:
        return
    os.environ[INSIDE] = "1"
    again = [sys.executable, *sys.argv]
    os.execvp(way[0], [*way, "sh", "-c", f'{mounts} && exec "$@"', "sh", *again])


class Disk:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.is_own = INSIDE in os.environ
        self.limit = None  # bytes of a file, where the disk is not ours to fill
        if self.is_own:
            self._mount(f"size={ROOMY}")

    def _mount(self, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)], check=True)

    def describe(self):
        return "a tmpfs of its own" if self.is_own else "a limit on the size of files"

    def fill(self, room):
        """So that no more than `room` bytes fit. Without a disk of its own, for legs to come."""
        self.limit = None if self.is_own else room
        if self.is_own:
            used = shutil.disk_usage(self.folder).used
            self._mount(f"remount,size={used + room}")

    def free(self):
        self.limit = None
        if self.is_own:
            self._mount(f"remount,size={ROOMY}")

    def empty(self):
        for file in self.folder.iterdir():
            file.unlink()

    def limiter(self):
        """What a new process calls, to have the limit; None where there is none."""
        if self.limit is None:
            return None
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (self.limit, self.limit))
