"""What a model computes in a step, measured for plan='auto'."""

from __future__ import annotations

import statistics
import time
from typing import Any, Optional

import torch

from .. import _core

_WARM_UP = 3  # buckets are built anew, memory is touched for the first time
_STEPS = 7


class Diary:
    """Notes when forward and backward begin and end, and when each bucket is ready. Nothing travels
    before the last one is, so that computing has the cores for itself."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._notes: list[Any] = []
        self._steps = 0
        self._forget()
        self._hooks = [
            model.register_forward_pre_hook(self._before_forward),
            model.register_forward_hook(self._after_forward),
        ]
        self._ended: Optional[float] = None

    @property
    def complete(self) -> bool:
        """By what all ranks count alike: one that has run out of batches in torch's join() follows the steps of
        the others, and has nothing to note."""
        return self._steps >= _WARM_UP + _STEPS

    def ready(self) -> None:
        """A bucket is."""
        self._ready.append(time.perf_counter())

    def end_step(self) -> None:
        """All its sums are there."""
        self._steps += 1
        if self._steps > _WARM_UP and self._ended is not None and self._begun is not None:
            self._notes.append(
                [
                    self._forward - self._begun,
                    self._begun - self._ended,
                    *(ready - self._forward for ready in self._ready),
                ]
            )
        self._forget()
        self._ended = time.perf_counter()

    def close(self) -> None:
        for hook in self._hooks:
            hook.remove()

    def model(self, layouts: list[Any], talk: Any) -> Any:
        """The step as those who have measured any have it, equal on all ranks."""
        notes = [note for note in self._notes if len(note) == 2 + len(layouts)]
        own = [1.0, *(statistics.median(values) for values in zip(*notes))]
        sums = torch.tensor(own if notes else [0.0] * (3 + len(layouts)), dtype=torch.float32)
        talk.all_reduce(sums, _core.Way("fp32", None, 0), "direct", "sum")
        measured, *seconds = sums.tolist()
        # None only if no forward pass went through the model anywhere.
        forward, rest, *ready = (1000 * value / max(measured, 1.0) for value in seconds)
        tensors = [
            (name, size[0], max(when, 0.0))
            for layout, when in zip(layouts, ready)
            for name, size in zip(layout.names, layout.sizes)
        ]
        return _core.measured_model(max(forward, 0.0), max(ready[-1], 0.0), max(rest, 0.0), tensors)

    def _forget(self) -> None:
        self._begun: Optional[float] = None
        self._forward = 0.0
        self._ready: list[Any] = []

    def _before_forward(self, *_: Any) -> None:
        if self._begun is None:
            self._begun = time.perf_counter()

    def _after_forward(self, *_: Any) -> None:
        self._forward = time.perf_counter()
