"""Where the gradients of a model lie in the buckets of DistributedDataParallel."""

from __future__ import annotations

import re
from typing import Any, Optional

import torch

from .._errors import UsageError


# What torch puts into the names of a module's parameters when it wraps the module: torch.compile does, and activation
# checkpoints.
_WRAPPERS = re.compile(r"(?:^|(?<=\.))(?:_orig_mod|_checkpoint_wrapped_module)\.")


class Layout:
    """The tensors of one bucket, by name, and where each begins."""

    def __init__(self, key: tuple[Any, ...], names: list[Any], sizes: list[Any]) -> None:
        self.key = key
        self.names = names
        self.sizes = sizes  # elements and innermost dimension of each
        self.offsets = [0] * len(names)
        for i in range(1, len(names)):
            self.offsets[i] = self.offsets[i - 1] + sizes[i - 1][0]
        self.tensors: list[Any] = []  # their numbers in the exchange


class Buckets:
    """Follows the buckets, which are built anew after the first step."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module
        self._names = {id(p): name for name, _, p in _named(module)}
        self._layouts: dict[Any, Any] = {}
        self._numbers: dict[Any, Any] = {}
        self.changed = False  # since order() was last called

    def layout(self, bucket: Any) -> Layout:
        parameters = bucket.parameters()
        key = tuple(map(id, parameters))
        layout = self._layouts.get(bucket.index())
        if layout is None or layout.key != key:
            layout = self._layouts[bucket.index()] = self._look(bucket, parameters, key)
            self._number(layout)
            self.changed = True
        return layout

    def order(self, buckets: int) -> list[Any]:
        """All tensors, as the exchange wants to know them, in the order of the buckets."""
        self.changed = False
        return [
            (name, *size)
            for layout in self.layouts(buckets)
            for name, size in zip(layout.names, layout.sizes)
        ]

    def expected(self) -> list[Any]:
        """The tensors, in the model's order, before there is any bucket."""
        ignored = getattr(self._module, "_ddp_params_and_buffers_to_ignore", ())
        return [
            (name, p.numel(), _innermost(p))
            for name, own_name, p in _named(self._module)
            if p.requires_grad and own_name not in ignored
        ]

    def layouts(self, buckets: int) -> list[Any]:
        return [self._layouts[index] for index in range(buckets)]

    def number(self, tensors: list[Any]) -> None:
        """From now on the exchange has them in this order."""
        self._numbers = {name: i for i, (name, _, _) in enumerate(tensors)}
        for layout in self._layouts.values():
            self._number(layout)

    def _number(self, layout: Layout) -> None:
        if self._numbers:
            layout.tensors = [self._numbers[name] for name in layout.names]

    def _look(self, bucket: Any, parameters: list[Any], key: tuple[Any, ...]) -> Layout:
        names = [self._names.get(parameter) for parameter in key]
        if None in names:
            raise UsageError("the model has other parameters than when compress() was called")
        sizes = [(p.numel(), _innermost(p)) for p in parameters]
        layout = Layout(key, names, sizes)
        buffer = bucket.buffer()
        if buffer.layout is torch.strided:
            _require_places(bucket, layout, buffer)
        return layout


def _named(module: torch.nn.Module) -> list[Any]:
    """The parameters: the name that rules and residuals go by, as if nothing were wrapped; the module's own; itself."""
    named = [(_WRAPPERS.sub("", name), name, p) for name, p in module.named_parameters()]
    if len({name for name, _, _ in named}) < len(named):  # a module that has such names of its own
        return [(name, name, p) for _, name, p in named]
    return named


def _innermost(parameter: torch.Tensor) -> Optional[int]:
    return parameter.shape[-1] if parameter.dim() > 0 else None


def _require_places(bucket: Any, layout: Layout, buffer: torch.Tensor) -> None:
    """Gradients lie one after the other; a torch that has them elsewhere is not for us."""
    for gradient, offset in zip(bucket.gradients(), layout.offsets):
        place = buffer.data_ptr() + offset * buffer.element_size()
        if gradient.numel() != 0 and gradient.data_ptr() != place:
            raise UsageError(
                f"torch {torch.__version__} lays gradients out in a way that is not known here"
            )
