"""The Python of the README, as it stands there."""

import pathlib
import sys

import numpy as np
import torch
import torch.distributed as dist

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs"))
from pages import ROOT, fences  # noqa: E402


def test_the_readmes_lines_run(tmp_path):
    (text,) = fences(ROOT / "README.md", "python")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        model = torch.nn.Sequential(torch.nn.Linear(100, 200))
        ddp_model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(100, 200))
        names = {"array": np.ones(1000, np.float32), "model": model, "ddp_model": ddp_model}
        exec(compile(text, "README.md", "exec"), names)
        assert len(names["frame"]) < 1200
        for each in (model, ddp_model):
            each(torch.ones(4, 100)).sum().backward()
        assert ddp_model.module.weight.grad.abs().sum() > 0
        assert model[0].weight.grad.abs().sum() > 0
    finally:
        dist.destroy_process_group()
