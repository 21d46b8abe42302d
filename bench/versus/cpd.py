"""Emulated arithmetic beside what people use: numpy for products, QPyTorch (qtorch) for casts.

    bench/versus/cpd.py [--json FILE]

`scripts/bench versus emulation` runs it, with the packages of requirements.txt and narrowcast.
All on one core and one thread, in one run: figures are the best of several, and their ratios are what
counts. Results are compared before anything is measured. qtorch compiles an extension when it is imported.
"""

import argparse
import os
import sys
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

import narrowcast  # noqa: E402
from narrowcast import cpd  # noqa: E402
from timing import write  # noqa: E402

PRODUCT, SUM = (5, 2), (8, 7)


def best(call, repeats, seconds=20.0):
    """Of that many runs, or as many as there is time for; seconds of this thread on the CPU."""
    least, end = float("inf"), time.perf_counter() + seconds
    for _ in range(repeats):
        start = time.thread_time()
        call()
        least = min(least, time.thread_time() - start)
        if time.perf_counter() > end:
            break
    return least


def numpy_rounded(x, exp, man):
    """To the nearest even, with what numpy has; overflow becomes infinity."""
    shift = np.uint32(23 - man)
    bits = x.view(np.uint32)
    odd = (bits >> shift) & np.uint32(1)
    kept = np.uint32(0xFFFFFFFF << (23 - man) & 0xFFFFFFFF)
    near = ((bits + np.uint32((1 << (22 - man)) - 1) + odd) & kept).view(np.float32)
    if exp == 8:
        return near
    bias = 2 ** (exp - 1) - 1
    unit = np.float32(2.0 ** (1 - bias - man))
    size = np.abs(x)
    near = np.where(size < np.float32(2.0 ** (1 - bias)), np.rint(x / unit) * unit, near)
    largest = np.float32((2 - 2.0**-man) * 2.0**bias)
    return np.where(np.abs(near) > largest, np.copysign(np.float32(np.inf), x), near)


def numpy_loop(a, b):
    """The same arithmetic for whole matrices, term by term."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        term = numpy_rounded(a[:, k : k + 1] * b[k : k + 1, :], *PRODUCT)
        total = numpy_rounded(total + term, *SUM)
    return total


def python_loop(a, b):
    """The same arithmetic value by value."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            running = np.zeros(1, np.float32)
            for k in range(a.shape[1]):
                term = numpy_rounded(a[i, k : k + 1] * b[k, j : j + 1], *PRODUCT)
                running = numpy_rounded(running + term, *SUM)
            total[i, j] = running[0]
    return total


def emulated(a, b, kahan=False):
    return narrowcast.gemm(
        a, b, cpd.float_spec(*PRODUCT), cpd.float_spec(*SUM), kahan=kahan, threads=1
    )


def row(what, seconds, work, ours, unit):
    return {"what": what, "ns": 1e9 * seconds / work, "times_ours": seconds / ours, "unit": unit}


def products(size):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    small = 12
    for rows in (small, 2 * small):
        part = a[:rows, :small], b[:small, :rows]
        expected = emulated(*part)
        assert np.array_equal(numpy_loop(*part), expected)
        assert np.array_equal(python_loop(*part), expected)
    macs = size**3
    # In turns, so that a slow moment of the machine meets both.
    ours = plain = compensated = float("inf")
    for _ in range(10):
        ours = min(ours, best(lambda: emulated(a, b), 3))
        plain = min(plain, best(lambda: a @ b, 10))
        compensated = min(compensated, best(lambda: emulated(a, b, kahan=True), 1))
    looped = best(lambda: numpy_loop(a, b), 3)
    part = a[:small, :small], b[:small, :small]
    by_value = best(lambda: python_loop(*part), 3) / small**3 * macs
    unit = "multiplication and addition"
    return [
        row(f"narrowcast.gemm, {PRODUCT} products, {SUM} sums", ours, macs, ours, unit),
        row("the same with Kahan's compensation", compensated, macs, ours, unit),
        row("float32 by numpy (its BLAS)", plain, macs, ours, unit),
        row("the same arithmetic in numpy, term by term", looped, macs, ours, unit),
        row("the same arithmetic in numpy, value by value", by_value, macs, ours, unit),
    ]


def casts(count):
    rng = np.random.default_rng(2)
    x = rng.standard_normal(count).astype(np.float32)
    exp, man = PRODUCT
    assert np.array_equal(cpd.float_quantize(x, exp, man), numpy_rounded(x, exp, man))
    into = np.empty_like(x)
    nearest = best(lambda: cpd.float_quantize(x, exp, man), 60)
    stochastic = best(lambda: cpd.float_quantize(x, exp, man, rounding="stochastic"), 30)
    rows = [
        ("memcpy", best(lambda: np.copyto(into, x), 60), nearest),
        (f"cpd.float_quantize {PRODUCT}", nearest, nearest),
        (f"cpd.float_quantize {PRODUCT}, stochastic", stochastic, nearest),
        (f"{PRODUCT} in numpy", best(lambda: numpy_rounded(x, exp, man), 10), nearest),
    ]
    try:
        import torch
        from qtorch.quant import float_quantize
    except Exception as error:  # it compiles: anything may go wrong
        print(f"no qtorch: {error}", file=sys.stderr)
    else:
        torch.set_num_threads(1)
        t = torch.from_numpy(x)
        for rounding, ours in (("nearest", nearest), ("stochastic", stochastic)):
            theirs = best(lambda r=rounding: float_quantize(t, exp, man, r), 10)
            rows.append((f"qtorch float_quantize {PRODUCT}, {rounding}", theirs, ours))
    return [row(what, seconds, count, ours, "value") for what, seconds, ours in rows]


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--json", help="writes the figures there, too")
    words.add_argument("--size", type=int, default=512, help="rows and columns of the matrices")
    words.add_argument("--count", type=int, default=1 << 20, help="values to cast")
    asked = words.parse_args()
    found = {"size": asked.size, "count": asked.count}
    tables = {"products": products(asked.size), "casts": casts(asked.count)}
    for name, rows in tables.items():
        print(f"\n| {name} | ns a {rows[0]['unit']} | times ours |\n|---|---:|---:|")
        for each in rows:
            print(f"| {each['what']} | {each['ns']:.3g} | {each['times_ours']:.3g} |")
    if asked.json:
        write(asked.json, {**found, **tables})


if __name__ == "__main__":
    main()
