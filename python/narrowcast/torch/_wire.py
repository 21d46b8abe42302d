"""One rank's connection to the others of a process group: shared memory, or torch's Gloo."""

from __future__ import annotations

import atexit
import datetime
import os
import weakref
from typing import Any, Optional

import torch.distributed as dist

from .. import _core
from .._errors import UsageError
from ._carrier import Carrier

_GOODBYE_SECONDS = 3.0
_TRANSPORTS = ("auto", "shm", "gloo")

_open: "weakref.WeakSet" = weakref.WeakSet()


class Wire:
    """A transport between the ranks of a group. Making one is a collective call."""

    def __init__(self, group: Any, transport: str, deadline: float) -> None:
        if transport not in _TRANSPORTS:
            raise UsageError(f"there is no transport '{transport}': {', '.join(_TRANSPORTS)}")
        self._carrier: Optional[Carrier] = None
        self._segment: Any = None
        self.net: Any = None
        self.group = own_group(group, deadline)
        self.rank = dist.get_rank(self.group)
        self.size = dist.get_world_size(self.group)
        self.machines = _machines(self.group)
        self.transport = self._choose(transport)
        if self.transport == "shm":
            self._join_shm(deadline)
        else:
            self.net = _core.carried_net(self.rank, self.size, deadline)
            self._carrier = Carrier(self.net, self.group)

    @property
    def machine_workers(self) -> int:
        """Neighbouring ranks that share a machine, where all machines have as many; else 1."""
        count = self.machines.count(self.machines[0])
        runs = [self.machines[i : i + count] for i in range(0, self.size, count)]
        alike = all(len(run) == count and len(set(run)) == 1 for run in runs)
        return count if alike and len(set(self.machines)) * count == self.size else 1

    def close(self) -> None:
        """Leaves, orderly: what was sent still arrives. May be called twice."""
        net, self.net = self.net, None
        if net is None:
            return
        net.leave()
        if self._carrier is None or self._carrier.join(_GOODBYE_SECONDS):
            net.close()
        else:
            _abandoned.append((net, self._carrier, self.group))

    def leave(self) -> None:
        """The first half of close(): whatever waits for a message fails."""
        if self.net is not None:
            self.net.leave()

    abandon = close

    def _choose(self, transport: str) -> str:
        one_machine = len(set(self.machines)) == 1
        if transport == "gloo" or self.size == 1:
            return "gloo"
        if not one_machine:
            if transport == "shm":
                raise UsageError(
                    "these ranks are on several machines, or in several network or process "
                    "namespaces: take transport='gloo'"
                )
            return "gloo"
        self._segment, path = _shared_segment(self.group, self.rank, self.size)
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            refused = ""
        except OSError as error:
            refused = f"rank {self.rank}: {error.strerror}"
        reasons = [reason for reason in _gathered(self.group, refused) if reason]
        if reasons and transport == "shm":
            raise UsageError(f"the ranks cannot share memory ({reasons[0]}): take transport='gloo'")
        return "gloo" if reasons else "shm"

    def _join_shm(self, deadline: float) -> None:
        self.net = _core.shm_net(self._descriptor, self.rank, self.size, deadline)
        os.close(self._descriptor)
        dist.barrier(self.group)  # nobody needs the first rank's descriptor any more
        self._segment = None


# Connections whose threads did not end in time: they keep what they use.
_abandoned: list = []


def own_group(group: Any, deadline: float) -> Any:
    """A new Gloo group with the ranks of a group; all of them call it."""
    timeout = datetime.timedelta(seconds=max(deadline, 1.0))
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    if len(ranks) == dist.get_world_size():
        return dist.new_group(ranks, timeout=timeout, backend="gloo")
    try:
        return dist.new_group(
            ranks, timeout=timeout, backend="gloo", use_local_synchronization=True
        )
    except TypeError:
        raise UsageError(
            "this torch makes groups of some of the ranks only with all of them: take torch 2.1"
        ) from None


def _machines(group: Any) -> list:
    """What tells machines apart, for every rank: shared memory needs all of it to be the same."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    return _gathered(group, (boot, os.readlink("/proc/self/ns/net"), os.readlink("/proc/self/ns/pid")))


def _shared_segment(group: Any, rank: int, size: int) -> tuple:
    """The first rank's segment, and where the others find it."""
    segment = _core.ShmSegment(size) if rank == 0 else None
    path = f"/proc/{os.getpid()}/fd/{segment.fd}" if segment is not None else ""
    return segment, _gathered(group, path)[0]


def _gathered(group: Any, own: Any) -> list:
    all_of_them: list = [None] * dist.get_world_size(group)
    dist.all_gather_object(all_of_them, own, group=group)
    return all_of_them


def at_exit(user: Any) -> None:
    """Has user.abandon() called at the end of the process: threads that need the interpreter must end
    before it does."""
    _open.add(user)


@atexit.register
def _abandon_all() -> None:
    for user in list(_open):
        user.abandon()
