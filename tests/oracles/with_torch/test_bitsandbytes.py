"""bnb8 against the package it is named after: equal scales, equal codes, equal decoded values."""

import numpy as np
import pytest
import torch
from bitsandbytes import functional

import points

BLOCKS = (4096, 256, 64)


def theirs(values, block):
    codes, state = functional.quantize_blockwise(torch.from_numpy(values.copy()), blocksize=block)
    decoded = functional.dequantize_blockwise(codes, state)
    return codes.numpy(), state.absmax.numpy(), decoded.numpy()


def ours(program, values, block):
    """Codes and scales from the payload: for each block its scale and then its codes."""
    frame = program.encode(f"bnb8:block={block}", values)
    codes, scales, at = [], [], 0
    for start in range(0, len(values), block):
        count = min(block, len(values) - start)
        scales.append(np.frombuffer(frame.payload, "<f4", 1, at))
        codes.append(np.frombuffer(frame.payload, np.uint8, count, at + 4))
        at += 4 + count
    assert at == len(frame.payload)
    return np.concatenate(codes), np.concatenate(scales), program.decode(frame)


def check(program, values, block):
    values = np.ascontiguousarray(values, np.float32)
    our_codes, our_scales, our_decoded = ours(program, values, block)
    codes, scales, decoded = theirs(values, block)
    assert np.array_equal(our_scales.view(np.uint32), scales.view(np.uint32))
    bad = np.flatnonzero(our_codes != codes)
    shown = [(float(values[i]), int(our_codes[i]), int(codes[i])) for i in bad[:5]]
    assert len(bad) == 0, f"block {block}: {len(bad)} codes differ, (input, ours, theirs): {shown}"
    points.assert_same(our_decoded, decoded, values, f"block {block}")


def samples(kind, count):
    rng = np.random.default_rng(count)
    normal = rng.standard_normal(count)
    values = {
        "normal": normal,
        "uniform": rng.random(count),
        "tiny laplace": rng.laplace(size=count) * 1e-4,
        "many decades": normal * np.exp(4 * rng.standard_normal(count)),
        "sparse": normal * (rng.random(count) < 0.05),
        "subnormal": normal * 1e-38,
        "deeply subnormal": normal * 1e-42,
        "huge": np.clip(normal, -3, 3) * 1e38,
        "zero": normal * 0,
    }
    return values[kind].astype(np.float32)


KINDS = ["normal", "uniform", "tiny laplace", "many decades", "sparse", "subnormal",
         "deeply subnormal", "huge", "zero"]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("kind", KINDS)
def test_random_blocks_and_ragged_tails(program, kind, block):
    for count in (1, 7, block - 1, block, block + 1, 3 * block + 17, 100_000):
        check(program, samples(kind, count), block)


def borders():
    """Around every code, every midpoint, and every step of a table of 65536 entries."""
    code = functional.create_dynamic_map().numpy().astype(np.float64)
    steps = np.arange(65536)
    edges = np.concatenate([code, (code[:-1] + code[1:]) / 2, steps * 2 / 65535 - 1,
                            (steps + 0.5) * 2 / 65535 - 1])
    edges = points.both_signs(points.neighbourhood(edges))
    return edges[np.abs(edges) <= 1]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("scale", [1.0, 3.0, 0.1, 3e38, 4e-38, 7e-39, 1e-39])
def test_values_around_every_border(program, scale, block):
    edges = borders()
    edges = edges[: len(edges) // (block - 1) * (block - 1)].reshape(-1, block - 1)
    blocks = np.insert(edges, 0, 1, axis=1)  # led by the maximum
    check(program, (blocks * np.float32(scale)).reshape(-1), block)


def test_infinity_makes_the_block_infinite_as_it_does_there(program):
    values = samples("normal", 256)
    values[70] = np.inf
    values[200] = -np.inf
    _, _, decoded = theirs(values, 64)
    assert np.array_equal(np.isfinite(program.round_trip("bnb8:block=64", values)),
                          np.isfinite(decoded))


def test_nan_stays_visible_though_it_does_not_there(program):
    values = samples("normal", 128)
    values[3] = np.nan
    assert np.isfinite(theirs(values, 64)[2]).all()
    decoded = program.round_trip("bnb8:block=64", values)
    assert np.isnan(decoded[3]) and np.isfinite(decoded[64:]).all()
