"""Ends while everything is still held: the model, its handle, the group.  exits.py FOLDER TRANSPORT TIMES

What is tried, and how often, in processes that this one forks: they need not load torch again."""

import faulthandler
import itertools
import os
import signal
import sys

import torch
import torch.distributed as dist
from job import say
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import narrowcast.torch as nct

FOLDER, TRANSPORT, TIMES = sys.argv[1], sys.argv[2], int(sys.argv[3])
RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
WIDTH = 128
PATIENCE = float(os.environ["PATIENCE"]) / 4
HOWS = ("compressed", "removed", "tensors")
ENDINGS = ("held", "destroyed")

held = []


def train(how, ending, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=RANK, world_size=RANKS)
    layers = [m for _ in range(6) for m in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    model = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=0.01)
    handle = nct.compress(model, "dynamic8", transport=TRANSPORT, say=lambda line: None)
    held.extend((model, handle, dist.group.WORLD))
    for step in range(4):
        if step == 2 and how == "removed":
            handle.remove()
        model(torch.randn(8, WIDTH)).square().mean().backward()
    if how == "tensors":
        nct.all_reduce(torch.ones(1000), "dynamic8")
    if ending == "destroyed":
        dist.destroy_process_group()


faulthandler.cancel_dump_traceback_later()  # its thread would be missed in the forked ones
ended = {}
for how, ending in itertools.product(HOWS, ENDINGS):
    for turn in range(TIMES):
        child = os.fork()
        if child == 0:
            # A hang says where, also while the interpreter goes.
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            signal.alarm(int(2 * PATIENCE))
            train(how, ending, f"{FOLDER}/{how}-{ending}-{turn}")
            sys.exit()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ended.setdefault(f"{how} {ending}", []).append(code)
say(**ended)
