"""What tests of processes share: who the ranks of a job are, and when they are gone."""

import os
import pathlib
import select
import time

LAUNCHED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def environment(more=None):
    """This process's variables, as if no launcher had started it, and `more`."""
    return {key: value for key, value in os.environ.items() if key not in LAUNCHED} | (more or {})


def rank_of(pid):
    """None, as long as the process has not become the program, and when it is gone."""
    try:
        entries = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    ranks = [int(entry[5:]) for entry in entries if entry.startswith(b"RANK=")]
    return ranks[0] if ranks else None


def workers_of(launcher):
    """Process ids by rank, of those that run already."""
    try:
        children = pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    ranks = {rank_of(child): int(child) for child in children}
    return {rank: pid for rank, pid in ranks.items() if rank is not None}


def ended(pidfds, seconds):
    """Whether all of these processes end within that time."""
    waiting = select.poll()
    for pidfd in pidfds:
        waiting.register(pidfd, select.POLLIN)
    left = len(pidfds)
    until = time.monotonic() + seconds
    while left and (now := time.monotonic()) <= until:
        for pidfd, _ in waiting.poll(1000 * (until - now)):
            waiting.unregister(pidfd)
            left -= 1
    return left == 0


def is_group_alive(group):
    """Whether any process of that group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
