"""Rounding inside a network: one format forward, another one backward."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from .._arithmetic import Dice, cast, float_spec


class _Rounding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, way: _Way) -> torch.Tensor:
        ctx.way = way
        ctx.call = way.next_call()
        return way.round(x, way.forward, 2 * ctx.call)

    @staticmethod
    @once_differentiable  # Enough: what goes out depends on nothing but what comes in.
    def backward(ctx: Any, gradient: torch.Tensor) -> Tuple[Any, ...]:
        return ctx.way.round(gradient, ctx.way.backward, 2 * ctx.call + 1), None


class _Way:
    """The two formats, and dice that are others at every call."""

    def __init__(self, forward: str, backward: str, seed: int) -> None:
        self.forward = forward
        self.backward = backward
        self._seed = seed
        self._calls = 0

    def next_call(self) -> int:
        self._calls += 1
        return self._calls - 1

    def round(self, x: torch.Tensor, spec: str, step: int) -> torch.Tensor:
        return cast(x, spec, Dice(self._seed, step))


def _spec_of(exp: int, man: int) -> str:
    return "fp32" if (exp, man) == (8, 23) else float_spec(exp, man)


def quantizer(
    forward_exp: int = 8,
    forward_man: int = 23,
    backward_exp: int = 8,
    backward_man: int = 23,
    forward: Optional[str] = None,
    backward: Optional[str] = None,
    seed: int = 0,
) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function that rounds values on their way forward and gradients on their way back.

    `forward` and `backward` are specs to use instead of (exp, man). (8, 23) is float32.

    >>> import torch
    >>> from narrowcast import cpd
    >>> quantize = cpd.quantizer(4, 3, 5, 2)
    >>> quantize(torch.tensor([1.0, 2.2]))
    tensor([1.0000, 2.2500])
    """
    way = _Way(
        forward or _spec_of(forward_exp, forward_man),
        backward or _spec_of(backward_exp, backward_man),
        seed,
    )
    for spec in (way.forward, way.backward):
        # What is wrong is refused now rather than in the first step.
        cast(torch.zeros(0), spec, Dice(seed))
    return lambda x: _Rounding.apply(x, way)


class Quantizer(nn.Module):
    """`quantizer` as a layer.

    >>> import torch
    >>> from narrowcast import cpd
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 2), cpd.Quantizer(4, 3, 5, 2))
    >>> model(torch.ones(1, 4)).sum().backward()
    """

    def __init__(
        self,
        forward_exp: int = 8,
        forward_man: int = 23,
        backward_exp: int = 8,
        backward_man: int = 23,
        forward: Optional[str] = None,
        backward: Optional[str] = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._formats = (
            forward or _spec_of(forward_exp, forward_man),
            backward or _spec_of(backward_exp, backward_man),
        )
        self._seed = seed
        self.quantize = quantizer(forward=self._formats[0], backward=self._formats[1], seed=seed)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.quantize(x)

    def extra_repr(self) -> str:
        return f"forward={self._formats[0]}, backward={self._formats[1]}"

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "quantize"}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        super().__setstate__(state)
        self.quantize = quantizer(
            forward=self._formats[0], backward=self._formats[1], seed=self._seed
        )
