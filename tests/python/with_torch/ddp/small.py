"""A small model of many buckets, for scripts that are not about the model."""

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WIDTH = 128


def model(group=None):
    torch.manual_seed(3)
    net = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(WIDTH, WIDTH), nn.ReLU())])
    return DistributedDataParallel(net, bucket_cap_mb=0.01, process_group=group)


def step(ddp):
    ddp(torch.randn(8, WIDTH)).square().mean().backward()
