"""Codecs: floats to few bytes, and back."""

from __future__ import annotations

import operator
from typing import Any, Optional

import numpy as np

from . import _core
from ._arrays import floats_of
from ._errors import UsageError


def encode(array: Any, spec: str, seed: int = 0) -> bytes:
    values = floats_of(array)
    return _core.encode(values.flat, spec, _seed_of(seed), _innermost(values.shape))


def decode(frame: Any) -> np.ndarray:
    return _core.decode(frame)


def quantize(array: Any, spec: str, seed: int = 0) -> Any:
    values = floats_of(array)
    out = values.empty()
    _core.quantize(values.flat, out, spec, _seed_of(seed), _innermost(values.shape))
    return values.back(out)


def _innermost(shape: tuple) -> Optional[int]:
    return shape[-1] if shape else None


def _seed_of(seed: int) -> int:
    number = operator.index(seed)
    if not 0 <= number < 2**64:
        raise UsageError(f"{number} is no seed; give a whole number from 0 to 2^64 - 1")
    return number
