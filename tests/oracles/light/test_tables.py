"""The four data types of Dettmers (ICLR 2016), recomputed with exact fractions."""

from fractions import Fraction as F

import numpy as np
import pytest

from narrowcast_cli import Frame


def dynamic(pattern):
    """n zeros, a one, and a tree over the rest whose root splits at 0.45."""
    if pattern < 2:
        return F(pattern)
    n = 7 - pattern.bit_length()
    half = 2 ** (5 - n)
    upper, k = divmod(pattern - 2 * half, half)
    middle = F(2 * k + 1, 2 * half)
    start, width = (F(45, 100), F(55, 100)) if upper else (F(10, 100), F(35, 100))
    return F(1, 10**n) * (start + width * middle)


def linear(pattern):
    return F(pattern, 127)


def static(pattern):
    upper, k = divmod(pattern % 16, 8)
    within = F(45, 100) + F(675, 10000) * k if upper else F(1, 10) + F(4375, 100000) * k
    return F(10) ** (pattern // 16 - 5) * within if pattern else F(0)


def mantissa(pattern):
    return pattern % 16 * F(10) ** (pattern // 16 - 6)


# Magnitudes by the seven bits after the sign.
PATTERNS = {
    name: [magnitude(pattern) for pattern in range(128)]
    for name, magnitude in [
        ("dynamic8", dynamic),
        ("linear8", linear),
        ("static8", static),
        ("mantissa8", mantissa),
    ]
}
TABLES = {name: sorted(set(magnitudes)) for name, magnitudes in PATTERNS.items()}
RELATIVE = ("dynamic8", "linear8")  # to the block's maximum
# linear8's step is itself a rounded float, and so its products may differ in the last place.
ALLOWED_ULPS = {"dynamic8": 0, "linear8": 1, "static8": 0, "mantissa8": 0}
COUNTS = {"dynamic8": 128, "linear8": 128, "static8": 128, "mantissa8": 114}


def float32(fractions):
    """Correctly rounded, which a detour over float64 is not always."""
    nearest = []
    for value in fractions:
        guess = np.float32(float(value))
        infinity = np.float32(np.inf)
        near = [np.nextafter(guess, -infinity), guess, np.nextafter(guess, infinity)]
        nearest.append(min(near, key=lambda x: abs(F(float(x)) - value)))
    return np.array(nearest, np.float32)


def ulps(a, b):
    return np.abs(a.view(np.int32).astype(np.int64) - b.view(np.int32).astype(np.int64))


@pytest.mark.parametrize("name", TABLES)
def test_the_published_counts_of_values_hold(name):
    assert len(TABLES[name]) == COUNTS[name]


@pytest.mark.parametrize("name", TABLES)
def test_every_code_decodes_to_its_magnitude(program, name):
    """In a frame made by hand, with 1 for the maximum of its block."""
    expected = float32(PATTERNS[name])
    expected = np.concatenate([expected, -expected])
    if name not in RELATIVE:
        expected[0x80] = np.nan  # minus zero stands for what is not finite
    payload = (np.float32(1).tobytes() if name in RELATIVE else b"") + bytes(range(256))
    decoded = program.decode(Frame(program.canonical(name), 256, payload))
    assert np.array_equal(np.isnan(decoded), np.isnan(expected))
    numbers = ~np.isnan(expected)
    assert ulps(decoded[numbers], expected[numbers]).max() <= ALLOWED_ULPS[name]


@pytest.mark.parametrize("name", TABLES)
def test_every_value_of_the_type_comes_back_as_itself(program, name):
    table = float32(TABLES[name])
    inputs = np.concatenate([table, -table[1:]])
    if name in RELATIVE:
        inputs = np.append(inputs, np.float32(1))
    decoded = program.round_trip(name, inputs)
    assert ulps(np.abs(decoded), np.abs(inputs)).max() <= ALLOWED_ULPS[name]
    assert len(np.unique(decoded)) == 2 * len(table) - 1
    assert np.array_equal(np.sign(decoded), np.sign(inputs))


@pytest.mark.parametrize("name", TABLES)
def test_what_lies_beside_a_midpoint_goes_to_the_nearer_value(program, name):
    table = TABLES[name]
    inputs, expected = [], []
    for lower, upper in zip(table, table[1:]):
        middle, reach = (lower + upper) / 2, (upper - lower) / 1000
        inputs += [middle - reach, middle + reach]
        expected += [lower, upper]
    x, y = float32(inputs), float32(expected)
    x, y = np.concatenate([x, -x]), np.concatenate([y, -y])
    if name in RELATIVE:
        x, y = np.append(x, np.float32(1)), np.append(y, np.float32(1))
    decoded = program.round_trip(name, x)
    assert ulps(np.abs(decoded), np.abs(y)).max() <= ALLOWED_ULPS[name]


@pytest.mark.parametrize("name", ["dynamic8", "linear8"])
def test_values_are_relative_to_the_maximum_of_each_block(program, name):
    rng = np.random.default_rng(3)
    blocks = rng.standard_normal((7, 4096)).astype(np.float32) * np.float32(10) ** np.arange(
        -3, 4, dtype=np.float32)[:, None]
    inputs = blocks.reshape(-1)[:-1000]  # the last block is short
    decoded = program.round_trip(f"{name}:block=4096", inputs).astype(np.float64)
    scale = np.array([np.abs(inputs[i : i + 4096]).max() for i in range(0, len(inputs), 4096)])
    scale = scale.repeat(4096)[: len(inputs)].astype(np.float64)
    table = np.array([float(v) for v in TABLES[name]])
    ratio = np.abs(decoded) / scale
    nearest = table[np.abs(ratio[:, None] - table).argmin(axis=1)]
    assert np.allclose(ratio, nearest, rtol=4 * 2.0**-24, atol=0)
    error = np.abs(decoded - inputs)
    best = np.abs(np.abs(inputs.astype(np.float64)) / scale - nearest) * scale
    assert np.all(error <= best + 2.0**-22 * scale)


WORKED = [
    ("dynamic8", 0.2345678, 0.236719),
    ("static8", 0.2345678, 0.23125),
    ("mantissa8", 0.2345678, 0.2),
    ("dynamic8", 0.0000234, 0.000019),
]


@pytest.mark.parametrize("name,value,printed", WORKED)
def test_the_worked_examples_of_the_paper(program, name, value, printed):
    decoded = program.round_trip(name, np.array([value, 1.0], np.float32))[0]
    digits = len(f"{printed:.10f}".rstrip("0").split(".")[1])
    assert round(float(decoded), digits) == printed


@pytest.mark.parametrize("name", ["static8", "mantissa8"])
@pytest.mark.parametrize("offset", [-3, 2, 4])
def test_the_offset_moves_the_decimal_exponent(program, name, offset):
    inputs = float32([v * F(10) ** offset for v in TABLES[name]])
    decoded = program.round_trip(f"{name}:offset={offset}", inputs)
    assert ulps(decoded, inputs).max() <= 1
