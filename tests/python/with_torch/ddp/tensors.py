"""Collectives of single tensors.  tensors.py"""

import inspect
import textwrap
import threading

import numpy as np
import torch
import torch.distributed as dist
from job import error, say

import narrowcast
import narrowcast.torch as nct

VALUES = 20_000


def values(rank, dtype=torch.float32):
    generator = torch.Generator().manual_seed(rank)
    return torch.randn(VALUES // 50, 50, generator=generator).to(dtype)


def example_of_send(rank):
    """What its docstring shows, carried out: the block that is indented."""
    lines = inspect.cleandoc(nct.send.__doc__).splitlines()
    code = textwrap.dedent("\n".join(line for line in lines if line.startswith("    ")))
    sent, activations = values(0), values(rank)
    exec(code, {"nct": nct, "rank": rank, "activations": activations})
    return rank == 0 or torch.equal(activations, narrowcast.quantize(sent, "dynamic8"))


def differences(rank):
    """What ranks say whose calls differ; after each the next call works."""
    spec = ("dynamic8", "linear8")[rank % 2]
    few = torch.ones(3 + rank % 2)
    finite, mixed = "float:e=2,m=1,kind=finite", torch.full((3,), float("nan") if rank == 1 else 1.0)
    found = {
        "nan_to_add": error(lambda: nct.all_reduce(mixed, finite)),
        "nan_to_gather": error(lambda: nct.all_gather(mixed, finite)),
        "nan_everywhere": [
            error(lambda: nct.all_reduce(mixed * float("nan"), finite)),
            error(lambda: nct.all_gather(mixed * float("nan"), finite)),
        ],
        "spec": error(lambda: nct.all_reduce(values(rank), spec)),
        "size": error(lambda: nct.all_reduce(few, "fp32")),
        "average": error(lambda: nct.all_reduce(values(rank), "fp32", average=rank % 2 == 1)),
        "algorithm": error(
            lambda: nct.all_reduce(values(rank), "fp32", algorithm=("ring", "direct")[rank % 2])
        ),
        "seed": error(lambda: nct.all_reduce(values(rank), "qsgd:bits=4", seed=rank)),
        "gathered_seed": error(lambda: nct.all_gather(values(rank), "qsgd:bits=4", seed=rank)),
        "gathered": error(lambda: nct.all_gather(few, "fp32")),
        "call": error(
            lambda: nct.all_gather(few[:3], "fp32") if rank else nct.all_reduce(few, "fp32")
        ),
    }
    if rank == 0:
        nct.send(values(rank), 1, "dynamic8")
        nct.send(values(rank), 1, "fp32")
        nct.send(values(rank), 1, "dynamic8")
        found["nan"] = error(lambda: nct.send(few * float("nan"), 1, finite))
        nct.send(values(rank), 1, "bf16")
    elif rank == 1:
        kept = values(rank)
        found["sent"] = error(lambda: nct.recv(kept, 0, "linear8"))
        found["fewer"] = error(lambda: nct.recv(kept[1:], 0, "fp32"))
        found["kept"] = bool(torch.equal(kept, values(rank)))
        nct.recv(kept, 0, "dynamic8")
        found["next"] = bool(torch.equal(kept, narrowcast.quantize(values(0), "dynamic8")))
        nct.recv(kept, 0, "bf16")
    found["all"] = float(nct.all_reduce(torch.ones(1), "fp32"))
    return found


def sent_while_receiving(rank):
    """A thread of rank 0 waits for what rank 1 sends only after it has got something itself."""
    mine, theirs = torch.full((5,), float(rank)), torch.zeros(5)
    begun = threading.Event()

    def receive():
        nct.recv(theirs, 1, "fp32")
        begun.set()
        nct.recv(theirs, 1, "fp32")

    if rank == 0:
        waiting = threading.Thread(target=receive)
        waiting.start()
        begun.wait()
        nct.send(mine, 1, "fp32")
        waiting.join()
    elif rank == 1:
        nct.send(torch.zeros(5), 0, "fp32")
        nct.recv(theirs, 0, "fp32")
        nct.send(mine, 0, "fp32")
    return rank > 1 or theirs.tolist() == [float(1 - rank)] * 5


def same(tensor):
    largest, smallest = tensor.detach().double(), tensor.detach().double()
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    dist.all_reduce(smallest, dist.ReduceOp.MIN)
    return bool(torch.equal(largest, smallest))


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    everything = [values(r) for r in range(ranks)]
    exact = torch.stack(everything).sum(0)

    fp32 = nct.all_reduce(values(rank), "fp32")
    twice = narrowcast.quantize(
        torch.stack([narrowcast.quantize(v, "dynamic8") for v in everything]).sum(0), "dynamic8"
    )
    narrow = nct.all_reduce(values(rank), "dynamic8")
    average = nct.all_reduce(values(rank), "fp32", average=True, algorithm="ring")
    chance = nct.all_reduce(values(rank), "qsgd:bits=4", seed=9)
    other_chance = nct.all_reduce(values(rank), "qsgd:bits=4", seed=9)

    strided = values(rank).t()
    nct.all_reduce(strided, "fp32")
    half = nct.all_reduce(values(rank, torch.bfloat16), "fp32")
    leaf = values(rank).requires_grad_()
    nct.all_reduce(leaf, "dynamic8")

    gathered = nct.all_gather(values(rank), "dynamic8")
    expected = [narrowcast.quantize(v, "dynamic8") for v in everything]

    # Activations go round: each rank sends to the next, the first one first.
    received = torch.empty(VALUES // 50, 50)
    if rank == 0:
        nct.send(values(rank), 1, "dynamic8")
        nct.recv(received, ranks - 1, "dynamic8")
    else:
        nct.recv(received, rank - 1, "dynamic8")
        nct.send(values(rank), (rank + 1) % ranks, "dynamic8")

    shown = rank > 1 or example_of_send(rank)

    group = dist.new_group([0, ranks - 1])
    in_group = None
    if rank in (0, ranks - 1):
        in_group = nct.all_reduce(values(rank), "fp32", group)

    say(
        fp32=bool(torch.equal(fp32, exact)),
        narrow=bool(torch.equal(narrow, twice)),
        narrow_same=same(narrow),
        average=bool(torch.allclose(average, exact / ranks)),
        chance_same=same(chance),
        chance_differs=not torch.equal(chance, other_chance),
        strided=bool(torch.equal(strided, exact.t())),
        half=str(half.dtype),
        leaf=bool(torch.equal(leaf, narrow)) and leaf.requires_grad,
        gathered=all(torch.equal(a, b) for a, b in zip(gathered, expected)),
        received=bool(torch.equal(received, expected[(rank - 1) % ranks])),
        shown=shown,
        in_group=in_group is None
        or bool(torch.equal(in_group, everything[0] + everything[ranks - 1])),
        arrays=error(lambda: nct.all_reduce(np.ones(3, np.float32), "fp32")),
        expanded=error(lambda: nct.all_reduce(torch.ones(1).expand(3), "fp32")),
        received_expanded=error(lambda: nct.recv(torch.ones(1).expand(3), 0, "fp32")),
        no_rank=error(lambda: nct.send(torch.ones(3), ranks, "fp32")),
        far=error(lambda: nct.send(torch.ones(3), 1 << 40, "fp32")),
        float_to=error(lambda: nct.send(torch.ones(3), 1.0, "fp32")),
        float_from=error(lambda: nct.recv(torch.ones(3), 0.0, "fp32")),
        number=error(lambda: nct.all_reduce(torch.ones(3), "fp32", algorithm=3)),
        itself=error(lambda: nct.send(torch.ones(3), rank, "fp32")),
        algorithm=error(lambda: nct.all_reduce(torch.ones(3), "fp32", algorithm="pigeon")),
        outside=error(lambda: nct.all_reduce(torch.ones(3), "fp32", dist.GroupMember.NON_GROUP_MEMBER)),
        word=error(lambda: nct.all_reduce(torch.ones(3), "fp32", group="foo")),
        integers=error(lambda: nct.all_reduce(torch.arange(3), "fp32")),
        spec=error(lambda: nct.all_reduce(values(rank), "dynamic9")),
        differences=differences(rank),
        crossing=sent_while_receiving(rank),
    )
    dist.destroy_process_group()


main()
