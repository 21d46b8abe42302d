"""What `compress` returns."""

from __future__ import annotations

import operator
import weakref
from typing import Any, Callable, Mapping, Optional

import torch

from .. import _core
from .._arrays import type_name
from .._errors import UsageError
from ._auto import Auto, pays, verdict_of
from ._engine import Engine
from ._trial import Trial
from ._wire import Wire, is_closed

_TALK = 1  # the conversation of what is not gradients
_EXIT_SECONDS = 2.0
_DIGIT = 1 << 20  # counters travel as float32, in two digits
_COUNTED = _DIGIT << 24
_SAVED = (torch.float32, torch.int64, torch.uint8)  # what state_dict() has


class Handle:
    """One model whose gradients are compressed. Everything but `stats` is called by all its ranks."""

    def __init__(
        self,
        model: Any,
        plan: Any,
        *,
        seed: int,
        transport: str,
        threads: int,
        codecs: list[Any],
        max_error: Optional[float],
        say: Callable[[str], None],
    ) -> None:
        self.is_plain = False  # gradients travel as torch has them
        self._trial: Optional[Trial] = None
        self._followed: Optional[Trial] = None  # in this step
        self.removed = False
        measured = plan is None
        plan = _core.plan_of("fp32") if measured else plan
        self._wire = Wire(model.process_group, transport, plan.deadline)
        try:
            terms = f"auto {codecs} {max_error}" if measured else str(plan)
            self._wire.net.meet(terms, str(seed), plan.key_file)
            self._talk = _core.Talk(self._wire.net, _TALK)
        except BaseException:
            self._wire.close()
            raise
        self._speak = speak = say if self._wire.rank == 0 else (lambda line: None)
        self._engine = Engine(
            model.module, plan, self._wire, seed=seed, threads=threads, say=speak
        )
        # A model that goes takes the engine along, remove() or not. It must not be held by what this holds.
        self._end = weakref.finalize(model, self._engine.let_go)
        self._end.atexit = False
        if measured:
            self._engine.watcher = Auto(
                model,
                self._engine,
                self._talk,
                codecs=codecs,
                max_error=max_error,
                give_up=self._become_plain,
                try_out=self._try_out,
                say=speak,
            )

    @property
    def plan(self) -> Optional[str]:
        """The plan in force, as TOML. None until plan="auto" has decided, and when gradients travel as
        torch has them."""
        if self.is_plain or self._trial is not None or self._engine.watcher is not None:
            return None
        return str(self._engine.plan)

    @property
    def transport(self) -> str:
        """"shm" or "gloo"."""
        return self._wire.transport

    @property
    def buckets(self) -> int:
        """How many buckets the last backward pass had."""
        return self._engine.bucket_count

    def set_epoch(self, epoch: int) -> None:
        """What the plan's schedules by epoch go by."""
        number = operator.index(epoch)
        if not 0 <= number < _COUNTED:
            raise UsageError(f"{number} is no epoch; give a whole number from 0 to 2^44 - 1")
        self._engine.epoch = number

    def stats(self) -> dict[Any, Any]:
        """Since the beginning: `steps`, `skipped_steps`, `bytes` sent by this rank, `fp32_bytes` that
        it would have sent uncompressed, and their `ratio`. Of the last step: `bytes_by_codec`,
        `encode_ms`, `wire_ms`, `decode_ms`, `wait_ms` after the last gradient, and `overlap`, the part
        of the exchange that was hidden behind computing."""
        return self._engine.stats.report()

    def state_dict(self) -> dict[Any, Any]:
        """Step, epoch and residuals by the names of the parameters. The first rank has the residuals
        of all ranks, the others have none."""
        self._require_open()
        residuals = self._engine.save()
        return {"step": self._engine.steps, "epoch": self._engine.epoch, "residuals": residuals}

    def load_state_dict(self, state: Optional[dict[Any, Any]]) -> None:
        """What state_dict() gave on the first rank; what the others have does not count. The number of
        ranks may have changed since."""
        self._require_open()
        counters, why = torch.zeros(5), ""
        residuals: dict[Any, Any] = {}
        if self._wire.rank == 0:
            try:
                digits, residuals = self._read(state)
                counters = torch.tensor([1, *digits], dtype=torch.float32)
            except Exception as error:  # whatever it is: the others wait for this rank
                why = f": {error}"
        # The others add zeros.
        self._talk.all_reduce(counters, _core.Way("fp32", None, 0), "direct", "sum")
        good, high, low, epoch_high, epoch_low = (int(value) for value in counters.tolist())
        if not good:
            raise UsageError(f"the first rank needs what its state_dict() gave{why}")
        self._engine.load(residuals)
        self._engine.steps = high * _DIGIT + low
        self._engine.epoch = epoch_high * _DIGIT + epoch_low

    def remove(self) -> None:
        """Ends it: from now on gradients travel as torch has them."""
        if self.removed:
            return
        self.removed = self.is_plain = True
        self._end.detach()
        self._trial = None
        if self._engine.watcher is not None:
            self._engine.watcher.close()
        if self._engine.close(_EXIT_SECONDS if self._engine.gave_up else None):
            self._wire.close()
            is_closed(self._engine)

    def take(self, bucket: Any, plain: Callable[[Any], Any]) -> Any:
        """What the hook calls for each bucket; `plain` lets it travel as torch has it."""
        if bucket.index() == 0:
            # Not before the next step: the engine's thread may decide while this one ends.
            self._followed = self._trial
        is_plain = self.is_plain
        future = plain(bucket) if is_plain else self._engine.take(bucket)
        if bucket.is_last():
            if is_plain and not self.removed:
                self._engine.count_plain_step()
            self._follow_trial()
        return future

    def _read(self, state: Any) -> tuple[list[int], dict[Any, Any]]:
        """Digits and residuals of a state. Raises where state_dict() cannot have given it."""
        _require_state(state)
        residuals = {
            name: values.detach().cpu().contiguous() for name, values in state["residuals"].items()
        }
        self._engine.check(residuals)
        return [*divmod(state["step"], _DIGIT), *divmod(state["epoch"], _DIGIT)], residuals

    def _require_open(self) -> None:
        if self.removed or not self._end.alive:
            raise UsageError("this handle was removed, and its state went with it")

    def _become_plain(self) -> None:
        self.is_plain = True

    def _follow_trial(self) -> None:
        if self._followed is not None:
            self._followed.note_step()
            if self._trial is not None:
                self.is_plain = self._trial.is_plain

    def _try_out(self) -> None:
        self._trial = Trial(self._talk, self._judge)

    def _judge(self, narrow_ms: float, plain_ms: float) -> None:
        self._trial = None
        self.is_plain = not pays(narrow_ms, plain_ms)
        self._speak(verdict_of(narrow_ms, plain_ms))


def _require_state(state: Any) -> None:
    """Its form. Which tensors the residuals are of is the exchange's to say."""
    if not isinstance(state, Mapping) or set(state) != {"step", "epoch", "residuals"}:
        raise UsageError("step, epoch and residuals")
    for name in ("step", "epoch"):
        value = state[name]
        # True is an int, and no number of steps.
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _COUNTED:
            raise UsageError(f"{name} is {value!r}")
    if not isinstance(state["residuals"], Mapping):
        raise UsageError(f"residuals are of {type_name(state['residuals'])}")
    for name, values in state["residuals"].items():
        if not _is_text(name) or not _is_saved(values):
            raise UsageError(f"{name!r} is no saved residual")


def _is_text(name: Any) -> bool:
    try:
        return isinstance(name, str) and bool(name.encode())
    except UnicodeEncodeError:  # half a character
        return False


def _is_saved(values: Any) -> bool:
    """Whether it is a tensor as state_dict() has them, on whatever device, if it has values there."""
    tensor = isinstance(values, torch.Tensor) and values.layout is torch.strided
    return tensor and values.dtype in _SAVED and not values.is_meta
