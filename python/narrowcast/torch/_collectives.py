"""Collectives of single tensors: activations, and whatever else is not a gradient of a model."""

from __future__ import annotations

import threading
import weakref
from typing import Any, List, Optional

import torch
import torch.distributed as dist

from .. import _core
from .._arrays import floats_of, type_name
from .._codecs import seed_of, spec_of
from .._errors import UsageError
from ._wire import Wire, at_exit

_DEADLINE_SECONDS = 300.0
_COLLECTIVES, _LETTERS = 2, 3  # conversations

_lock = threading.Lock()
# By group. Weakly: a group that lives on after destroy_process_group() keeps its threads, and torch's
# end the process if they drop a tensor while the interpreter goes.
_lines: "weakref.WeakKeyDictionary[Any, _Line]" = weakref.WeakKeyDictionary()


class _Line:
    """The connection of a group, made when its ranks first use it."""

    def __init__(self, group: Any) -> None:
        self.wire = Wire(group, "auto", _DEADLINE_SECONDS)
        at_exit(self.wire)
        try:
            self.wire.net.meet("", "", "")
            self.collectives = _core.Talk(self.wire.net, _COLLECTIVES)
            self.letters = _core.Letters(self.wire.net, _LETTERS)
        except BaseException:
            self.wire.close()
            raise


def all_reduce(
    tensor: torch.Tensor,
    spec: str,
    group: Any = None,
    *,
    average: bool = False,
    algorithm: str = "direct",
    seed: int = 0,
) -> torch.Tensor:
    """Replaces a tensor by its sum over the ranks of a group, encoded on the way. Every rank ends with
    the same bits. Returns the tensor. All ranks give the same words and as many values: where they
    differ all raise PeerError.

    average    instead of the sum
    algorithm  "direct", "ring" or "gather" (docs/architecture.md)
    seed       of codecs that round by chance; equal on all ranks

    >>> import torch, narrowcast.torch as nct
    >>> from torch import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> nct.all_reduce(torch.tensor([1.0, 2.2]), "float:e=4,m=3")
    tensor([1.0000, 2.2500])
    >>> dist.destroy_process_group()
    """
    floats, way = _target(tensor), _way(spec, tensor, seed)
    result = "average" if average else "sum"
    flat = _own(floats.flat, tensor)
    _line(group).collectives.all_reduce(flat, way, algorithm, result)
    _write(floats, flat)
    return tensor


def all_gather(
    tensor: torch.Tensor, spec: str, group: Any = None, *, seed: int = 0
) -> List[torch.Tensor]:
    """Returns what all ranks of a group have, by rank, encoded on the way: tensors of one shape. A
    rank's own comes back as the others see it.

    >>> import torch, narrowcast.torch as nct
    >>> from torch import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> nct.all_gather(torch.tensor([1.0, 2.2]), "float:e=4,m=3")
    [tensor([1.0000, 2.2500])]
    >>> dist.destroy_process_group()
    """
    floats, way = _values(tensor), _way(spec, tensor, seed)
    line = _line(group)
    parts = [torch.empty_like(floats.flat) for _ in range(line.wire.size)]
    parts[line.wire.rank].copy_(floats.flat)
    line.collectives.all_gather(parts, way)
    return [floats.back(part) for part in parts]


def send(
    tensor: torch.Tensor, dst: int, spec: str, group: Any = None, *, seed: int = 0
) -> None:
    """Sends a tensor, encoded, to rank `dst` of the group, which calls recv() with the same spec and as
    many values: where they differ recv() raises PeerError.

        if rank == 0:
            nct.send(activations, 1, "dynamic8")
        else:
            nct.recv(activations, 0, "dynamic8")
    """
    flat, way = _values(tensor).flat, _way(spec, tensor, seed)
    _line(group).letters.send(flat, way, dst)


def recv(tensor: torch.Tensor, src: int, spec: str, group: Any = None) -> torch.Tensor:
    """Receives into a tensor what rank `src` of the group sends, as in the example of send(). Returns
    it."""
    floats, way = _target(tensor), _way(spec, tensor, 0)
    flat = floats.empty()
    _line(group).letters.receive(flat, way, src)
    _write(floats, flat)
    return tensor


def _values(tensor: torch.Tensor) -> Any:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"tensor is of {type_name(tensor)}; give a torch tensor")
    return floats_of(tensor, "tensor")


def _target(tensor: torch.Tensor) -> Any:
    """What results can be written to; asked for before anything travels."""
    floats = _values(tensor)
    if any(step == 0 and size > 1 for step, size in zip(tensor.stride(), tensor.shape)):
        raise UsageError("elements of tensor share memory, as after expand(): give tensor.clone()")
    return floats


def _own(flat: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    return flat if flat.data_ptr() != tensor.data_ptr() or flat.numel() == 0 else flat.clone()


def _write(floats: Any, flat: torch.Tensor) -> None:
    with torch.no_grad():
        floats.write(flat)


def _way(spec: str, tensor: torch.Tensor, seed: int) -> Any:
    return _core.Way(spec_of(spec), tensor.shape[-1] if tensor.dim() > 0 else None, seed_of(seed))


def _line(group: Optional[Any]) -> _Line:
    if not dist.is_initialized():
        raise UsageError("there is no process group: torch.distributed.init_process_group() first")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        raise UsageError("this rank is not in that group")
    group = group or dist.group.WORLD
    if not isinstance(group, dist.ProcessGroup):
        raise TypeError(f"group is of {type_name(group)}; give a process group, or None for all ranks")
    with _lock:
        line = _lines.get(group)
        if line is None or line.wire.net is None:
            line = _lines[group] = _Line(group)
    return line
