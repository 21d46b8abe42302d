"""One rank's connection to the others of a process group: shared memory, or torch's Gloo."""

from __future__ import annotations

import atexit
import datetime
import os
import threading
from typing import Any, Optional

import torch
import torch.distributed as dist

from .. import _core
from .._errors import PeerError, UsageError
from ._carrier import Carrier, take_short_turns

_GOODBYE_SECONDS = 3.0
_DEVICES = ("cpu", "cuda")  # that a group may have a backend for
_TRANSPORTS = ("auto", "shm", "gloo")

_open: set[Any] = set()


class Wire:
    """A transport between the ranks of a group. Making one is a collective call."""

    def __init__(self, group: Any, transport: str, deadline: float) -> None:
        if transport not in _TRANSPORTS:
            raise UsageError(f"there is no transport '{transport}': {', '.join(_TRANSPORTS)}")
        self._carrier: Optional[Carrier] = None
        self.net: Any = None
        self._leaving = threading.RLock()  # close() would take from leave() what it is at, on another thread
        group = group or dist.group.WORLD
        ranks = tuple(dist.get_process_group_ranks(group))
        self.rank = ranks.index(dist.get_rank())
        self.size = len(ranks)
        self.patience = _timeout_of(group)
        # Not kept: torch's store ends with the last who holds it, and then another may take its port.
        board = Board(group, ranks, min(deadline, self.patience))
        self.machines = board.assemble("machine", _machine())
        descriptor = self._shared_memory(transport, board)
        if descriptor is not None:
            self.transport = "shm"
            try:
                self.net = _core.shm_net(descriptor, self.rank, self.size, deadline)
            finally:
                os.close(descriptor)
        else:
            self.transport = "gloo"
            self.net = _core.carried_net(self.rank, self.size, deadline)
            self._carrier = Carrier(self.net, board.process_group())

    @property
    def machine_workers(self) -> int:
        """Neighbouring ranks that share a machine, where all machines have as many; else 1."""
        count = self.machines.count(self.machines[0])
        runs = [self.machines[i : i + count] for i in range(0, self.size, count)]
        alike = all(len(run) == count and len(set(run)) == 1 for run in runs)
        return count if alike and len(set(self.machines)) * count == self.size else 1

    def close(self) -> None:
        """Leaves, orderly: what was sent still arrives. May be called twice."""
        is_closed(self)
        with self._leaving:
            net, self.net = self.net, None
        if net is None:
            return
        net.leave()
        if self._carrier is not None and not self._carrier.join(_GOODBYE_SECONDS):
            _abandoned.append((net, self._carrier))  # its threads still use them
            return
        self._carrier = None
        net.close()

    def leave(self) -> None:
        """The first half of close(): whatever waits for a message fails, except in shared memory."""
        with self._leaving:
            if self.net is not None:
                self.net.leave()

    abandon = close

    def _shared_memory(self, transport: str, board: Board) -> Optional[int]:
        """A descriptor of memory that all ranks share, where they can and may."""
        if transport == "gloo" or self.size == 1:
            return None
        if len(set(self.machines)) > 1:
            if transport == "auto":
                return None
            raise UsageError(
                "these ranks are on several machines, or in several network or process namespaces: "
                "take transport='gloo'"
            )
        segment = _core.ShmSegment(self.size) if self.rank == 0 else None
        place = f"{os.getpid()} {segment.fd}" if segment is not None else ""
        # Numbers, not a path: whoever else writes to torch's store cannot have other files opened.
        process, number = map(int, board.gather("segment", place)[0].split())
        path = f"/proc/{process}/fd/{number}"
        descriptor, refused = None, ""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            refused = f"rank {self.rank}: {path}: {error.strerror}"
        # The segment goes when this returns: by then all ranks have said that they have it.
        reasons = [reason for reason in board.gather("opened", refused) if reason]
        if not reasons:
            return descriptor
        if descriptor is not None:
            os.close(descriptor)
        if transport == "shm":
            raise UsageError(f"the ranks cannot share memory ({reasons[0]}): take transport='gloo'")
        return None


class Board:
    """Where the ranks of a group find each other: torch's own store, under names of our own. Groups
    that torch makes would have to be made by all ranks of the job, members or not.

    A group may be connected several times, and each time needs names of its own. The store itself counts
    who came: what a process has counted means nothing to one that took another's place."""

    def __init__(self, group: Any, ranks: tuple[Any, ...], deadline: float) -> None:
        c10d = dist.distributed_c10d
        # The group's name, which torch gives alike on all ranks: threads may connect several groups at once.
        name = f"narrowcast/{c10d._world.pg_names.get(group, '')}/{'-'.join(map(str, ranks))}"
        self._door = dist.PrefixStore(name, c10d._get_default_store())
        self._rank = ranks.index(dist.get_rank())
        self._size = len(ranks)
        turn = (self._door.add("arrived", 1) - 1) // self._size
        self._store = dist.PrefixStore(str(turn), self._door)
        self._timeout = datetime.timedelta(seconds=max(deadline, 1.0))

    def assemble(self, what: str, own: str) -> list[Any]:
        """The first gather(). Who waits in vain has not come, so that the next attempt is not miscounted."""
        try:
            return self.gather(what, own)
        except PeerError:
            self._door.add("arrived", -1)
            raise

    def gather(self, what: str, own: str) -> list[Any]:
        """What each rank has to say, by rank."""
        self._store.set(f"{what}/{self._rank}", own or " ")
        keys = [f"{what}/{rank}" for rank in range(self._size)]
        try:
            self._store.wait(keys, self._timeout)
        except RuntimeError as error:
            raise PeerError(f"not all ranks have called this: {error}") from None
        return [self._store.get(key).decode().strip() for key in keys]

    def process_group(self) -> Any:
        """A Gloo process group of these ranks; its threads take short turns."""
        take_short_turns()
        try:
            return dist.ProcessGroupGloo(self._store, self._rank, self._size, self._timeout)
        finally:
            _core.set_turn(0)


def _timeout_of(group: Any) -> float:
    """How many seconds torch's own collectives of a group wait at most."""
    for device in _DEVICES:
        try:
            backend = group._get_backend(torch.device(device))
            # With TORCH_DISTRIBUTED_DEBUG=DETAIL it is in a wrapper, which has no options.
            backend = getattr(backend, "wrapped_pg", backend)
            return float(backend.options._timeout.total_seconds())
        except (AttributeError, RuntimeError):  # none for that device, or one without options, such as MPI
            continue
    return float(dist.distributed_c10d.default_pg_timeout.total_seconds())


_abandoned: list[Any] = []


def _machine() -> str:
    """What tells machines apart, as far as shared memory goes."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    return f"{boot} {os.readlink('/proc/self/ns/net')} {os.readlink('/proc/self/ns/pid')}"


def at_exit(user: Any) -> None:
    """Has user.abandon() called at the end of the process: threads that need the interpreter must end
    before it does."""
    _open.add(user)


def is_closed(user: Any) -> None:
    """It needs that no more."""
    _open.discard(user)


# The connections of a process are not its children's to end.
os.register_at_fork(after_in_child=_open.clear)


@atexit.register
def _abandon_all() -> None:
    for user in list(_open):
        user.abandon()
