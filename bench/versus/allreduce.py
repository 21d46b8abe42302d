#!/usr/bin/env python3
"""One rank of torch.distributed's all-reduce over Gloo, timed as `narrowcast bench allreduce` times ours.

    scripts/hosts run -- python bench/versus/allreduce.py [--count 6500000] [-n 20] [-w 5]

Rank 0 prints a line of JSON with the members of that command's that make sense here: the median over the repetitions
of the slowest rank's time. One thread; the sum is checked.
"""

import argparse
import datetime
import json
import statistics
import sys
import time


def timed(dist, values, exact):
    """Milliseconds are of this rank, from a moment when all were ready."""
    values.copy_(exact)
    dist.barrier()
    begin = time.perf_counter()
    dist.all_reduce(values)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=6_500_000)
    parser.add_argument("-n", type=int, default=20, help="repetitions")
    parser.add_argument("-w", type=int, default=5, help="repetitions before that, which do not count")
    words = parser.parse_args()
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    ranks = dist.get_world_size()
    exact = torch.arange(words.count, dtype=torch.float32).remainder_(1000).add_(dist.get_rank())
    values = torch.empty_like(exact)
    times = torch.tensor([timed(dist, values, exact) for _ in range(words.w + words.n)][words.w :])
    expected = ranks * (exact - dist.get_rank()) + ranks * (ranks - 1) / 2
    wrong = int((values != expected).sum())
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        slowest = [1e6 * seconds for seconds in times.tolist()]
        print(json.dumps({"codec": "torch.distributed", "version": torch.__version__, "ranks": ranks,
                          "count": words.count, "bytes": 4 * words.count, "time_us": statistics.median(slowest),
                          "least_us": min(slowest), "mean_us": statistics.mean(slowest), "iterations": words.n,
                          "wrong": wrong}), flush=True)
    dist.barrier()
    dist.destroy_process_group()
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
