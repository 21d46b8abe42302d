"""Collectives of single tensors: activations, and whatever else is not a gradient of a model."""

from __future__ import annotations

import operator
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


class _Line:
    """The connection of a group, made when its ranks first use it. It ends with the last who holds this:
    the group's place, or a call that is under way."""

    def __init__(self, group: Any) -> None:
        self.wire = Wire(group, "auto", _DEADLINE_SECONDS)
        at_exit(self.wire)
        weakref.finalize(self, self.wire.close).atexit = False
        try:
            self.wire.net.meet("", "", "")
            self.collectives = _core.Talk(self.wire.net, _COLLECTIVES)
            self.letters = _core.Letters(self.wire.net, _LETTERS)
        except BaseException:
            self.wire.close()
            raise


class _Place:
    """Where the line of one group is kept. To connect waits for the other ranks, so each has a lock of its
    own: calls in other groups go on meanwhile, and may be what those ranks wait for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: Optional[_Line] = None

    def line(self, group: Any) -> _Line:
        with self._lock:
            if self._line is None or self._line.wire.net is None:
                self._line = _Line(group)
            return self._line


_lock = threading.Lock()  # nobody waits for a peer while holding it
# By group. Weakly: a group that lives on after destroy_process_group() keeps its threads, and torch's
# end the process if they drop a tensor while the interpreter goes.
_places: "weakref.WeakKeyDictionary[Any, _Place]" = weakref.WeakKeyDictionary()


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
    algorithm  "direct", "ring", "hierarchy" or "gather" (docs/architecture.md)
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
    if not isinstance(algorithm, str):
        raise TypeError(f'algorithm is of {type_name(algorithm)}; give a name, such as "direct"')
    flat = _own(floats.flat, tensor)
    line = _line(group)
    line.collectives.all_reduce(flat, way, algorithm, result)
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
    flat, way, peer = _values(tensor).flat, _way(spec, tensor, seed), _rank_of(dst, "dst")
    line = _line(group)
    line.letters.send(flat, way, _among(line, peer, "dst"))


def recv(tensor: torch.Tensor, src: int, spec: str, group: Any = None) -> torch.Tensor:
    """Receives into a tensor what rank `src` of the group sends, as in the example of send(). Returns
    it."""
    floats, way, peer = _target(tensor), _way(spec, tensor, 0), _rank_of(src, "src")
    flat = floats.empty()
    line = _line(group)
    line.letters.receive(flat, way, _among(line, peer, "src"))
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


def _rank_of(rank: int, name: str) -> int:
    try:
        return operator.index(rank)
    except TypeError:
        raise TypeError(f"{name} is of {type_name(rank)}; give the number of a rank") from None


def _among(line: _Line, rank: int, name: str) -> int:
    if not 0 <= rank < line.wire.size:
        raise UsageError(f"{name} is {rank}; the group has ranks 0 to {line.wire.size - 1}")
    return rank


def _line(group: Optional[Any]) -> _Line:
    """Who calls this keeps what it returns until the tensor has travelled: it ends with the group, which
    another thread may destroy."""
    if not dist.is_initialized():
        raise UsageError("there is no process group: torch.distributed.init_process_group() first")
    if group is dist.GroupMember.NON_GROUP_MEMBER:
        raise UsageError("this rank is not in that group")
    group = group or dist.group.WORLD
    if not isinstance(group, dist.ProcessGroup):
        raise TypeError(f"group is of {type_name(group)}; give a process group, or None for all ranks")
    with _lock:
        place = _places.setdefault(group, _Place())
    return place.line(group)
