"""Hands buckets of gradients to the exchange, and futures back to DistributedDataParallel."""

from __future__ import annotations

import queue
import threading
from typing import Any, Optional

import torch

from .. import _core
from .._errors import UsageError
from ._buckets import Buckets
from ._carrier import take_short_turns
from ._staging import Staging
from ._stats import Stats, line_about

_FIRST_CHANNEL = 16


class Step:
    """The buckets of one backward pass."""

    def __init__(self, held: bool) -> None:
        self.held = held  # nothing leaves before all buckets are there
        self.parts: list[Any] = []  # what was staged, and its layout
        self.is_whole = False  # all buckets were taken: done will be set, by success or by a deadline
        self.done = threading.Event()
        self.error: Optional[BaseException] = None

    def result(self, *_: Any) -> None:
        self.done.wait()
        if self.error is not None:
            raise self.error


class Engine:
    """One thread of its own waits for sums, so that back-propagation need not."""

    def __init__(self, module: Any, plan: Any, wire: Any, *, seed: int, threads: int, say: Any) -> None:
        self.plan = plan
        self.wire = wire
        self.stats = Stats()
        self.epoch = 0
        self.steps = 0
        self.watcher: Any = None  # is told of buckets and of ends of steps
        self.buckets = Buckets(module)
        self._seed = seed
        self._threads = threads
        self._say = say
        self._said = False
        self._staging = Staging()
        self._exchange: Any = None
        self._channel = _FIRST_CHANNEL
        self._tensors: list[Any] = []  # of the exchange, in its order
        self._step: Optional[Step] = None
        self._saved: Optional[dict[Any, Any]] = None  # residuals that wait for an exchange
        self._failed: Optional[BaseException] = None
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, daemon=True, name="narrowcast")
        self._worker.start()

    @property
    def bucket_count(self) -> int:
        return len(self._step.parts) if self._step is not None else 0

    def close(self, seconds: Optional[float] = None) -> bool:
        """Ends the thread. False: it is still at work after so long."""
        self._tasks.put(None)
        self._worker.join(seconds)
        if self._worker.is_alive():
            return False
        self._drop_exchange()
        return True

    # On the thread of back-propagation.

    def take(self, bucket: Any) -> Any:
        """A bucket is ready. Returns the future of its average."""
        if self._failed is not None:
            raise self._failed
        if bucket.index() == 0:
            self._begin()
        step = self._step
        if step is None or step.done.is_set():
            raise UsageError("compress() was called in the middle of a backward pass")
        staged = self._staging.stage(bucket.index(), bucket.buffer())
        layout = self.buckets.layout(bucket)
        step.parts.append((staged, layout))
        if self.watcher is not None:
            self.watcher.ready()
        if not step.held:
            if staged.is_here:
                self._ready(staged, layout)
            else:
                self._tasks.put(lambda: self._guarded(step, lambda: self._await(staged, layout)))
        if not bucket.is_last():
            return staged.future
        step.is_whole = True
        self._tasks.put(lambda: self._finish(step))
        _raise_after_backward(step)
        return staged.future.then(lambda future: _value(step, future))

    def count_plain_step(self) -> None:
        """A step went through torch's own all-reduce. Nothing is under way here meanwhile."""
        self.stats.add_plain()
        self.steps += 1

    def _begin(self) -> None:
        self._settle("the backward pass before this one has not ended")
        self._step = Step(held=self._exchange is None or self.watcher is not None)
        if not self._step.held:
            self._exchange.begin(self.steps, self.epoch)

    def _settle(self, otherwise: str) -> None:
        """Waits for the end of the step that is under way, if it has one to come. A caller may be here a moment
        before it: futures are complete before done is set, and without a backward pass (a rank that only follows
        the others in a Join) nothing waits for done."""
        step = self._step
        if step is None:
            return
        if step.is_whole:
            step.done.wait()
        elif not step.done.is_set():
            raise UsageError(otherwise)
        if self._failed is not None:
            raise self._failed

    def _ready(self, staged: Any, layout: Any) -> None:
        self._exchange.ready(layout.tensors, layout.offsets, staged.values)

    # On the engine's own thread.

    def _work(self) -> None:
        take_short_turns()  # and so does the exchange's thread, which is started from here
        while (task := self._tasks.get()) is not None:
            task()

    def _guarded(self, step: Step, call: Any) -> None:
        """After an error nothing more is done, and everything says it."""
        try:
            if step.error is None:
                call()
        except Exception as error:
            self._failed = step.error = error

    def _await(self, staged: Any, layout: Any) -> None:
        staged.await_values()
        self._ready(staged, layout)

    def _finish(self, step: Step) -> None:
        self._guarded(step, lambda: self._carry_out(step))
        for staged, _ in step.parts:
            self._guarded(step, staged.complete)
            if step.error is not None and not staged.future.done():
                staged.future.set_result(staged.bucket)
        step.done.set()

    def _carry_out(self, step: Step) -> None:
        if self._exchange is None:
            self._make_exchange(self.buckets.order(len(step.parts)))
        if step.held:
            self._exchange.begin(self.steps, self.epoch)
            for staged, layout in step.parts:
                self._await(staged, layout)
        report = self._exchange.wait()
        if report["skipped"]:
            for staged, _ in step.parts:
                staged.values.fill_(float("nan"))
        self.stats.add(report)
        self.steps += 1
        if self.watcher is not None:
            self.watcher.end_step(len(step.parts))
        elif not self._said:
            self._said = True
            self._say(self._line(report))
        if self.buckets.changed:
            self._follow_buckets(len(step.parts))

    def _make_exchange(self, tensors: list[Any]) -> None:
        self._exchange = _core.make_exchange(
            self.wire.net, self.plan, tensors, self._seed, self._channel, self._threads
        )
        self._channel += len(tensors) + 1
        self._tensors = tensors
        self.buckets.number(tensors)
        if self._saved is not None and self.watcher is None:
            self._exchange.load(self._saved)
            self._saved = None

    def _follow_buckets(self, buckets: int) -> None:
        """What is ready first leaves first: the exchange takes the tensors in the buckets' order."""
        tensors = self.buckets.order(buckets)
        if tensors != self._tensors:
            self.change_plan(self.plan, tensors)

    def change_plan(self, plan: Any, tensors: Optional[list[Any]] = None) -> None:
        """Between steps. Residuals stay, also those that were loaded while plan="auto" was measuring."""
        if self.watcher is None and self._saved is None:
            self._saved = self._exchange.save()
        self._drop_exchange()
        self.plan = plan
        self._make_exchange(tensors or self._tensors)

    def _drop_exchange(self) -> None:
        if self._exchange is not None:
            self._exchange.close()
            self._exchange = None

    def _line(self, report: dict[Any, Any]) -> str:
        ways = self._exchange.ways(self.steps - 1, self.epoch)
        return line_about(report, ways, self.wire, self.plan.algorithm)

    # Between steps, on the caller's thread.

    def save(self) -> dict[Any, Any]:
        self._require_idle()
        if self._saved is not None or self._exchange is None:
            return self._saved or {}
        residuals: dict[Any, Any] = self._exchange.save()
        return residuals

    def check(self, saved: dict[Any, Any]) -> None:
        """WireError names what load() would refuse."""
        _core.check_residuals(saved, self._tensors or self.buckets.expected())

    def load(self, saved: dict[Any, Any]) -> None:
        self._require_idle()
        if self._exchange is not None and self.watcher is None:
            self._exchange.load(saved)
        else:
            self._saved = saved

    def _require_idle(self) -> None:
        if self._failed is not None:
            raise self._failed
        self._settle("a backward pass is under way")


def _raise_after_backward(step: Step) -> None:
    """What went wrong is raised as it is, by backward() itself. What futures raise in C++ becomes a
    RuntimeError, and serves where there is no backward pass."""
    try:
        torch.autograd.Variable._execution_engine.queue_callback(step.result)
    except RuntimeError:
        pass


def _value(step: Step, future: Any) -> Any:
    if step.error is not None:
        raise step.error
    return future.value()
