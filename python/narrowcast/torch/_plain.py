"""Gradients that travel as torch has them, for models whose hook nobody can take away."""

from __future__ import annotations

import atexit
import ctypes
import queue
import threading
import weakref
from typing import Any, Optional

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

from ._carrier import take_short_turns

_EXIT_SECONDS = 2.0


class Plain:
    """All-reduce over a model's own group.

    What torch's hook of that name does would have Gloo's threads call Python and drop its objects. They may
    do so after backward() has returned, and a thread that waits for the interpreter while that ends takes
    the whole process with it. Here they see no Python: a thread of our own waits for what they do, and
    the last of it is kept.
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self._last: dict[int, Any] = {}  # what Gloo did for each bucket
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiter: Optional[threading.Thread] = None
        # A model that goes takes this along, and its thread ends.
        weakref.finalize(self, self._tasks.put, None).atexit = False
        _all.add(self)

    def take(self, bucket: Any) -> Any:
        """A bucket is ready. Returns the future of its average."""
        buffer = bucket.buffer()
        if buffer.device.type != "cpu":
            return default_hooks.allreduce_hook(self._group, bucket)
        if self._waiter is None:
            self._start()
        buffer.div_(dist.get_world_size(self._group))
        work = dist.all_reduce(buffer, group=self._group, async_op=True)
        self._last[bucket.index()] = work
        future: Any = torch.futures.Future()
        self._tasks.put((work, buffer, future))
        return future

    def abandon(self) -> None:
        """At the end of the process. What is kept is never let go of."""
        self._tasks.put(None)
        if self._waiter is not None:
            self._waiter.join(_EXIT_SECONDS)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._last))

    def _start(self) -> None:
        self._waiter = threading.Thread(
            target=_wait_for, args=(self._tasks,), daemon=True, name="narrowcast-plain"
        )
        self._waiter.start()


def _wait_for(tasks: queue.SimpleQueue[Any]) -> None:
    take_short_turns()  # so that this thread costs its waking up, and no more
    while (task := tasks.get()) is not None:
        work, buffer, future = task
        try:
            work.wait()
        except RuntimeError as error:
            future.set_exception(error)
        else:
            future.set_result(buffer)
        del task, work, buffer, future  # not until the next one comes


_all: "weakref.WeakSet[Plain]" = weakref.WeakSet()


@atexit.register
def _abandon_all() -> None:
    for plain in list(_all):
        plain.abandon()
