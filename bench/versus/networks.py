"""The networks of `narrowcast train` that the comparison trains, written for PyTorch with the same recipes.

Layers, initial values, optimiser, rates and augmentation are those of train/networks/d16.cpp and run/recipes.cpp;
seeds draw other numbers than there.
"""

import gzip
import math
import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional

BATCH = 128  # of one worker


class LocallyConnected(nn.Module):
    """A convolution of 3 x 3 with weights of its own at each place."""

    def __init__(self, inputs, outputs, side):
        super().__init__()
        self.outputs, self.side = outputs, side
        fan_in = 9 * inputs
        self.weight = nn.Parameter(torch.randn(side * side, fan_in, outputs) * math.sqrt(2 / fan_in))
        self.bias = nn.Parameter(torch.zeros(side * side, outputs))

    def forward(self, x):
        windows = functional.unfold(x, 3, padding=1).permute(2, 0, 1).contiguous()
        sums = torch.baddbmm(self.bias.unsqueeze(1), windows, self.weight)
        return sums.permute(1, 2, 0).reshape(x.size(0), self.outputs, self.side, self.side)


def conv(inputs, outputs, kernel):
    layer = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    nn.init.zeros_(layer.bias)
    return layer


def mnist_mlp():
    return nn.Sequential(
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(784, 1024), nn.ReLU(), nn.Dropout(0.3), nn.Linear(1024, 1024),
        nn.ReLU(), nn.Dropout(0.3), nn.Linear(1024, 10))


def cifar_conv():
    def halve():
        return nn.MaxPool2d(3, 2, ceil_mode=True), nn.LocalResponseNorm(9, 0.001, 0.75, 1)

    return nn.Sequential(
        conv(3, 64, 5), nn.ReLU(inplace=True), *halve(), conv(64, 64, 3), nn.ReLU(inplace=True), *halve(),
        LocallyConnected(64, 64, 6), nn.ReLU(inplace=True), LocallyConnected(64, 32, 6), nn.ReLU(inplace=True),
        nn.Flatten(), nn.Linear(32 * 36, 10))


# -- data ----------------------------------------------------------------------------------------


def idx(path):
    raw = gzip.decompress(path.read_bytes())
    dimensions = raw[3]
    shape = np.frombuffer(raw, ">u4", dimensions, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist(folder, part):
    name = {"train": "train", "test": "t10k"}[part]
    images, labels = (idx(folder / "mnist" / f"{name}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
    return images[:, None], labels


def cifar10(folder, part):
    names = [f"data_batch_{i}" for i in range(1, 6)] if part == "train" else ["test_batch"]
    found = next(folder / name for name in ("cifar10", "cifar-10-batches-bin") if (folder / name / "test_batch.bin").exists())
    rows = np.concatenate([np.fromfile(found / f"{name}.bin", np.uint8).reshape(-1, 3073) for name in names])
    return rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0]


class Data:
    """One part of a data set in memory: batches of floats, cropped and mirrored at random for training."""

    def __init__(self, images, labels, network):
        self.images, self.labels = torch.from_numpy(images.copy()), torch.from_numpy(labels.astype(np.int64))
        self.crop = network.crop
        self.mean, self.deviation = (torch.tensor(each).view(1, -1, 1, 1) for each in (network.mean, network.deviation))

    def batch(self, chosen, dice=None):
        images = self.images[chosen]
        if self.crop:
            images = cropped(images, self.crop, dice)
        return (images.float() / 255 - self.mean) / self.deviation, self.labels[chosen]


def cropped(images, size, dice):
    """The middle without dice; else anywhere, and every second one mirrored."""
    count, rest = len(images), images.size(-1) - size
    if dice is None:
        begin = rest // 2
        return images[:, :, begin : begin + size, begin : begin + size]
    top, left = torch.randint(rest + 1, (2, count, 1), generator=dice)
    mirrored = torch.randint(2, (count, 1), generator=dice).bool()
    along = torch.arange(size).expand(count, size)
    rows, columns = top + along, left + torch.where(mirrored, size - 1 - along, along)
    which = torch.arange(count).view(-1, 1, 1, 1)
    channels = torch.arange(images.size(1)).view(1, -1, 1, 1)
    return images[which, channels, rows[:, None, :, None], columns[:, None, None, :]]


class Network:
    def __init__(self, build, read, optimiser, **rest):
        self.build, self.read, self.optimiser = build, read, optimiser
        self.crop, self.mean, self.deviation = rest.get("crop", 0), rest["mean"], rest["deviation"]
        self.decay = rest.get("decay", 1.0)  # of the rate, after each epoch

    def data(self, folder, part):
        return Data(*self.read(pathlib.Path(folder), part), self)


NETWORKS = {
    "mnist-mlp": Network(mnist_mlp, mnist, lambda p: torch.optim.RMSprop(p, lr=0.0005, alpha=0.9, eps=1e-8),
                         mean=(0.1307,), deviation=(0.3081,), decay=0.9),
    "cifar-conv": Network(cifar_conv, cifar10,
                          lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=0.001), crop=24,
                          mean=(0.4914, 0.4822, 0.4465), deviation=(0.2470, 0.2435, 0.2616)),
}
