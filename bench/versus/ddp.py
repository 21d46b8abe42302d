#!/usr/bin/env python3
"""Steps of DistributedDataParallel between two hosts: torch's own ways beside narrowcast's, in one run.

    bench/versus/ddp.py [--rates 100mbit 1gbit 10gbit unlimited] [--rounds 5] [--json FILE]

Makes two hosts of one core each (scripts/hosts, which takes root), joined by links of each rate in
turn, and trains the network 784-1024-1024-10 of D16 with 128 images a worker. All ways take turns
within one process, so that a busy machine slows all of them down; figures are medians of single steps.
`scripts/bench versus ddp` calls it for each rate; by hand, run it with a Python that has torch and narrowcast.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTS = os.path.join(HERE, "..", "..", "scripts", "hosts")
BATCH = 128
SUBNET = "10.78.0.0/24"
UNLIMITED = "1000gbit"  # more than any machine carries between two of its cores

# What the goals of the project compare: (way, reference, at least so many times as fast).
GOALS = {
    "1gbit": [("dynamic8", "fp32", 1.8), ("dynamic8", "best hook", 1.2), ("qsgd:bits=4", "fp32", 2.0)],
    "unlimited": [("auto", "fp32", 0.95)],
}


def main():
    words = parse()
    if words.worker:
        return work(words)
    from timing import write

    results, failed = {}, []
    for rate in words.rates:
        try:
            results[rate] = measure(rate, words)
        except subprocess.CalledProcessError:
            failed.append(rate)  # whoever failed has said why
            continue
        print_table(rate, results[rate])
    if failed:
        print(f"not measured: {', '.join(failed)}", file=sys.stderr)
        return 5
    # All rates or none: whoever finds the file takes it for complete.
    if words.json:
        write(words.json, results)
    return 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rates", nargs="+", default=["100mbit", "1gbit", "10gbit", "unlimited"])
    parser.add_argument("--rounds", type=int, default=5, help="how often each way has its turn")
    parser.add_argument("--steps", type=int, default=12, help="in each turn")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--json", help="a file for all figures")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# -- the hosts -----------------------------------------------------------------------------------


def measure(rate, words):
    environment = {**os.environ, "NARROWCAST_HOSTS": "ddp", "OMP_NUM_THREADS": "1"}
    up = [HOSTS, "up", "2", "--again", "--subnet", SUBNET]
    up += ["--rate", UNLIMITED, "--no-check"] if rate == "unlimited" else ["--rate", rate]
    worker = [sys.executable, os.path.abspath(__file__), "--worker"]
    worker += ["--rounds", str(words.rounds), "--steps", str(words.steps), "--ways", *words.ways]
    try:
        subprocess.run(up, env=environment, check=True, stdout=sys.stderr)
        run = [HOSTS, "run", "--port", "29510", "--", *worker]
        done = subprocess.run(run, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    finally:
        subprocess.run([HOSTS, "down"], env=environment, check=True, stdout=subprocess.DEVNULL)
    return json.loads(done.stdout.splitlines()[-1])


# -- one rank ------------------------------------------------------------------------------------


def plain(ddp):
    return None


def half(ddp):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)


def bfloat(ddp):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    # Under another name: by its own, DistributedDataParallel asks for a GPU.
    def hook(state, bucket):
        return default_hooks.bf16_compress_hook(state, bucket)

    ddp.register_comm_hook(None, hook)


def narrow(plan):
    def attach(ddp):
        import narrowcast.torch as nct

        return nct.compress(ddp, plan)

    return attach


WAYS = {
    "fp32": plain,
    "fp16 hook": half,
    "bf16 hook": bfloat,
    "dynamic8": narrow("dynamic8"),
    "qsgd:bits=4": narrow("qsgd:bits=4"),
    "auto": narrow("auto"),
}
HOOKS = ("fp16 hook", "bf16 hook")
WARM_UP = 40  # of which plan='auto' takes 34 to decide


class Way:
    """A model of its own, and the times of its steps."""

    def __init__(self, name, torch):
        from torch.nn.parallel import DistributedDataParallel

        torch.manual_seed(1)
        nn = torch.nn
        model = nn.Sequential(
            nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
        )
        self.ddp = DistributedDataParallel(model)
        self.handle = WAYS[name](self.ddp)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        self.loss = nn.CrossEntropyLoss()
        self.times = []

    def steps(self, count, images, labels):
        for _ in range(count):
            begin = time.perf_counter()
            self.optimizer.zero_grad()
            self.loss(self.ddp(images), labels).backward()
            self.optimizer.step()
            self.times.append(1000 * (time.perf_counter() - begin))


def work(words):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    generator = torch.Generator().manual_seed(dist.get_rank())
    images = torch.randn(BATCH, 784, generator=generator)
    labels = torch.randint(10, (BATCH,), generator=generator)
    ways = {name: Way(name, torch) for name in words.ways}
    for way in ways.values():
        way.steps(WARM_UP, images, labels)
        way.times.clear()
    for _ in range(words.rounds):
        for way in ways.values():
            way.steps(1, images, labels)  # of another way's turn something is left in the caches
            del way.times[-1]
            way.steps(words.steps, images, labels)
    if dist.get_rank() == 0:
        print(json.dumps({name: figures(way) for name, way in ways.items()}), flush=True)
    for way in ways.values():
        if way.handle is not None:
            way.handle.remove()
    dist.destroy_process_group()
    return 0


def figures(way):
    quarters = statistics.quantiles(way.times, n=4)
    found = {
        "ms": round(statistics.median(way.times), 3),
        "from": round(quarters[0], 3),
        "to": round(quarters[2], 3),
        "steps": len(way.times),
    }
    if way.handle is not None:
        found["stats"] = way.handle.stats()
        found["plan"] = way.handle.plan
    return found


# -- the table -----------------------------------------------------------------------------------


def print_table(rate, ways):
    fp32 = ways.get("fp32", {}).get("ms")
    hooks = [ways[name]["ms"] for name in HOOKS if name in ways]
    print(f"\n{rate}\n{'way':14}{'ms a step':>10}{'quartiles':>18}{'of fp32':>9}{'of best hook':>14}")
    for name, way in ways.items():
        times = f"{fp32 / way['ms']:.2f}" if fp32 else ""
        of_hook = f"{min(hooks) / way['ms']:.2f}" if hooks else ""
        print(f"{name:14}{way['ms']:10.2f}{way['from']:9.2f}{way['to']:9.2f}{times:>9}{of_hook:>14}")
    for name, reference, times in GOALS.get(rate, []):
        base = min(hooks, default=None) if reference == "best hook" else fp32
        if name in ways and base:
            reached = base / ways[name]["ms"]
            verdict = "reached" if reached >= times else "missed"
            print(f"  goal: {name} {times} times as fast as {reference}: {reached:.2f}, {verdict}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
