"""Narrowcast in PyTorch.

    import narrowcast.torch as nct
    handle = nct.compress(ddp_model, "dynamic8")

`compress` lets the gradients of a DistributedDataParallel model travel in few bits; `all_reduce`,
`all_gather`, `send` and `recv` do so for single tensors. `emulate` computes a model's layers in any
format.
"""

from ..emulation import emulate
from ._collectives import all_gather, all_reduce, recv, send
from ._compress import AUTO_CODECS, compress
from ._handle import Handle

__all__ = ["AUTO_CODECS", "Handle", "all_gather", "all_reduce", "compress", "emulate", "recv", "send"]
