"""Trains a small network on several processes, with gradients of 8 bits on the wire:

    torchrun --nproc-per-node 2 examples/ddp_mnist.py [--data FOLDER] [--plan dynamic8] [--epochs 3]

FOLDER has the files of MNIST, or of Fashion-MNIST (apt-get install dataset-fashion-mnist).
"""

import argparse
import gzip
import pathlib

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import narrowcast.torch as nct

parser = argparse.ArgumentParser(description="DistributedDataParallel with compressed gradients")
parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
parser.add_argument("--plan", default="dynamic8", help='a codec, a plan\'s file, or "auto"')
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--images", type=int, default=60_000, help="use only the first so many")
words = parser.parse_args()


def load(name, header):
    data = gzip.decompress((words.data / f"{name}-ubyte.gz").read_bytes())
    return torch.from_numpy(numpy.frombuffer(data, numpy.uint8, offset=header).copy())


def images_and_labels(part):
    images = load(f"{part}-images-idx3", 16).reshape(-1, 784).float() / 255
    return images, load(f"{part}-labels-idx1", 8).long()


dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
layers = nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)
model = DistributedDataParallel(nn.Sequential(*layers))
handle = nct.compress(model, words.plan)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
images, labels = (all_of_them[: words.images] for all_of_them in images_and_labels("train"))
for epoch in range(words.epochs):
    handle.set_epoch(epoch)
    order = torch.randperm(len(images))[rank::ranks]  # the same permutation everywhere
    for batch in order.split(128 // ranks)[: len(images) // 128]:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
        optimizer.step()
if rank == 0:
    images, labels = images_and_labels("t10k")
    right = (model.module(images).argmax(1) == labels).float().mean()
    print(f"{100 * right:.1f} % right, {handle.stats()['ratio']:.2f} times fewer bytes")
handle.remove()
dist.destroy_process_group()
