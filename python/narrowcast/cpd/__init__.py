"""CPD's interface (Customized-Precision Deep Learning, arXiv 1911.08907), on the CPU.

Names and the order of arguments are CPD's; what it got wrong is right here: docs/emulate.md has the
list. `float_quantize`, `quant_gemm` and `sum_nodes` take numpy arrays and torch tensors; the rest needs
torch, which is imported when one of these names is first used.

A format is (exp, man): that many bits of exponent and mantissa, as IEEE 754 has them, and `rounding`,
`overflow` and `kind` say more where they are taken. Wherever a `spec` is taken, any codec of
`narrowcast codecs` will do: "e4m3:overflow=saturate", "mxfp4", "float:e=5,m=2,rounding=stochastic".
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, List, Optional, Sequence

from .. import _arithmetic
from .._arithmetic import Dice, cast, float_spec

_NEED_TORCH = {
    "quantizer": "_quantizer",
    "Quantizer": "_quantizer",
    "Quant_Linear": "_modules",
    "Quant_Conv": "_modules",
    "sum_gradients": "_gradients",
    "Nodes": "_gradients",
}

__all__ = ["Dice", "cast", "float_quantize", "float_spec", "quant_gemm", "sum_nodes", *_NEED_TORCH]


if TYPE_CHECKING:  # For type checkers __getattr__ would have every name there is, of any type.
    from ._gradients import Nodes as Nodes, sum_gradients as sum_gradients
    from ._modules import Quant_Conv as Quant_Conv, Quant_Linear as Quant_Linear
    from ._quantizer import Quantizer as Quantizer, quantizer as quantizer
else:

    def __getattr__(name: str) -> Any:
        if name not in _NEED_TORCH:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_NEED_TORCH[name]}"), name)


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


def float_quantize(
    x: Any,
    exp: int,
    man: int,
    rounding: str = "nearest",
    overflow: str = "inf",
    kind: str = "ieee",
    dice: Dice = Dice(),
) -> Any:
    """x rounded to a float format: a new array; x stays as it is.

    rounding: nearest (ties to even), stochastic, or zero; overflow: inf or saturate; kind: ieee, fn
    (OCP E4M3: NaN but no infinity) or finite (OCP E2M1: numbers only).

    >>> import numpy as np
    >>> from narrowcast import cpd
    >>> x = np.array([1.1, 61440, 7.6293954e-06], dtype=np.float32)
    >>> cpd.float_quantize(x, 5, 2).tolist() == [1.0, float("inf"), 2.0**-16]
    True
    """
    return cast(x, float_spec(exp, man, rounding, overflow, kind), dice)


def quant_gemm(
    a: Any,
    b: Any,
    man: int = 23,
    exp: int = 8,
    use_kahan: bool = True,
    product: Optional[str] = None,
    accumulate: Optional[str] = None,
    dice: Dice = Dice(),
    threads: Optional[int] = None,
) -> Any:
    """a @ b, every product and every sum rounded to (exp, man); mind the order of the two, CPD's.

    As in CPD sums are compensated after Kahan; `use_kahan=False` adds plainly. `product` and
    `accumulate` are specs of formats other than (exp, man), for either.

    >>> import numpy as np
    >>> from narrowcast import cpd
    >>> ones = np.ones((1, 20), dtype=np.float32)
    >>> float(cpd.quant_gemm(ones, ones.T, 2, 5)[0, 0])
    20.0
    >>> float(cpd.quant_gemm(ones, ones.T, 2, 5, use_kahan=False)[0, 0])
    8.0
    """
    both = float_spec(exp, man)
    return _arithmetic.gemm(
        a, b, product or both, accumulate or both, kahan=use_kahan, dice=dice, threads=threads
    )


def sum_nodes(
    nodes: Sequence[Any],
    use_APS: bool = False,
    grad_exp: int = 8,
    grad_man: int = 23,
    use_kahan: bool = False,
    order: str = "hierarchy",
    group: int = 0,
    spec: Optional[str] = None,
    dice: Dice = Dice(),
    threads: Optional[int] = None,
) -> Any:
    """The sum of what many nodes have, with partial sums in (grad_exp, grad_man), or in `spec`.

    The order of additions is that of the nodes; of groups of them first, with `group`; or, with
    order="ring", of a ring, where each shard begins at another node.

    >>> import numpy as np
    >>> from narrowcast import cpd
    >>> shares = [np.ones(4, dtype=np.float32)] * 64
    >>> cpd.sum_nodes(shares, grad_exp=5, grad_man=2, group=8).tolist()
    [64.0, 64.0, 64.0, 64.0]
    """
    return _arithmetic.sum_nodes(
        nodes,
        spec or float_spec(grad_exp, grad_man),
        order=order,
        group=group,
        kahan=use_kahan,
        aps=use_APS,
        dice=dice,
        threads=threads,
    )
