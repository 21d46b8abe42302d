"""DistributedDataParallel whose gradients travel in few bits."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Callable, Iterable, Optional, Union

import torch
from torch.nn.parallel import DistributedDataParallel

from .. import _core
from .._arithmetic import threads_of
from .._codecs import seed_of
from .._errors import UsageError
from ._buckets import Buckets
from ._handle import Handle
from ._plain import Plain
from ._plans import max_error_of, offered_of, plan_of

# Codecs that plan='auto' chooses from when nobody says which.
AUTO_CODECS = ("bf16", "dynamic8")


def compress(
    model: DistributedDataParallel,
    plan: Any = "dynamic8",
    *,
    seed: int = 0,
    transport: str = "auto",
    threads: int = 1,
    codecs: Union[str, Iterable[str]] = AUTO_CODECS,
    max_error: Optional[float] = None,
    say: Optional[Callable[[str], None]] = None,
) -> Handle:
    """Lets the gradients of a model travel as a plan says. All ranks of the model call it.

    plan       a spec such as "dynamic8" or "qsgd:bits=4"; a plan (docs/plan.md) as TOML, as the path
               of a file or as a dictionary; or "auto", which measures during the first steps whether
               compressing pays, and does it or not
    seed       of codecs that round by chance; equal on all ranks
    transport  "shm" between ranks of one machine, "gloo" for all others; "auto" takes what fits
    threads    that encode and decode
    codecs, max_error
               what plan="auto" may choose: the codecs, and how much rounding may change a gradient
    say        takes the line that tells at the first step what travels; None: the first rank prints
               it to stderr

    A model takes one hook, ever: a second is refused. After `handle.remove()` its gradients travel
    as DistributedDataParallel has them without any.

    >>> import torch, narrowcast.torch as nct
    >>> from torch import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(200, 100))
    >>> handle = nct.compress(model, "dynamic8", say=lambda line: None)
    >>> model(torch.ones(8, 200)).sum().backward()
    >>> handle.stats()["steps"]
    1
    >>> state = handle.state_dict()  # into a checkpoint, with the model's; and out of it:
    >>> handle.load_state_dict(state)
    >>> handle.remove()
    >>> dist.destroy_process_group()
    """
    if not isinstance(model, DistributedDataParallel):
        raise TypeError(
            f"model is of {type(model).__name__}; give a torch.nn.parallel.DistributedDataParallel"
        )
    chosen = None if isinstance(plan, str) and plan == "auto" else plan_of(plan)
    offered, bound = offered_of(codecs), max_error_of(max_error)
    seed, threads = seed_of(seed), threads_of(threads)
    if chosen is not None:
        _require_fit(chosen, model.module)
    hook = _hook_of(model)
    handle = Handle(
        model,
        chosen,
        seed=seed,
        transport=transport,
        threads=threads,
        codecs=offered,
        max_error=bound,
        say=say or _print,
    )
    hook.handle = handle
    return handle


def _require_fit(plan: Any, module: torch.nn.Module) -> None:
    """Parameters without a dimension have no innermost one, which codecs may go by."""
    scalars = [tensor for tensor in Buckets(module).expected() if tensor[2] is None]
    if not scalars:
        return
    net = _core.carried_net(0, 1, 1.0)  # one rank, and nothing travels
    try:
        for tensor in scalars:
            name = tensor[0]
            _core.make_exchange(net, plan, [tensor], 0, 0, 1).close()
    except UsageError as error:
        raise UsageError(f"parameter '{name}' has no dimensions: {error}") from None
    finally:
        net.close()


class _Hook:
    """What a model has been given: torch knows no way to take it away again."""

    def __init__(self, model: DistributedDataParallel) -> None:
        self._plain = Plain(model.process_group)
        self.handle: Optional[Handle] = None

    def __call__(self, bucket: Any) -> Any:
        take = self._plain.take
        return take(bucket) if self.handle is None else self.handle.take(bucket, take)


class _NotCopied(list):  # type: ignore[type-arg]
    """What torch notes a model's hooks in, and copies and pickles with the model. But it does not register them with the
    copy, which has none, and the hook has a process group and threads, which cannot be copied."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, ()


_hooks: "weakref.WeakKeyDictionary[DistributedDataParallel, _Hook]" = weakref.WeakKeyDictionary()


def _narrowcast_hook(state: Any, bucket):  # type: ignore[no-untyped-def]
    return state(bucket)


def _hook_of(model: DistributedDataParallel) -> _Hook:
    hook = _hooks.get(model)
    if hook is None:
        # Asked first: torch notes a hook before it refuses it.
        refused = UsageError("this model has a communication hook already, and takes no second one")
        if getattr(model, "_comm_hooks", None):
            raise refused
        hook = _Hook(model)
        if hasattr(model, "_comm_hooks"):
            model._comm_hooks = _NotCopied()
        try:
            model.register_comm_hook(hook, _narrowcast_hook)
        except RuntimeError as error:
            if "only be called once" in str(error):
                raise refused from None
            raise
        _hooks[model] = hook
    elif hook.handle is not None and not hook.handle.removed:
        raise UsageError("this model is compressed already: remove() its handle first")
    return hook


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
