"""qsgd, tern and natural: what their papers prove, by statistics over many throws of the dice."""

import numpy as np
import pytest

SEEDS = 8
COPIES = 100  # of a vector in one tensor: dice are thrown by index, so each copy is a sample
SAMPLES = SEEDS * COPIES
LENGTH = 1024  # whole buckets of every size


def vectors():
    rng = np.random.default_rng(5)
    spiked = rng.standard_normal(LENGTH) * 0.01
    spiked[13] = 3
    return {
        "normal": rng.standard_normal(LENGTH).astype(np.float32),
        "spiked": spiked.astype(np.float32),
        "sparse": (rng.standard_normal(LENGTH) * (rng.random(LENGTH) < 0.1)).astype(np.float32),
    }


VECTORS = vectors()


def many(program, spec, x):
    tiled = np.tile(x, COPIES)
    runs = [program.round_trip(spec, tiled, seed) for seed in range(SEEDS)]
    return np.concatenate(runs).reshape(SAMPLES, LENGTH).astype(np.float64)


def assert_unbiased(samples, x, gap):
    """`gap`: the distance between the two outcomes of each value; its dice resolve 2^-16 of it."""
    sigma = samples.std(axis=0, ddof=1) / np.sqrt(SAMPLES)
    error = samples.mean(axis=0) - x
    resolution = gap * 2.0**-16
    # An outcome rarer than once in SAMPLES may not have come, and tells nothing of its deviation.
    unseen = 12 * gap / SAMPLES
    assert np.all(np.abs(error) <= 5 * sigma + unseen + resolution)
    # All values together: far more sensitive to a common drift than any of them alone.
    assert abs(error.sum()) <= 5 * np.sqrt((sigma**2).sum()) + resolution.sum()


def bucket_norms(x, bucket, norm):
    pieces = [x[i : i + bucket].astype(np.float64) for i in range(0, len(x), bucket)]
    size = np.linalg.norm if norm == "l2" else lambda p: np.abs(p).max()
    return np.concatenate([np.full(len(p), size(p)) for p in pieces])


@pytest.mark.parametrize("norm", ["max", "l2"])
@pytest.mark.parametrize("bits,bucket", [(2, 128), (4, 512), (8, 512)])
@pytest.mark.parametrize("kind", VECTORS)
def test_qsgd_is_unbiased_and_keeps_its_variance_bound(program, kind, bits, bucket, norm):
    x = VECTORS[kind]
    spec = f"qsgd:bits={bits},bucket={bucket},norm={norm}"
    samples = many(program, spec, x)
    levels = 2 ** (bits - 1) - 1
    step = bucket_norms(x, bucket, norm) / levels
    assert_unbiased(samples, x, step)
    # Each value is one of the two levels beside it.
    assert np.all(np.abs(samples - x) <= step * (1 + 1e-6))
    if norm == "l2":
        for start in range(0, len(x), bucket):
            piece = x[start : start + bucket].astype(np.float64)
            squared = ((samples[:, start : start + bucket] - piece) ** 2).sum(axis=1)
            n = len(piece)
            bound = min(n / levels**2, np.sqrt(n) / levels) * (piece**2).sum()
            error = squared.std(ddof=1) / np.sqrt(SAMPLES)
            assert squared.mean() <= bound + 5 * error


@pytest.mark.parametrize("kind", VECTORS)
def test_elias_coding_carries_the_same_values(program, kind):
    x = VECTORS[kind]
    for bits in (2, 4, 8):
        fixed = program.round_trip(f"qsgd:bits={bits},coding=fixed", x, seed=3)
        elias = program.round_trip(f"qsgd:bits={bits},coding=elias", x, seed=3)
        assert np.array_equal(fixed, elias)


@pytest.mark.parametrize("kind", VECTORS)
def test_natural_compression_is_unbiased_with_an_eighth_of_the_square_as_variance(program, kind):
    x = VECTORS[kind].astype(np.float64)
    samples = many(program, "natural", VECTORS[kind])
    assert_unbiased(samples, x, np.abs(x))
    exponents = np.log2(np.abs(samples[samples != 0]))
    assert np.array_equal(exponents, np.round(exponents))
    squares = (samples - x) ** 2
    error = squares.sum(axis=1).std(ddof=1) / np.sqrt(SAMPLES)
    assert squares.sum(axis=1).mean() <= (x**2).sum() / 8 + 5 * error


@pytest.mark.parametrize("kind", VECTORS)
def test_ternary_values_are_unbiased_when_nothing_is_clipped(program, kind):
    x = VECTORS[kind]
    spec = "tern:clip=0"
    samples = many(program, spec, x)
    block = int(program.canonical(spec).split("block=")[1].split(",")[0])
    scale = bucket_norms(x, min(block, LENGTH), "max")
    assert_unbiased(samples, x, scale)
    # Nothing but zero and the maximum of the block, with the sign of the value.
    assert np.all((samples == 0) | (np.abs(samples) == scale))
    assert np.all((samples == 0) | (np.sign(samples) == np.sign(x)))


@pytest.mark.parametrize("bits,bucket", [(2, 128), (4, 512), (8, 512), (16, 8192)])
def test_qsgd_costs_what_the_paper_says(program, bits, bucket):
    values = 64 * bucket
    frame = program.encode(f"qsgd:bits={bits}", np.ones(values, np.float32))
    assert 8 * len(frame.payload) / values == bits + 32 / bucket
