"""Ranks that die, disagree or are asked for what cannot be.  faults.py CASE TRANSPORT"""

import copy
import inspect
import io
import os
import signal
import sys

import torch
import torch.distributed as dist
from advice import advised
from job import error, say
from small import WIDTH, model, step
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

import narrowcast
import narrowcast.torch as nct
from narrowcast import _core

CASE, TRANSPORT = sys.argv[1:3]


def compress(ddp, plan="dynamic8", **options):
    return nct.compress(ddp, plan, transport=TRANSPORT, say=lambda line: None, **options)


def killed():
    """Rank 1 dies in the middle of a backward pass."""
    ddp = model()
    compress(ddp)
    for _ in range(3):
        step(ddp)
    dist.barrier()  # who is still at the third step when it dies would lose that one
    if dist.get_rank() == 1:
        parameter = list(ddp.module.parameters())[4]
        parameter.register_hook(lambda gradient: os.kill(os.getpid(), signal.SIGKILL))
    say(raised=error(lambda: step(ddp)))
    os._exit(0)  # torch's own connections may never end by themselves


def raised():
    """Rank 1 raises between two steps and ends."""
    ddp = model()
    compress(ddp)
    for _ in range(3):  # the second of which has collectives of torch's own
        step(ddp)
    if dist.get_rank() == 1:
        raise SystemExit(0)
    say(raised=error(lambda: step(ddp)))
    os._exit(0)


def plans():
    """Ranks give different plans."""
    spec = "dynamic8" if dist.get_rank() == 0 else "qsgd:bits=4"
    ddp = model()
    said = error(lambda: compress(ddp, spec))
    dist.barrier()
    step(ddp)  # a model whose compression was refused trains on
    say(raised=said)


def seeds():
    said = error(lambda: compress(model(), seed=dist.get_rank()))
    dist.barrier()
    say(raised=said)


def second():
    """A second hook, of ours and of others, and again after the first was removed."""
    ddp = model()
    handle = compress(ddp)
    step(ddp)
    twice = error(lambda: compress(ddp))
    foreign = error(lambda: ddp.register_comm_hook(None, lambda state, bucket: None))
    handle.remove()
    step(ddp)
    again = compress(ddp)
    step(ddp)
    steps = again.stats()["steps"]
    again.remove()
    other = model()
    other.register_comm_hook(None, lambda state, bucket: None)
    say(twice=twice, foreign=foreign, steps=steps, other=error(lambda: compress(other)))


class Unreadable(dict):
    def __iter__(self):
        raise OSError("the disk is gone")


def states():
    """What no state_dict() has given is refused by all ranks, not by the first one alone."""
    ddp = model()
    handle = compress(ddp, "onebit:column=64")
    name = "residual/sender/0/0.weight"
    nowhere = {"residual/ranks": torch.tensor([2]), "residual/sender/0/a": torch.zeros(3)}
    before = [
        error(lambda: handle.load_state_dict({"step": first, "epoch": 0, "residuals": residuals}))
        for first, residuals in ((True, {}), (1, {"a": torch.zeros(3)}), (1, nowhere))
    ]
    before += [error(lambda: handle.set_epoch(epoch)) for epoch in (-1, 1 << 44, 0.5)]
    step(ddp)
    good = handle.state_dict()
    wrong_ones = (
        None,
        {},
        3,
        {**good, "step": "one"},
        {**good, "step": 1 << 62},
        {**good, "residuals": None},
        {**good, "residuals": {name: 3}},
        {**good, "residuals": {name: torch.zeros(WIDTH, WIDTH, dtype=torch.float64)}},
        {**good, "residuals": nowhere},
        {**good, "residuals": {**nowhere, name: torch.zeros(WIDTH)}},
        {**good, "residuals": {"a\ud800": torch.zeros(3)}},
        {**good, "residuals": {name: torch.zeros(WIDTH, WIDTH, device="meta")}},
        Unreadable(good),
    )
    refused = [error(lambda: handle.load_state_dict(state)) for state in wrong_ones]
    step(ddp)
    handle.load_state_dict(good)
    step(ddp)
    # What the exchange itself refuses, whatever came before, leaves it as it was.
    refused_inside = error(lambda: handle._engine.load(nowhere if dist.get_rank() == 0 else {}))
    step(ddp)
    say(before=before, refused=refused, inside=refused_inside, step=handle.state_dict()["step"])
    handle.remove()


def wrong():
    say(
        model=error(lambda: nct.compress(nn.Linear(2, 2))),
        spec=error(lambda: compress(model(), "dynamic9")),
        plan=error(lambda: compress(model(), {"fussion": 3})),
        kind=error(lambda: compress(model(), 3)),
        threads=error(lambda: compress(model(), threads=0)),
        seed=error(lambda: compress(model(), seed=-1)),
        offered=error(lambda: compress(model(), "auto", codecs=["bf16", "dynamic9"])),
        toml=error(lambda: compress(model(), "auto", codecs=['codec = "bf16"'])),
        one=error(lambda: compress(model(), "auto", codecs="bf16").remove()),
        bound=error(lambda: compress(model(), "auto", max_error=-1.0)),
        alone=error(alone),
        transport=error(lambda: nct.compress(model(), "fp32", transport="pigeon")),
        sparse=error(sparse),
        shape=error(shapeless),
        shaped=error(lambda: shapeless(min_elements=10000)),
    )


def alone():
    """plan="auto" on one rank, which has nobody to measure with."""
    ddp = model()
    handle = compress(ddp, "auto")
    for _ in range(12):
        step(ddp)
    handle.remove()


def sparse():
    torch.manual_seed(1)
    ddp = DistributedDataParallel(nn.Embedding(10, 4, sparse=True))
    compress(ddp)
    ddp(torch.tensor([1, 2])).sum().backward()


def shapeless(min_elements=0):
    net = nn.Linear(4, 4)
    net.scale = nn.Parameter(torch.tensor(1.0))
    rules = [{"tensors": "*", "codec": "bf16", "schedule": [{"step": 3, "codec": "onebit:column=shape"}]}]
    compress(DistributedDataParallel(net), {"min_elements": min_elements, "rule": rules}).remove()


def removed():
    """After remove() training goes on as without a hook."""
    results = []
    for compressed in (False, True):
        ddp = model()
        if compressed:
            handle = compress(ddp)
            step(ddp)
            handle.remove()
            handle.remove()
            after = [error(handle.state_dict), error(lambda: handle.load_state_dict(None))]
            way = _core.Way("fp32", None, 0)
            after.append(error(lambda: handle._talk.all_reduce(torch.ones(1), way, "direct", "sum")))
            ddp.zero_grad()
        torch.manual_seed(dist.get_rank())
        step(ddp)
        results.append(torch.cat([p.grad.reshape(-1) for p in ddp.parameters()]))
    say(same=bool(torch.equal(*results)), after=after)


def copies():
    """A copy of a compressed model is one that is not, and can be."""
    ddp = model()
    handle = compress(ddp)
    step(ddp)
    averaged = AveragedModel(ddp)
    copied = [copy.deepcopy(ddp), averaged.module, loaded(ddp), copy.deepcopy(loaded(ddp))]
    steps = []
    for each in copied:
        step(each)
        before = handle.stats()["steps"]
        own = compress(each)
        step(each)
        steps.append([before, handle.stats()["steps"], own.stats()["steps"]])
        own.remove()
    averaged.update_parameters(ddp)
    step(ddp)
    say(steps=steps, last=handle.stats()["steps"], measured=measured())
    handle.remove()


def measured():
    """While plan="auto" notes when forward and backward begin."""
    ddp = model()
    handle = compress(ddp, "auto")
    step(ddp)
    each = loaded(copy.deepcopy(ddp))
    step(each)
    step(ddp)
    steps = handle.stats()["steps"]
    handle.remove()
    return steps


def loaded(ddp):
    file = io.BytesIO()
    torch.save(ddp, file)
    options = {"weights_only": False} if "weights_only" in inspect.signature(torch.load).parameters else {}
    return torch.load(io.BytesIO(file.getvalue()), **options)


def wrapped():
    """Rules and residuals know parameters by the names that they have without wrappers."""
    net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH))
    net[0] = compiled(net[0])
    net[1] = checkpoint_wrapper(net[1])
    rules = [{"tensors": f"{layer}.weight", "codec": "qsgd:bits=4", "feedback": True} for layer in range(3)]
    ddp = DistributedDataParallel(compiled(net))
    handle = compress(ddp, {"min_elements": 0, "rule": rules})
    empty = handle.state_dict()
    handle.load_state_dict(empty)
    step(ddp)
    state = handle.state_dict()
    handle.load_state_dict(state)
    handle.remove()
    again = compress(ddp, {"min_elements": 0, "rule": rules})
    again.load_state_dict(state)  # before there is any bucket
    again.remove()
    say(names=sorted(state["residuals"]))


def compiled(module):
    try:
        return torch.compile(module, backend="eager")  # which compiles nothing, and gives the same names
    except RuntimeError:
        return module  # torch 2.0 refuses to on Python 3.11


def overflow():
    """Codecs without NaN or infinity: all ranks see that the step is of no use."""
    wide, narrow = "float:e=4,m=3,overflow=saturate", "float:e=2,m=1,kind=finite"
    in_time = [{"tensors": "*", "codec": "bf16", "schedule": [{"step": 1, "codec": narrow}]}]
    found = {}
    for name, plan in {
        "spec": wide,
        "rule": {"min_elements": 0, "rule": [{"tensors": "*", "codec": narrow}]},
        "schedule": {"min_elements": 0, "rule": in_time},
    }.items():
        for factor in ("nan", "inf"):
            ddp = model()
            handle = compress(ddp, plan)
            step(ddp)
            ddp.zero_grad()
            loss = ddp(torch.randn(8, WIDTH)).square().mean()
            (loss * (float(factor) if dist.get_rank() == 1 else 1.0)).backward()
            finite = any(bool(p.grad.isfinite().any()) for p in ddp.parameters())
            found[f"{name} {factor}"] = [finite, handle.stats()["skipped_steps"]]
            handle.remove()
    say(found=found)


def sealed():
    """A job key: frames carry authenticators."""
    plan = {"key_file": os.environ["KEY_FILE"], "rule": [{"tensors": "*", "codec": "dynamic8"}]}
    ddp = model()
    handle = compress(ddp, plan)
    for _ in range(3):
        step(ddp)
    say(steps=handle.stats()["steps"])
    handle.remove()


def auto():
    """plan="auto" decides, all ranks alike; whatever the machine says, both outcomes train on."""
    ddp = model()
    handle = compress(ddp, "auto", codecs=["dynamic8"])
    plans = [handle.plan]
    for _ in range(40):
        step(ddp)
        plans.append(handle.plan)
    say(plans=plans, **outcome("yes", True), **outcome("no", False), **outcome("perhaps", True, 1.2))
    handle.remove()


def outcome(name, compresses, gain=2.0):
    """What follows when the advice is given."""
    lines = []
    ddp = model()
    with advised(_core.plan_of("dynamic8"), compress=compresses, gain=gain):
        handle = nct.compress(ddp, "auto", transport=TRANSPORT, say=lines.append)
        for _ in range(14 if gain == 2.0 else 40):
            step(ddp)
    gradients = torch.cat([p.grad.reshape(-1) for p in ddp.parameters()]).double()
    largest = gradients.clone()
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    same = bool(torch.equal(largest, gradients))
    found = {"plan": handle.plan, "same": same, "lines": lines, **handle.stats()}
    found["step"] = handle.state_dict()["step"]
    handle.remove()
    return {name: found}


def main():
    dist.init_process_group("gloo")
    globals()[CASE]()
    dist.destroy_process_group()


if __name__ == "__main__":
    assert narrowcast.PeerError
    main()
