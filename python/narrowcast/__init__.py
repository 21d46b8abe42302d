"""Low-precision communication for distributed deep learning.

>>> import narrowcast, numpy
>>> gradient = numpy.random.default_rng(1).normal(size=(4, 256))
>>> frame = narrowcast.encode(gradient, "dynamic8")
>>> values = narrowcast.decode(frame).reshape(gradient.shape)
>>> bool(abs(values - gradient).max() < 0.1)
True
"""

from ._codecs import CodecOption, CodecRow, Errors, codecs, decode, encode, errors, quantize
from ._core import version as _version
from ._errors import Error, MachineError, PeerError, UsageError, WireError
from ._predict import advise, predict

__version__: str = _version()
__all__ = [
    "CodecOption",
    "CodecRow",
    "Error",
    "Errors",
    "MachineError",
    "PeerError",
    "UsageError",
    "WireError",
    "advise",
    "codecs",
    "decode",
    "encode",
    "errors",
    "predict",
    "quantize",
]
