"""Low-precision communication for distributed deep learning."""

from ._codecs import decode, encode, quantize
from ._core import version as _version
from ._errors import Error, MachineError, PeerError, UsageError, WireError

__version__ = _version()
__all__ = [
    "Error",
    "MachineError",
    "PeerError",
    "UsageError",
    "WireError",
    "decode",
    "encode",
    "quantize",
]
