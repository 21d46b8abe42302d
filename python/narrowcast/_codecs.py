"""Codecs: floats to few bytes, and back."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, Optional, Tuple, TypedDict, TypeVar, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import floats_of
from ._errors import UsageError

Array = TypeVar("Array")


class CodecOption(TypedDict):
    """What a codec may be told in its spec."""

    key: str
    default: Optional[str]
    required: bool
    values: str
    meaning: str


class CodecRow(TypedDict):
    """One spec that is worth trying, with what it promises."""

    name: str
    spec: str
    canonical: str
    summary: str
    options: List[CodecOption]
    bits_per_value: float
    block: int
    fixed_size: bool
    error: Dict[str, float]
    bias: Optional[float]
    non_finite: str


class Errors(TypedDict):
    """How far decoded values are from what was encoded."""

    samples: int
    bits_per_value: float
    mae: float
    mse: float
    relative_percent: float
    max_absolute: float
    bias: float
    snr_db: float
    cosine: float


def codecs() -> List[CodecRow]:
    """All codecs, in the specs worth trying: options, bits per value, promises.

    The rows are those of `narrowcast codecs --json`; docs/codecs.md explains them.

    >>> import narrowcast
    >>> [row["spec"] for row in narrowcast.codecs() if row["name"] == "onebit"]
    ['onebit', 'onebit:column=512', 'onebit:threshold=mean']
    """
    rows: List[CodecRow] = _core.codecs()
    return rows


def encode(array: Any, spec: str, seed: int = 0) -> bytes:
    """The values of an array as a frame: few bytes that say themselves what they are.

    The same frame as `narrowcast encode` writes. `array` is a numpy array or a torch tensor on the
    CPU, of float32, float64, float16 or bfloat16. `seed` is for codecs that round at random, and
    the last dimension of the array is what `column=shape` stands for. A frame has no shape.

    >>> import narrowcast, numpy
    >>> gradient = numpy.linspace(-1, 1, 1000, dtype=numpy.float32)
    >>> len(gradient.tobytes()), len(narrowcast.encode(gradient, "qsgd:bits=4"))
    (4000, 592)
    """
    values = floats_of(array)
    frame: bytes = _core.encode(
        values.flat, spec_of(spec), seed_of(seed), _innermost(values.shape)
    )
    return frame


def decode(frame: Any) -> npt.NDArray[np.float32]:
    """The values of a frame, as a flat numpy array of float32.

    `frame` is bytes or anything else that has them (bytearray, memoryview, mmap, a numpy array of
    uint8). A frame that is damaged, cut short or none at all raises WireError.

    >>> import narrowcast, numpy
    >>> narrowcast.decode(narrowcast.encode(numpy.array([0.5, -3.0]), "bf16"))
    array([ 0.5, -3. ], dtype=float32)
    """
    try:
        raw: Any = memoryview(frame).cast("B")
    except (TypeError, ValueError):  # numpy's, for types that have no buffers
        raise TypeError(
            f"frame is of {type(frame).__name__}; give bytes, or a contiguous buffer of them"
        ) from None
    values: npt.NDArray[np.float32] = _core.decode(raw)
    return values


def quantize(array: Array, spec: str, seed: int = 0) -> Array:
    """What comes out at the other end: encoded and decoded, with the same type, dtype and shape.

    The array itself stays as it is; a tensor's gradient is not followed.

    >>> import narrowcast, numpy
    >>> narrowcast.quantize(numpy.array([[1.0, 2.2], [3.3, 4.4]]), "float:e=4,m=3")
    array([[1.  , 2.25],
           [3.25, 4.5 ]])
    """
    values = floats_of(array)
    out = values.room()
    _core.quantize(
        values.flat, out.reshape(-1), spec_of(spec), seed_of(seed), _innermost(values.shape)
    )
    return cast(Array, values.of_dtype(out))


def errors(array: Any, spec: str, seed: int = 0) -> Errors:
    """How far the values of an array, as float32, are from what comes out at the other end.

    >>> import narrowcast, numpy
    >>> found = narrowcast.errors(numpy.array([1.0, 1.0, 3.1]), "float:e=4,m=3")
    >>> round(found["max_absolute"], 6), found["bits_per_value"]
    (0.1, 8.0)
    """
    values = floats_of(array)
    found = _core.errors(values.flat, spec_of(spec), seed_of(seed), _innermost(values.shape))
    return cast(Errors, found)


def _innermost(shape: Tuple[int, ...]) -> Optional[int]:
    return shape[-1] if shape else None


def spec_of(spec: str, name: str = "spec") -> str:
    if not isinstance(spec, str):
        raise TypeError(f'{name} is of {type(spec).__name__}; give a string, such as "dynamic8"')
    try:
        spec.encode()
    except UnicodeEncodeError:  # half a character
        raise UsageError(f"{name} is {spec!a}, which is no text") from None
    return spec


def seed_of(seed: int) -> int:
    number = operator.index(seed)
    if not 0 <= number < 2**64:
        raise UsageError(f"{number} is no seed; give a whole number from 0 to 2^64 - 1")
    return number
