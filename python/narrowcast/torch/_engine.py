"""Hands buckets of gradients to the exchange, and futures back to DistributedDataParallel."""

from __future__ import annotations

import queue
import threading
from typing import Any, Optional

import torch

from .. import _core
from .._errors import PeerError, UsageError
from ._buckets import Buckets
from ._carrier import take_short_turns
from ._staging import Staging
from ._stats import Stats, line_about
from ._wire import at_exit, is_closed

_FIRST_CHANNEL = 16
_EXIT_SECONDS = 2.0


class Step:
    """The buckets of one backward pass."""

    def __init__(self, held: bool) -> None:
        self.number = 0
        self.held = held  # nothing leaves before all buckets are there
        self.parts: list[Any] = []  # what was staged, and its layout
        # All buckets were taken: done will be set when the sums are there, or a rank is lost. That a rank lives and
        # does not take the step the transport cannot know, so who waits for done gives up after a while.
        self.is_whole = False
        self.done = threading.Event()
        self.error: Optional[BaseException] = None
        self.limit: Optional[threading.Timer] = None


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
        self._patience = min(wire.patience, threading.TIMEOUT_MAX)
        self._tensors: list[Any] = []  # of the exchange, in its order
        self._step: Optional[Step] = None
        self._saved: Optional[dict[Any, Any]] = None  # residuals that wait for an exchange
        self._failed: Optional[BaseException] = None
        self._failing = threading.Lock()
        self.gave_up = False  # and the thread may still wait, for a rank that does not come
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._work, daemon=True, name="narrowcast")
        at_exit(self)
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

    def let_go(self) -> None:
        """The model is gone: its thread ends and leaves, and nobody waits for that. Python drops what nobody holds on any
        thread, also on that one."""
        self._tasks.put(self._leave)
        self._tasks.put(None)

    def abandon(self) -> None:
        """At the end of the process: whatever is under way fails, here and on the other ranks."""
        self.wire.leave()
        if self.close(_EXIT_SECONDS):
            self.wire.close()

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
        if not _call_after_backward(lambda: self._result(step)):
            # torch waits for the futures by itself, and without end.
            step.limit = threading.Timer(self._patience, self._give_up, (step,))
            step.limit.daemon = True
            step.limit.start()
        self._tasks.put(lambda: self._finish(step))
        return staged.future.then(lambda future: _value(step, future))

    def count_plain_step(self) -> None:
        """A step went through torch's own all-reduce. Nothing is under way here meanwhile."""
        self.stats.add_plain()
        self.steps += 1

    def _begin(self) -> None:
        self._settle("the backward pass before this one has not ended")
        self._step = Step(held=self._exchange is None or self.watcher is not None)
        self._step.number = self.steps
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
            self._await_end(step)
        elif not step.done.is_set():
            raise UsageError(otherwise)
        if self._failed is not None:
            raise self._failed

    def _result(self, step: Step) -> None:
        self._await_end(step)
        if step.error is not None:
            raise step.error

    def _await_end(self, step: Step) -> None:
        """For as long as torch's own all-reduce would wait."""
        if not step.done.wait(self._patience):
            self._give_up(step)

    def _give_up(self, step: Step) -> None:
        """The step fails, and the other ranks see this one leave."""
        if not step.done.is_set():
            self._fail(
                step,
                PeerError(
                    f"not all ranks have taken part in step {step.number} within {self._patience:g} s, the "
                    "timeout of the model's process group"
                ),
            )
            self.gave_up = True
            self.wire.leave()
            # Shared memory cannot be left while the exchange waits in it: the thread leaves as soon as that ends.
            self._tasks.put(self._leave)

    def _fail(self, step: Step, error: BaseException) -> None:
        """The first error is the one that counts: others follow from it."""
        with self._failing:
            self._failed = step.error = self._failed or error

    def _ready(self, staged: Any, layout: Any) -> None:
        self._exchange.ready(layout.tensors, layout.offsets, staged.values)

    # On the engine's own thread.

    def _leave(self) -> None:
        self._drop_exchange()
        self.wire.close()
        is_closed(self)

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
            self._fail(step, error)

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
        if step.limit is not None:
            step.limit.cancel()

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


def _call_after_backward(call: Any) -> bool:
    """What went wrong is raised as it is, by backward() itself. What futures raise in C++ becomes a
    RuntimeError, and serves where there is no backward pass: then this says False."""
    try:
        torch.autograd.Variable._execution_engine.queue_callback(call)
    except RuntimeError:
        return False
    return True


def _value(step: Step, future: Any) -> Any:
    if step.error is not None:
        raise step.error
    return future.value()
