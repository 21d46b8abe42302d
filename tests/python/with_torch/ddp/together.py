"""Two compressed models of different groups in one backward pass.  together.py TRANSPORT"""

import sys

import torch
import torch.distributed as dist
from job import say
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import narrowcast.torch as nct

WIDTH, STEPS = 64, 4
PLAN = {"min_elements": 0, "rule": [{"tensors": "*", "codec": "qsgd:bits=4", "feedback": True}]}


def models(groups):
    torch.manual_seed(3)
    ddps = [
        DistributedDataParallel(
            nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(WIDTH, WIDTH), nn.Tanh())]),
            bucket_cap_mb=0.01,
            process_group=group,
        )
        for group in groups
    ]
    handles = [
        nct.compress(ddp, PLAN, seed=5, transport=sys.argv[1], say=lambda line: None) for ddp in ddps
    ]
    return ddps, handles


def gradients(groups, backward):
    """Of all steps and both models, one after the other."""
    ddps, handles = models(groups)
    found = []
    for step in range(STEPS):
        torch.manual_seed(100 * step + dist.get_rank())
        for ddp in ddps:
            ddp.zero_grad()
        backward(*ddps, torch.randn(8, WIDTH))
        found += [p.grad.reshape(-1) for ddp in ddps for p in ddp.parameters()]
    for handle in handles:
        assert handle.stats()["steps"] == STEPS
        handle.remove()
    return torch.cat(found)


def at_once(one, other, x):
    (one(x).square().mean() + other(x).square().mean()).backward()


def in_turn(one, other, x):
    one(x).square().mean().backward()
    other(x).square().mean().backward()


def through_both(one, other, x):
    other(one(x)).square().mean().backward()


def same_everywhere(values):
    bits = values.view(torch.int32)
    largest, smallest = bits.clone(), bits.clone()
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    dist.all_reduce(smallest, dist.ReduceOp.MIN)
    return bool(torch.equal(largest, smallest))


def main():
    dist.init_process_group("gloo")
    groups = [dist.group.WORLD, dist.new_group(list(range(dist.get_world_size())))]
    once = gradients(groups, at_once)
    say(
        as_in_turn=bool(torch.equal(once, gradients(groups, in_turn))),
        once_same=same_everywhere(once),
        both_same=same_everywhere(gradients(groups, through_both)),
    )
    dist.destroy_process_group()


main()
