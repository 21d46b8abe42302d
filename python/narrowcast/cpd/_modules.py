"""CPD's layers."""

from __future__ import annotations

from typing import Any

from .._arithmetic import float_spec
from ..emulation import Arithmetic, EmulatedConv2d, EmulatedLinear


_FORMATS = {"forward", "backward", "product", "accumulate", "seed", "layer"}


def _arithmetic(exp: int, man: int, use_kahan: bool, **formats: Any) -> Arithmetic:
    both = float_spec(exp, man)
    if unknown := sorted(set(formats) - _FORMATS):
        raise TypeError(
            f"{unknown[0]} is no argument of CPD's layers and no format ({', '.join(sorted(_FORMATS))}); "
            "narrowcast.torch.emulate() takes torch's layers with all of theirs"
        )
    arithmetic = Arithmetic(**{"product": both, "accumulate": both, "kahan": use_kahan, **formats})
    arithmetic.check()
    return arithmetic


class Quant_Linear(EmulatedLinear):
    """torch.nn.Linear whose products and sums are rounded to (exp, man), forward and backward.

    `formats` are those of narrowcast.emulation.Arithmetic: forward, backward, product, accumulate, seed
    and layer.

    >>> import torch
    >>> from narrowcast import cpd
    >>> cpd.Quant_Linear(20, 3, exp=5, man=2)(torch.ones(1, 20)).shape
    torch.Size([1, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        exp: int = 8,
        man: int = 23,
        use_kahan: bool = True,
        **formats: Any,
    ) -> None:
        super().__init__(in_features, out_features, bias)
        self.exp, self.man = exp, man
        self.arithmetic = _arithmetic(exp, man, use_kahan, **formats)


class Quant_Conv(EmulatedConv2d):
    """torch.nn.Conv2d whose products and sums are rounded to (exp, man), forward and backward.

    >>> import torch
    >>> from narrowcast import cpd
    >>> layer = cpd.Quant_Conv(4, 6, 3, padding=2, dilation=2, groups=2, exp=5, man=2)
    >>> layer(torch.ones(1, 4, 8, 8)).shape
    torch.Size([1, 6, 8, 8])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        exp: int = 8,
        man: int = 23,
        use_kahan: bool = True,
        **formats: Any,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias
        )
        self.exp, self.man = exp, man
        self.arithmetic = _arithmetic(exp, man, use_kahan, **formats)
