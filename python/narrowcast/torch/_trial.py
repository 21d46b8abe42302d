"""Whether a plan is really quicker than torch's own all-reduce: both are tried in turn."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable, Optional

import torch

from .. import _core

_TURN = 6  # steps; the first of a turn is not counted
_TURNS = 4


class Trial:
    """Follows the steps of a model, which begins with the plan, and says at the end which was
    quicker. All ranks end it at the same step, and say the same."""

    def __init__(self, talk: Any, end: Callable[[float, float], None]) -> None:
        self._talk = talk
        self._end = end
        self._steps = 0
        self._before: Optional[float] = None
        self._times: list[list[float]] = [[], []]  # with the plan, and without

    @property
    def is_plain(self) -> bool:
        """Whether it is the turn of torch's own all-reduce."""
        return (self._steps // _TURN) % 2 == 1

    def note_step(self) -> None:
        """The last bucket of a step is on its way."""
        now = time.perf_counter()
        if self._before is not None and self._steps % _TURN != 0:
            self._times[self.is_plain].append(1000 * (now - self._before))
        self._before = now
        self._steps += 1
        if self._steps == _TURN * _TURNS:
            medians = torch.tensor([statistics.median(times) for times in self._times])
            self._talk.all_reduce(medians, _core.Way("fp32", None, 0), "direct", "average")
            self._end(*medians.tolist())
