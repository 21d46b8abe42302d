"""Layers of PyTorch computed as a machine with narrow arithmetic would: docs/emulate.md."""

from __future__ import annotations

import fnmatch
from typing import List, Sequence, Set, Union

import torch
from torch import nn
from torch.nn import functional as F

from ._autograd import Arithmetic, Shape, conv2d, linear
from ._errors import UsageError

__all__ = ["Arithmetic", "EmulatedConv2d", "EmulatedLinear", "emulate"]


class EmulatedLinear(nn.Linear):
    """torch.nn.Linear in emulated arithmetic."""

    arithmetic: Arithmetic

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return linear(x, self.weight, self.bias, self.arithmetic)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, {self.arithmetic}"


class EmulatedConv2d(nn.Conv2d):
    """torch.nn.Conv2d in emulated arithmetic, with any stride, padding, dilation and groups."""

    arithmetic: Arithmetic

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # What torch keeps for padding by other modes is right for all: left, right, top, bottom.
        padding = tuple(self._reversed_padding_repeated_twice)
        if self.padding_mode != "zeros":
            x, padding = F.pad(x, padding, mode=self.padding_mode), (0, 0, 0, 0)
        shape = Shape(self.stride, padding, self.dilation, self.groups)
        return conv2d(x, self.weight, self.bias, shape, self.arithmetic)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, {self.arithmetic}"


_EMULATED = {nn.Linear: EmulatedLinear, nn.Conv2d: EmulatedConv2d}
# What also multiplies matrices, and would go on in float32 beside the others.
_REFUSED = (
    nn.modules.conv._ConvNd,
    nn.Linear,
    nn.Bilinear,
    nn.MultiheadAttention,
    nn.RNNBase,
    nn.RNNCellBase,
)


def emulate(
    model: nn.Module,
    forward: str = "fp32",
    backward: str = "fp32",
    accumulate: str = "fp32",
    product: str = "fp32",
    kahan: bool = False,
    seed: int = 0,
    skip: Union[str, Sequence[str]] = (),
) -> nn.Module:
    """Makes the Linear and Conv2d layers of a model compute in emulated arithmetic; returns the model.

    Parameters, hooks and state stay what they are, so optimisers and checkpoints go on working. The
    formats are as in `Arithmetic`. `skip` names layers to leave alone, by their names in
    model.named_modules(), with * and ?; a layer that is in several places has a name for each. Layers
    that multiply matrices and are of other kinds are refused unless skipped. A second call gives layers
    new formats.

    >>> import torch, narrowcast.torch as nct
    >>> model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    >>> model = nct.emulate(model, forward="float:e=4,m=3", backward="float:e=5,m=2",
    ...                     accumulate="float:e=8,m=10")
    >>> model(torch.ones(1, 8)).sum().backward()
    """
    Arithmetic(forward, backward, product, accumulate, kahan, seed).check()
    skipped = _matching(model, [skip] if isinstance(skip, str) else skip)
    chosen = []
    # Inside of attention are layers whose weights it uses without calling them.
    inside: List[str] = []
    for name, module in model.named_modules():
        if module in skipped:
            if isinstance(module, nn.MultiheadAttention):
                inside.append(name + ".")
            continue
        if name.startswith(tuple(inside)):
            continue
        if type(module) in _EMULATED or type(module) in _EMULATED.values():
            chosen.append(module)
        elif isinstance(module, tuple(_EMULATED.values())):
            raise UsageError(
                f'"{name}" is a {type(module).__name__}, which has formats of its own; '
                f'give skip=["{name}"] to leave it those'
            )
        elif isinstance(module, _REFUSED):
            raise UsageError(
                f'"{name}" is a {type(module).__name__}, which is not emulated; '
                f'give skip=["{name}"] to leave it in float32'
            )
    if not chosen:
        raise UsageError("the model has no Linear and no Conv2d layer to emulate")
    for layer, module in enumerate(chosen):
        module.__class__ = _EMULATED.get(type(module), type(module))
        module.arithmetic = Arithmetic(
            forward, backward, product, accumulate, kahan, seed, layer
        )
    for module in model.modules():
        _call_layers(module)
    return model


def _matching(model: nn.Module, patterns: Sequence[str]) -> Set[nn.Module]:
    """What any of the patterns means, by any of its names, and each means something."""
    named = dict(model.named_modules(remove_duplicate=False))
    found: Set[nn.Module] = set()
    for pattern in patterns:
        meant = fnmatch.filter(named, pattern)
        if not meant:
            raise UsageError(f'skip: the model has no layer "{pattern}"')
        found.update(named[name] for name in meant)
    return found


def _call_layers(module: nn.Module) -> None:
    """In eval() torch computes whole encoder layers at once, from the weights of what is inside: in
    float32, whatever is inside. These are the conditions that it asks of layer and stack."""
    if isinstance(module, nn.TransformerEncoderLayer):
        module.activation_relu_or_gelu = 0
    elif isinstance(module, nn.TransformerEncoder):
        module.enable_nested_tensor = module.use_nested_tensor = False
