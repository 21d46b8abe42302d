"""Arrays of the user as the extension module takes them, and back.

The extension works on flat, contiguous float32 in memory of the CPU. `floats_of` makes that of numpy
arrays (ml_dtypes' bfloat16 too) and torch tensors, without a copy where they are so already; what it
returns makes arrays of the caller's own kind of the results. torch is looked at when the caller has
imported it, and never imported here.
"""

from __future__ import annotations

import sys
from typing import Any, Optional, Tuple, Union

import numpy as np

_TAKEN = "float32, float64, float16 or bfloat16"


def _quietly() -> np.errstate:
    """Values that another dtype has not become infinities, zeros and NaNs without a word, as in torch."""
    return np.errstate(over="ignore", under="ignore", invalid="ignore")


class NumpyFloats:
    """A numpy array as flat float32."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        with _quietly():
            self.flat: Any = np.ascontiguousarray(array, dtype=np.float32).reshape(-1)

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self._array.shape)

    def room(self, shape: Optional[Tuple[int, ...]] = None) -> np.ndarray:
        """Memory for float32 results of the array's shape, or of another; room.reshape(-1) is flat."""
        return np.empty(self._array.shape if shape is None else shape, dtype=np.float32)

    def of_dtype(self, results: np.ndarray) -> np.ndarray:
        """Results with the dtype of the array."""
        with _quietly():
            return results.astype(self._array.dtype, copy=False)

    def write(self, flat: np.ndarray) -> None:
        """Results into the array itself."""
        with _quietly():
            self._array[...] = flat.reshape(self._array.shape)


class TorchFloats:
    """A torch tensor as flat float32."""

    def __init__(self, tensor: Any, torch: Any) -> None:
        self._torch = torch
        # A negative view crosses DLPack with the wrong sign, and gradients do not cross at all.
        self._tensor = tensor.detach()
        # A tensor that torch knows to be zero has no memory before it is copied.
        there = self._tensor.clone() if self._tensor._is_zerotensor() else self._tensor
        plain = there.resolve_neg().to(torch.float32)
        self.flat: Any = plain.contiguous().reshape(-1)

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self._tensor.shape)

    def room(self, shape: Optional[Tuple[int, ...]] = None) -> Any:
        """Memory for float32 results of the tensor's shape, or of another; room.reshape(-1) is flat.

        A function of autograd may hand it out as it is. Of a view torch would say that nobody may change
        it in place.
        """
        size = self._tensor.shape if shape is None else shape
        return self._torch.empty(size, dtype=self._torch.float32)

    def of_dtype(self, results: Any) -> Any:
        """Results with the dtype of the tensor, without a gradient."""
        return results.to(self._tensor.dtype)

    def empty(self) -> Any:
        """Memory for as many results, flat float32."""
        return self._torch.empty_like(self.flat)

    def back(self, flat: Any) -> Any:
        """Results with the shape and dtype of the tensor, without a gradient."""
        return flat.reshape(self._tensor.shape).to(self._tensor.dtype)

    def write(self, flat: Any) -> None:
        """Results into the tensor itself."""
        self._tensor.copy_(flat.reshape(self._tensor.shape))


Floats = Union[NumpyFloats, TorchFloats]


def floats_of(array: Any, name: str = "array") -> Floats:
    """The values of a numpy array or a torch tensor; TypeError, by that name, for all else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        _require_plain_tensor(array, torch, name)
        floats = TorchFloats(array, torch)
        _require_memory(floats.flat, name)
        return floats
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is of {type_name(array)}; give a numpy array or a torch tensor of {_TAKEN}"
        )
    if array.dtype.name not in ("float32", "float64", "float16", "bfloat16"):
        raise TypeError(f"{name} has dtype {array.dtype}; give {_TAKEN}")
    return NumpyFloats(array)


def _require_plain_tensor(tensor: Any, torch: Any, name: str) -> None:
    if tensor.device.type != "cpu":
        raise TypeError(f"{name} is on device {tensor.device}; give {name}.cpu()")
    if tensor.layout is not torch.strided or tensor.is_nested:
        layout = "nested" if tensor.is_nested else str(tensor.layout).replace("torch.", "")
        raise TypeError(f"{name} has layout {layout}; give a dense tensor, as of {name}.to_dense()")
    if tensor.dtype not in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        raise TypeError(f"{name} has dtype {str(tensor.dtype).replace('torch.', '')}; give {_TAKEN}")


def _require_memory(flat: Any, name: str) -> None:
    """Tensors of FakeTensorMode and torch.func stand for values that are elsewhere, or nowhere."""
    try:
        # A fake view of nothing has an address, and its storage none.
        there = flat.numel() == 0 or flat.untyped_storage().data_ptr() != 0
    except RuntimeError:
        there = False
    if not there:
        raise TypeError(
            f"{name} has no memory of its own, as under FakeTensorMode or torch.func; "
            "give a tensor that holds its values"
        )


def type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
