"""Arithmetic in any float format on numpy arrays and torch tensors: emulate/ for Python."""

from __future__ import annotations

import operator
import os
from typing import Any, NamedTuple, Optional, Sequence

from . import _core
from ._arrays import floats_of
from ._codecs import seed_of, spec_of
from ._errors import UsageError

# Below this many products another thread costs more than it saves.
_PRODUCTS_A_THREAD = 1 << 19
# And below this many additions of nodes.
_ADDITIONS_A_THREAD = 1 << 16
_MOST_THREADS = 1024


class Dice(NamedTuple):
    """Whose dice stochastic formats throw: the same ones give the same result."""

    seed: int = 0
    step: int = 0
    tensor: int = 0

    def thrower(self) -> Any:
        return _core.Thrower(*(seed_of(number) for number in self))


def float_spec(
    exp: int, man: int, rounding: str = "nearest", overflow: str = "inf", kind: str = "ieee"
) -> str:
    """The spec of a float format: `float_spec(5, 2)` is "float:e=5,m=2,...".

    exp is 1 to 8 and man 0 to 23. The rest is as `narrowcast codecs` describes it for `float`.
    """
    e, m = operator.index(exp), operator.index(man)
    if kind == "finite" and overflow == "inf":
        overflow = "saturate"
    return f"float:e={e},m={m},rounding={rounding},overflow={overflow},kind={kind}"


def threads_of(asked: int) -> int:
    """As many as asked for."""
    if not 1 <= operator.index(asked) <= _MOST_THREADS:
        raise UsageError(f"threads is {asked}; give 1 to {_MOST_THREADS}")
    return operator.index(asked)


def threads_for(asked: Optional[int], work: int, worthwhile: int) -> int:
    """As many as asked for, else as many as there are CPUs and work for them."""
    if asked is not None:
        return threads_of(asked)
    return max(1, min(len(os.sched_getaffinity(0)), work // worthwhile))


def cast(x: Any, spec: str, dice: Dice = Dice()) -> Any:
    """x rounded to a format: a new array of the same kind, shape and dtype.

    The values of an MX format that share a scale are neighbours along the last axis, in blocks that
    begin anew in every row.
    """
    values = floats_of(x, "x")
    out = values.room()
    alone = spec_of(spec).startswith("mx") and len(values.shape) > 0
    row = values.shape[-1] if alone else values.flat.shape[0]
    _core.cast(values.flat, out.reshape(-1), spec, dice.thrower(), row)
    return values.of_dtype(out)


def gemm(
    a: Any,
    b: Any,
    product: str = "fp32",
    accumulate: str = "fp32",
    kahan: bool = False,
    dice: Dice = Dice(),
    threads: Optional[int] = None,
    bias: Optional[Any] = None,
) -> Any:
    """a @ b, where every product is rounded to one format and every partial sum to another.

    Terms are added in ascending order, one after the other, and at last the `bias`, which has a value
    for each column; with `kahan` each sum has a compensation term in the same format. Results are of
    a's kind and dtype.

    >>> import narrowcast, numpy as np
    >>> a = np.full((1, 20), 1, dtype=np.float32)
    >>> narrowcast.gemm(a, a.T, accumulate="float:e=5,m=2")
    array([[8.]], dtype=float32)
    """
    left, right = floats_of(a, "a"), floats_of(b, "b")
    if len(left.shape) != 2 or len(right.shape) != 2:
        raise UsageError(f"gemm takes two matrices, not shapes {left.shape} and {right.shape}")
    (rows, terms), (inner, columns) = left.shape, right.shape
    if terms != inner:
        raise UsageError(f"gemm: {rows} x {terms} and {inner} x {columns} matrices have no product")
    out = left.room((rows, columns))
    workers = threads_for(threads, rows * columns * terms, _PRODUCTS_A_THREAD)
    how = _core.Product(
        rows,
        terms,
        columns,
        spec_of(product, "product"),
        spec_of(accumulate, "accumulate"),
        bool(kahan),
        _bias_of(bias, columns),
        dice.thrower(),
        workers,
    )
    _core.product(left.flat, right.flat, out.reshape(-1), how)
    return left.of_dtype(out)


def _bias_of(bias: Optional[Any], columns: int) -> Optional[Any]:
    if bias is None:
        return None
    addends = floats_of(bias, "bias")
    if addends.shape != (columns,):
        raise UsageError(f"bias has shape {addends.shape}; {columns} columns need {(columns,)}")
    return addends.flat


def sum_nodes(
    nodes: Sequence[Any],
    spec: str,
    order: str = "hierarchy",
    group: int = 0,
    kahan: bool = False,
    aps: bool = False,
    dice: Dice = Dice(),
    threads: Optional[int] = None,
) -> Any:
    """The sum of what many nodes have, as an all-reduce with partial sums in that format leaves it.

    `order` is "ring", where every shard of the values begins at another node, or "hierarchy", where
    groups of `group` neighbours are summed first (0: the nodes one after the other). With `aps` values
    are scaled by the power of two of auto precision scaling before, and back afterwards.

    >>> import narrowcast, numpy as np
    >>> ones = [np.ones(4, dtype=np.float32)] * 64
    >>> float(narrowcast.sum_nodes(ones, "float:e=5,m=2", order="ring")[0])
    8.0
    >>> float(narrowcast.sum_nodes(ones, "float:e=5,m=2", group=8)[0])
    64.0
    """
    if order not in ("ring", "hierarchy"):
        raise UsageError(f'no order "{order}" of nodes; there are ring and hierarchy')
    shares = [floats_of(node, f"nodes[{i}]") for i, node in enumerate(nodes)]
    if not shares:
        raise UsageError("a sum needs one node at least")
    for i, share in enumerate(shares):
        if share.shape != shares[0].shape:
            raise UsageError(f"nodes[{i}] has shape {share.shape}, nodes[0] {shares[0].shape}")
    out = shares[0].room()
    work = len(shares) * shares[0].flat.shape[0]
    how = _core.Total(
        spec_of(spec),
        order == "ring",
        _group_of(group),
        bool(kahan),
        bool(aps),
        dice.thrower(),
        threads_for(threads, work, _ADDITIONS_A_THREAD),
    )
    _core.total([share.flat for share in shares], out.reshape(-1), how)
    return shares[0].of_dtype(out)


def _group_of(nodes: int) -> int:
    number = operator.index(nodes)
    if not 0 <= number < 2**31:
        raise UsageError(f"group is {number}; a group has 1 to 2^31 - 1 nodes, 0: all of them")
    return number
