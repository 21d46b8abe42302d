"""Low-precision communication for distributed deep learning."""

from ._codecs import decode, encode, quantize
from ._core import version as _version
from ._arithmetic import Dice, gemm, sum_nodes
from ._errors import Error, MachineError, PeerError, UsageError, WireError

__version__ = _version()
__all__ = [
    "Dice",
    "Error",
    "MachineError",
    "PeerError",
    "UsageError",
    "WireError",
    "decode",
    "encode",
    "gemm",
    "quantize",
    "sum_nodes",
]
