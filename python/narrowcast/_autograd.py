"""Emulated arithmetic under torch's autograd: matrix products and convolutions, and their gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Callable, List, Optional, Tuple

import torch
from torch.nn import functional as F

from ._arithmetic import Dice, cast, gemm
from ._errors import UsageError


@dataclass
class Arithmetic:
    """How a layer computes; every format is a spec.

    Inputs and weights are rounded to `forward`, gradients that come in to `backward`; then every
    product is rounded to `product` and every partial sum to `accumulate`, with Kahan's compensation
    where `kahan` says so. Block formats (mxfp8, ...) serve for forward and backward.
    """

    forward: str = "fp32"
    backward: str = "fp32"
    product: str = "fp32"
    accumulate: str = "fp32"
    kahan: bool = False
    seed: int = 0
    layer: int = 0  # layers throw different dice
    calls: int = field(default=0, repr=False)  # and so do calls

    def check(self) -> None:
        """UsageError for formats and seeds that there are not."""
        dice = Dice(self.seed, 0, self.layer)
        for spec in (self.forward, self.backward):
            cast(torch.zeros(0), spec, dice)
        gemm(torch.zeros(0, 0), torch.zeros(0, 0), self.product, self.accumulate)

    def call(self) -> Call:
        self.calls += 1
        return Call(self, self.calls - 1)


class Call:
    """One pass through a layer, forward and backward, with dice of its own."""

    def __init__(self, arithmetic: Arithmetic, number: int) -> None:
        self._arithmetic = arithmetic
        self._number = number
        self._thrown = 0

    def _dice(self) -> Dice:
        self._thrown += 1
        step = (self._number << 20) + self._thrown  # a convolution throws for each of its groups
        return Dice(self._arithmetic.seed, step, self._arithmetic.layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return cast(x, self._arithmetic.forward, self._dice())

    def backward(self, gradient: torch.Tensor) -> torch.Tensor:
        return cast(gradient, self._arithmetic.backward, self._dice())

    def matmul(
        self, a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor] = None
    ) -> torch.Tensor:
        """The bias is one more addend of every sum."""
        how = self._arithmetic
        return gemm(a, b, how.product, how.accumulate, how.kahan, self._dice(), bias=bias)

    def column_sums(self, matrix: torch.Tensor) -> torch.Tensor:
        return self.matmul(torch.ones(1, matrix.shape[0], dtype=torch.float32), matrix).reshape(-1)


def _matrix(x: torch.Tensor) -> torch.Tensor:
    """One row for all that leads to the last axis. Every size is named, here and below: of nothing torch
    cannot tell how many it would be."""
    return x.reshape(x.shape[:-1].numel(), x.shape[-1])


def _graph_of(x: torch.Tensor) -> torch.Tensor:
    """No values, but the graph of x; x itself would be kept in memory."""
    return x.reshape(-1)[:0].clone()


Gradients = Tuple[Any, ...]


def _never_twice(backward: Callable[..., Gradients]) -> Callable[..., Gradients]:
    """Hands out what was saved, whose last two are the graphs of inputs and weights, and refuses to
    differentiate the results.

    torch's once_differentiable lets pass what came in without a graph, and is not asked by
    torch.autograd.grad: its refusal leads to no input. Saved tensors are read once, as activation
    checkpoints demand.
    """

    @wraps(backward)
    def refusing(ctx: Any, gradient: torch.Tensor) -> Gradients:
        *saved, of_x, of_weight = ctx.saved_tensors
        with torch.no_grad():
            found = backward(ctx, gradient, *saved)
        if not torch.is_grad_enabled():
            return found
        handed = (*found, gradient, of_x, of_weight)
        refusal = torch._C._functions.DelayedError(
            b"trying to differentiate twice an emulated layer", len(handed)
        )
        refused: Gradients = refusal(*handed)[: len(found)]
        return refused

    return refusing


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, call: Call, *graphs: Any) -> torch.Tensor:
        rows, kernel = call.forward(_matrix(x)).float(), call.forward(weight).float()
        ctx.save_for_backward(rows, kernel, *graphs)
        ctx.call, ctx.shape, ctx.dtypes = call, x.shape, [t.dtype for t in (x, weight)]
        out = call.matmul(rows, kernel.t(), bias).to(x.dtype)
        # The result itself, in another shape. A view nobody could change in place, as activations do.
        return out.resize_(*x.shape[:-1], weight.shape[0])

    @staticmethod
    @_never_twice
    def backward(ctx: Any, gradient: Any, rows: Any, kernel: Any) -> Gradients:
        call = ctx.call
        incoming = call.backward(_matrix(gradient)).float()
        of_x = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_x = call.matmul(incoming, kernel).reshape(ctx.shape).to(ctx.dtypes[0])
        if ctx.needs_input_grad[1]:
            of_weight = call.matmul(incoming.t(), rows).to(ctx.dtypes[1])
        if ctx.needs_input_grad[2]:
            of_bias = call.column_sums(incoming).to(ctx.dtypes[1])
        return of_x, of_weight, of_bias, None, None, None


def linear(
    x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], arithmetic: Arithmetic
) -> torch.Tensor:
    """As torch.nn.functional.linear."""
    return _Linear.apply(x, weight, bias, arithmetic.call(), _graph_of(x), _graph_of(weight))


Pair = Tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """How a convolution's window moves. padding: left, right, top, bottom, as F.pad takes it."""

    stride: Pair
    padding: Tuple[int, int, int, int]
    dilation: Pair
    groups: int


def _windows(x: torch.Tensor, kernel: Pair, stride: Pair, dilation: Pair, groups: int) -> List[Any]:
    """For each group a matrix: a row for each place of the window, channels slowest within it."""
    columns = F.unfold(x, kernel, dilation=dilation, stride=stride)
    by_place = columns.transpose(1, 2).chunk(groups, dim=2)
    return [_matrix(each) for each in by_place]


def _places(length: int, kernel: int, stride: int, dilation: int) -> int:
    return (length - dilation * (kernel - 1) - 1) // stride + 1


class _Conv(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Any, weight: Any, bias: Any, shape: Shape, call: Call, *graphs: Any
    ) -> torch.Tensor:
        padded = F.pad(_by_rows(call.forward, x), shape.padding).float()
        kernel = call.forward(weight.reshape(weight.shape[0], -1)).float()
        window = tuple(weight.shape[2:])
        ctx.save_for_backward(padded, kernel, *graphs)
        ctx.call, ctx.shape, ctx.window = call, shape, window
        ctx.dtypes = [t.dtype for t in (x, weight)]
        rows = _windows(padded, window, shape.stride, shape.dilation, shape.groups)
        biases = [None] * shape.groups if bias is None else bias.chunk(shape.groups)
        parts = zip(rows, kernel.chunk(shape.groups), biases)
        out = torch.cat([call.matmul(r, k.t(), b) for r, k, b in parts], dim=1)
        sizes = [
            _places(padded.shape[2 + i], window[i], shape.stride[i], shape.dilation[i])
            for i in (0, 1)
        ]
        images = out.reshape(x.shape[0], *sizes, out.shape[1]).permute(0, 3, 1, 2)
        # A copy also where the order is right already: a view nobody could change in place.
        return images.to(x.dtype, memory_format=torch.contiguous_format, copy=True)

    @staticmethod
    @_never_twice
    def backward(ctx: Any, gradient: Any, padded: Any, kernel: Any) -> Gradients:
        call, shape = ctx.call, ctx.shape
        # Channels last: the values of a block format's block belong to one place.
        rows = gradient.permute(0, 2, 3, 1)
        rows = call.backward(_matrix(rows)).float()
        of_x = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            batch, channels, *places = gradient.shape
            incoming = rows.reshape(batch, *places, channels).permute(0, 3, 1, 2)
            of_x = _input_gradient(ctx, padded.shape[2:], incoming, kernel).to(ctx.dtypes[0])
        if ctx.needs_input_grad[1]:
            windows = _windows(padded, ctx.window, shape.stride, shape.dilation, shape.groups)
            parts = zip(rows.chunk(shape.groups, dim=1), windows)
            of_weight = torch.cat([call.matmul(r.t(), w) for r, w in parts])
            of_weight = of_weight.reshape(kernel.shape[0], -1, *ctx.window).to(ctx.dtypes[1])
        if ctx.needs_input_grad[2]:
            of_bias = call.column_sums(rows).to(ctx.dtypes[1])
        return of_x, of_weight, of_bias, None, None, None, None


def _by_rows(round_matrix: Any, x: torch.Tensor) -> torch.Tensor:
    """Rounds with channels last, so that the blocks of a block format hold channels of one place."""
    last = x.permute(0, 2, 3, 1)
    return round_matrix(last.contiguous()).permute(0, 3, 1, 2)


def _input_gradient(
    ctx: Any, size: torch.Size, incoming: torch.Tensor, kernel: torch.Tensor
) -> torch.Tensor:
    """One sum for each input: the gradient, spread out by the stride, under the mirrored window.

    Adding up overlapping windows afterwards would do sums in float32 that no format has rounded. size:
    height and width of the padded input.
    """
    shape, window = ctx.shape, ctx.window
    batch, channels, height, width = incoming.shape
    spread = incoming.new_zeros(
        batch, channels, (height - 1) * shape.stride[0] + 1, (width - 1) * shape.stride[1] + 1
    )
    spread[:, :, :: shape.stride[0], :: shape.stride[1]] = incoming
    reach = [shape.dilation[i] * (window[i] - 1) for i in (0, 1)]
    # What the last window did not reach has had no part in the output.
    missed = [size[i] - spread.shape[2 + i] - reach[i] for i in (0, 1)]
    around = (reach[1], reach[1] + missed[1], reach[0], reach[0] + missed[0])
    rows = _windows(F.pad(spread, around), window, (1, 1), shape.dilation, shape.groups)
    outs = []
    for r, k in zip(rows, kernel.chunk(shape.groups)):
        mirrored = k.reshape(k.shape[0], -1, *window).flip(2, 3).transpose(0, 1)
        outs.append(ctx.call.matmul(r, mirrored.reshape(mirrored.shape[0], -1).t()))
    sums = torch.cat(outs, dim=1)
    whole = sums.reshape(batch, *size, sums.shape[1]).permute(0, 3, 1, 2)
    left, right, top, bottom = shape.padding
    return whole[:, :, top : whole.shape[2] - bottom, left : whole.shape[3] - right].contiguous()


def conv2d(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: Optional[torch.Tensor],
    shape: Shape,
    arithmetic: Arithmetic,
) -> torch.Tensor:
    """As torch.nn.functional.conv2d, for one image or a batch of them."""
    if x.dim() == 3:
        return conv2d(x.unsqueeze(0), weight, bias, shape, arithmetic).squeeze(0)
    if x.dim() != 4 or x.shape[1] != weight.shape[1] * shape.groups:
        raise UsageError(
            f"a convolution of {weight.shape[1] * shape.groups} channels takes images of that many, "
            f"not shape {tuple(x.shape)}"
        )
    graphs = _graph_of(x), _graph_of(weight)
    return _Conv.apply(x, weight, bias, shape, arithmetic.call(), *graphs)
