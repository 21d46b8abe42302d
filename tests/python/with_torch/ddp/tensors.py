"""Collectives of single tensors.  tensors.py"""

import numpy as np
import torch
import torch.distributed as dist
from job import say

import narrowcast
import narrowcast.torch as nct

VALUES = 20_000


def values(rank, dtype=torch.float32):
    generator = torch.Generator().manual_seed(rank)
    return torch.randn(VALUES // 50, 50, generator=generator).to(dtype)


def error(call):
    try:
        call()
    except Exception as raised:
        return [type(raised).__name__, str(raised)]
    return None


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
        in_group=in_group is None
        or bool(torch.equal(in_group, everything[0] + everything[ranks - 1])),
        arrays=error(lambda: nct.all_reduce(np.ones(3, np.float32), "fp32")),
        expanded=error(lambda: nct.all_reduce(torch.ones(1).expand(3), "fp32")),
        received_expanded=error(lambda: nct.recv(torch.ones(1).expand(3), 0, "fp32")),
        no_rank=error(lambda: nct.send(torch.ones(3), ranks, "fp32")),
        itself=error(lambda: nct.send(torch.ones(3), rank, "fp32")),
        algorithm=error(lambda: nct.all_reduce(torch.ones(3), "fp32", algorithm="pigeon")),
        outside=error(lambda: nct.all_reduce(torch.ones(3), "fp32", dist.GroupMember.NON_GROUP_MEMBER)),
        integers=error(lambda: nct.all_reduce(torch.arange(3), "fp32")),
        spec=error(lambda: nct.all_reduce(values(rank), "dynamic9")),
    )
    dist.destroy_process_group()


main()
