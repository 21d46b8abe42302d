"""Sums of gradients over nodes, real ones and emulated ones."""

from __future__ import annotations

from functools import partial
from typing import Any, List, Optional
from weakref import WeakKeyDictionary

import torch
from torch import distributed, nn

from .._arithmetic import Dice
from .._errors import UsageError
from . import sum_nodes


def _trained(model: nn.Module) -> List[nn.Parameter]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def _zeros(parameter: nn.Parameter) -> torch.Tensor:
    return torch.zeros_like(parameter, memory_format=torch.contiguous_format)


def _gradient(parameter: nn.Parameter) -> Optional[torch.Tensor]:
    """A copy of what backward has left."""
    if parameter.grad is None:
        return None
    return parameter.grad.detach().clone(memory_format=torch.contiguous_format)


def sum_gradients(
    model: nn.Module,
    use_APS: bool = False,
    grad_exp: int = 8,
    grad_man: int = 23,
    use_kahan: bool = False,
    order: str = "hierarchy",
    group: int = 0,
    spec: Optional[str] = None,
    dice: Optional[Dice] = None,
    process_group: Any = None,
) -> None:
    """Replaces the gradients of a model by their sums over all ranks of torch.distributed.

    Partial sums are kept in (grad_exp, grad_man), or in `spec`; use_APS scales each layer first. It is
    a study of the arithmetic: gradients travel as they are, and every rank adds up all of them, with
    the same bits. narrowcast.torch sends few bits. A collective call: all ranks pass the same model and
    arguments. Stochastic formats throw new dice at every call for a model, unless `dice` are given.

    >>> import torch
    >>> from torch import distributed as dist
    >>> from narrowcast import cpd
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.Linear(4, 1)
    >>> model(torch.ones(3, 4)).sum().backward()
    >>> cpd.sum_gradients(model, use_APS=True, grad_exp=5, grad_man=2)
    >>> model.bias.grad
    tensor([3.])
    >>> dist.destroy_process_group()
    """
    if not (distributed.is_available() and distributed.is_initialized()):
        raise UsageError(
            "sum_gradients sums over the ranks of torch.distributed, which is not initialised; "
            "cpd.Nodes emulates many nodes in one process"
        )
    if process_group is distributed.GroupMember.NON_GROUP_MEMBER:
        raise UsageError("this rank is not in that group")
    ranks = distributed.get_world_size(process_group)
    if dice is None:
        dice = Dice(step=_next_call(model, process_group or distributed.group.WORLD))
    for index, parameter in enumerate(_trained(model)):
        own = _gradient(parameter)
        own = _zeros(parameter) if own is None else own
        gathered = [torch.empty_like(own) for _ in range(ranks)]
        distributed.all_gather(gathered, own, group=process_group)
        own_dice = dice._replace(tensor=dice.tensor + index)
        how = (use_APS, grad_exp, grad_man, use_kahan, order, group, spec, own_dice)
        _put(parameter, sum_nodes(gathered, *how))


# How often, by group and model: the members of a group make the same calls in it, and elsewhere not.
_calls: "WeakKeyDictionary[Any, WeakKeyDictionary[nn.Module, int]]" = WeakKeyDictionary()


def _next_call(model: nn.Module, group: Any) -> int:
    of_group = _calls.setdefault(group, WeakKeyDictionary())
    of_group[model] = of_group.get(model, -1) + 1
    return of_group[model]


def _put(parameter: nn.Parameter, total: torch.Tensor) -> None:
    if parameter.grad is not None:
        parameter.grad.copy_(total)
    elif bool(total.count_nonzero()):
        parameter.grad = total


class Nodes:
    """Many nodes in one process, one after the other.

    >>> import torch
    >>> from narrowcast import cpd
    >>> model = torch.nn.Linear(4, 1)
    >>> nodes = cpd.Nodes(model)
    >>> for batch in torch.ones(8, 2, 4):  # each node's share
    ...     model(batch).sum().backward()
    ...     nodes.collect()
    >>> nodes.sum_gradients(use_APS=True, grad_exp=4, grad_man=3)
    >>> model.bias.grad
    tensor([16.])
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._collected: List[List[Optional[torch.Tensor]]] = []
        self._steps = 0

    def __len__(self) -> int:
        return len(self._collected)

    def collect(self) -> None:
        """Takes the gradients of one node away from the model."""
        self._collected.append([_gradient(parameter) for parameter in _trained(self._model)])
        for parameter in _trained(self._model):
            parameter.grad = None

    def sum_gradients(self, *how: Any, seed: int = 0, **named: Any) -> None:
        """Gives the model the sums of what was collected, and begins anew. A parameter that no node had
        a gradient for gets none.

        Takes what `cpd.sum_nodes` takes after the nodes: use_APS, grad_exp, grad_man, use_kahan, order,
        group, spec, threads.
        """
        if not self._collected:
            raise UsageError("no node has been collected; call collect() after each backward()")
        for index, parameter in enumerate(_trained(self._model)):
            shares = [node[index] for node in self._collected]
            if all(share is None for share in shares):
                parameter.grad = None
                continue
            filled = [_zeros(parameter) if share is None else share for share in shares]
            dice = Dice(seed, self._steps, index)
            parameter.grad = partial(sum_nodes, dice=dice)(filled, *how, **named)
        self._steps += 1
        self._collected = []
