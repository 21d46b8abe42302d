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


class NumpyFloats:
    """A numpy array as flat float32."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        # Values beyond float32 become infinities, as they do in torch.
        with np.errstate(over="ignore"):
            self.flat: Any = np.ascontiguousarray(array, dtype=np.float32).reshape(-1)

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self._array.shape)

    def empty(self, count: Optional[int] = None) -> np.ndarray:
        """Memory for as many results, or for `count`, flat float32."""
        return np.empty(self.flat.shape[0] if count is None else count, dtype=np.float32)

    def back(self, flat: np.ndarray) -> np.ndarray:
        """Results with the shape and dtype of the array."""
        with np.errstate(over="ignore"):
            return flat.reshape(self._array.shape).astype(self._array.dtype, copy=False)

    def like(self, flat: np.ndarray, shape: Tuple[int, ...]) -> np.ndarray:
        """Results of another shape, with the dtype of the array."""
        with np.errstate(over="ignore"):
            return flat.reshape(shape).astype(self._array.dtype, copy=False)

    def write(self, flat: np.ndarray) -> None:
        """Results into the array itself."""
        with np.errstate(over="ignore"):
            self._array[...] = flat.reshape(self._array.shape)


class TorchFloats:
    """A torch tensor as flat float32."""

    def __init__(self, tensor: Any, torch: Any) -> None:
        self._torch = torch
        # A negative view crosses DLPack with the wrong sign, and gradients do not cross at all.
        self._tensor = tensor.detach()
        plain = self._tensor.resolve_neg().to(torch.float32)
        self.flat: Any = plain.contiguous().reshape(-1)

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self._tensor.shape)

    def empty(self, count: Optional[int] = None) -> Any:
        """Memory for as many results, or for `count`, flat float32."""
        size = self.flat.shape[0] if count is None else count
        return self._torch.empty(size, dtype=self._torch.float32)

    def back(self, flat: Any) -> Any:
        """Results with the shape and dtype of the tensor, without a gradient."""
        return flat.reshape(self._tensor.shape).to(self._tensor.dtype)

    def like(self, flat: Any, shape: Tuple[int, ...]) -> Any:
        """Results of another shape, with the dtype of the tensor, without a gradient."""
        return flat.reshape(shape).to(self._tensor.dtype)

    def write(self, flat: Any) -> None:
        """Results into the tensor itself."""
        self._tensor.copy_(flat.reshape(self._tensor.shape))


Floats = Union[NumpyFloats, TorchFloats]


def floats_of(array: Any, name: str = "array") -> Floats:
    """The values of a numpy array or a torch tensor; TypeError, by that name, for all else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        _require_plain_tensor(array, torch, name)
        return TorchFloats(array, torch)
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


def type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
