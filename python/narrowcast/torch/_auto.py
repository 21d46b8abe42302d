"""plan='auto': measures the first steps and the machines, and decides."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .. import _core
from ._measure import Diary

_WORTHWHILE = 0.95  # of the time that a step takes without the plan
_SURE_GAIN = 1.5  # what is predicted to gain less is tried out first
_SECONDS = 1.0  # for the links, and as much for the codecs


class Auto:
    """Watches an engine until it knows enough; then sets its plan, or lets the gradients travel as
    they are."""

    def __init__(
        self,
        model: Any,
        engine: Any,
        talk: Any,
        *,
        codecs: list[Any],
        max_error: Optional[float],
        give_up: Callable[[], None],
        try_out: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._diary = Diary(model)
        self._engine = engine
        self._talk = talk
        self._codecs = codecs
        self._max_error = max_error
        self._give_up = give_up
        self._try_out = try_out
        self._say = say

    def close(self) -> None:
        self._diary.close()

    def ready(self) -> None:
        self._diary.ready()

    def end_step(self, buckets: int) -> None:
        self._diary.end_step()
        if not self._diary.complete:
            return
        self._diary.close()
        engine = self._engine
        if engine.wire.size == 1:
            self._say("narrowcast: one rank has nobody to send gradients to; they stay as torch has them")
            self._give_up()
            return
        model = self._diary.model(engine.buckets.layouts(buckets), self._talk)
        advice = _core.advise(
            engine.wire.net,
            model,
            self._codecs,
            self._max_error,
            engine.wire.machine_workers,
            _SECONDS,
        )
        self._say(_sentence(advice))
        if advice["compress"]:
            engine.watcher = None
            engine.change_plan(advice["plan"])
            if advice["gain"] < _SURE_GAIN:
                self._try_out()
        else:
            self._give_up()


def pays(narrow_ms: float, plain_ms: float) -> bool:
    """What a trial has found. Trials differ by some percent, and fp32 loses nothing."""
    return narrow_ms <= _WORTHWHILE * plain_ms


def verdict_of(narrow_ms: float, plain_ms: float) -> str:
    """The same in one line."""
    if pays(narrow_ms, plain_ms):
        return (
            f"narrowcast: tried out, a step takes {narrow_ms:.3g} ms, and {plain_ms:.3g} ms with torch's "
            "own all-reduce: it stays"
        )
    return (
        f"narrowcast: tried out, a step takes {narrow_ms:.3g} ms, and {plain_ms:.3g} ms with torch's own "
        "all-reduce: gradients travel in fp32, as torch has them"
    )


def _sentence(advice: dict[Any, Any]) -> str:
    if advice["compress"]:
        return (
            f"narrowcast: {advice['codec']} should make a step {advice['gain']:.3g} times as quick as "
            f"fp32 ({advice['step_ms']:.3g} ms instead of {advice['fp32_step_ms']:.3g} ms)"
        )
    return (
        f"narrowcast: compressing does not pay here, a step takes {advice['fp32_step_ms']:.3g} ms in "
        f"fp32 and is held up by {advice['dominant']}; gradients travel in fp32, as torch has them"
    )
