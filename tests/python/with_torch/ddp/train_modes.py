"""Trains in every mode; says, for each, what the test wants to know.  train_modes.py TRANSPORT"""

import sys

import torch
import torch.distributed as dist
from job import say
from modes import MODES, train

import narrowcast.torch as nct

EVERYTHING = """
min_elements = 0
fusion = "16KiB"
[[rule]]
tensors = "*"
{}
"""
PARTS = ("encode_ms", "wire_ms", "decode_ms", "wait_ms", "overlap")


def same_everywhere(states, group):
    """Whether all ranks of a group have the same bits."""
    mine = states.view(torch.int64).contiguous()
    largest, smallest = mine.clone(), mine.clone()
    dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
    dist.all_reduce(smallest, dist.ReduceOp.MIN, group=group)
    return bool(torch.equal(largest, smallest))


def compressed(codec, more=""):
    rule = f'codec = "{codec}"\n{more}'

    def compress(ddp):
        return nct.compress(ddp, EVERYTHING.format(rule), transport=sys.argv[1], say=lambda line: None)

    return compress


def compare(name):
    mode = MODES[name]
    members = mode.members_of(dist.get_world_size())
    group = dist.new_group(members)
    if dist.get_rank() not in members:
        return None
    plain, _ = train(mode(), group, None)
    exact, handle = train(mode(), group, compressed("fp32"))
    narrow, narrow_handle = train(mode(), group, compressed("dynamic8"))
    moved = (plain[-1] - plain[0]).norm()
    return {
        "buckets": handle.buckets,
        "steps": narrow_handle.stats()["steps"],
        "ratio": narrow_handle.stats()["ratio"],
        "parts": [narrow_handle.stats()[part] for part in PARTS],
        "plain_agrees": same_everywhere(plain, group),
        "fp32_agrees": same_everywhere(exact, group),
        "narrow_agrees": same_everywhere(narrow, group),
        "fp32_is_plain": bool(torch.equal(exact, plain)),
        "fp32_off": float((exact[-1] - plain[-1]).norm() / moved),
        "narrow_off": float((narrow[-1] - plain[-1]).norm() / moved),
    }


class SmallGradients(MODES["Plain"]):
    """All below the smallest number of (3,3)."""

    def loss(self, ddp, batch, step):
        return 1e-4 * super().loss(ddp, batch, step)


def with_and_without_aps():
    """How far from fp32 training ends, as parts of the way that it went."""
    ways = {"fp32": ("fp32",), "aps": ("float:e=3,m=3", 'scaling = "aps"'), "unscaled": ("float:e=3,m=3",)}
    group = dist.group.WORLD
    states = {name: train(SmallGradients(), group, compressed(*way))[0] for name, way in ways.items()}
    end, moved = states["fp32"][-1], (states["fp32"][-1] - states["fp32"][0]).norm()
    return {
        "agrees": same_everywhere(states["aps"], group),
        "off": {name: float((those[-1] - end).norm() / moved) for name, those in states.items()},
    }


def main():
    dist.init_process_group("gloo")
    for name in sys.argv[2:] or MODES:
        said = compare(name)
        dist.barrier()
        if said is not None:
            say(**{name: said})
    say(scaling=with_and_without_aps())
    dist.destroy_process_group()


main()
