"""Formats that ml_dtypes or numpy implement: equal codes, and equal values of every code."""

import ml_dtypes
import numpy as np
import pytest

import points
from narrowcast_cli import Frame

SPECIALS = np.array([np.nan, np.inf, -np.inf], np.float32)

# spec, dtype, unsigned type of a code, whether values beyond the largest saturate
CASES = [
    ("e4m3:overflow=special", ml_dtypes.float8_e4m3fn, np.uint8, False),
    ("e4m3:overflow=saturate", ml_dtypes.float8_e4m3fn, np.uint8, True),
    ("e5m2:overflow=special", ml_dtypes.float8_e5m2, np.uint8, False),
    ("e5m2:overflow=saturate", ml_dtypes.float8_e5m2, np.uint8, True),
    ("float:e=4,m=3", ml_dtypes.float8_e4m3, np.uint8, False),
    ("float:e=3,m=4", ml_dtypes.float8_e3m4, np.uint8, False),
    ("float:e=5,m=2", ml_dtypes.float8_e5m2, np.uint8, False),
    ("float:e=4,m=3,kind=fn", ml_dtypes.float8_e4m3fn, np.uint8, False),
    ("fp16", np.float16, np.uint16, False),
    ("bf16", ml_dtypes.bfloat16, np.uint16, False),
]
IDS = [case[0] for case in CASES]


def all_codes(code):
    return np.arange(2 ** (8 * np.dtype(code).itemsize)).astype(code)


def largest_of(dtype):
    return np.float32(ml_dtypes.finfo(dtype).max)


def oracle(values, dtype, saturates):
    # Saturation after rounding is the same as clamping before: the largest value rounds to itself.
    if saturates:
        largest = largest_of(dtype)
        values = np.where(np.isnan(values), values, np.clip(values, -largest, largest))
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(np.float32).astype(dtype)


@pytest.mark.parametrize("spec,dtype,code,saturates", CASES, ids=IDS)
def test_every_code_decodes_to_the_oracles_value(program, spec, dtype, code, saturates):
    codes = all_codes(code)
    decoded = program.decode(Frame(program.canonical(spec), len(codes), codes.tobytes()))
    points.assert_same(decoded, codes.view(dtype).astype(np.float32), codes, spec)


@pytest.mark.parametrize("spec,dtype,code,saturates", CASES, ids=IDS)
def test_values_midpoints_and_their_neighbours_round_like_the_oracle(
    program, spec, dtype, code, saturates
):
    with np.errstate(invalid="ignore"):  # some of the codes are signalling NaNs
        values = all_codes(code).view(dtype).astype(np.float64)
    finite = np.unique(np.abs(values[np.isfinite(values)]))
    inputs = np.concatenate([points.around(finite), SPECIALS])
    expected = oracle(inputs, dtype, saturates)
    frame = program.encode(spec, inputs)
    points.assert_same(program.decode(frame), expected.astype(np.float32), inputs, spec)
    numbers = ~np.isnan(expected.astype(np.float32))
    ours, theirs = np.frombuffer(frame.payload, code), expected.view(code)
    assert np.array_equal(ours[numbers], theirs[numbers])


@pytest.mark.parametrize("spec,dtype,code,saturates", CASES, ids=IDS)
def test_random_floats_of_all_magnitudes_round_like_the_oracle(
    program, spec, dtype, code, saturates
):
    rng = np.random.default_rng(20160502)
    inputs = rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    near = rng.standard_normal(100_000) * np.exp2(rng.integers(-12, 12, 100_000))
    inputs = np.concatenate([inputs, near.astype(np.float32)])
    expected = oracle(inputs, dtype, saturates).astype(np.float32)
    points.assert_same(program.round_trip(spec, inputs), expected, inputs, spec)
