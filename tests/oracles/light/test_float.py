"""`float` in every format of up to eight bits, and wider ones at random points."""

import itertools

import numpy as np
import pytest
from gfloat import Domain, FormatInfo, RoundMode, round_ndarray

import points
from narrowcast_cli import USAGE, Frame, Refused
from reference import FloatFormat, rounded

KINDS = ("ieee", "fn", "finite")
ROUNDINGS = ("nearest", "zero")
NARROW = [(e, m) for e in range(1, 8) for m in range(0, 8 - e)] + [(8, 0), (8, 1)]
WIDE = [(8, 3), (5, 10), (8, 7), (6, 9), (7, 12), (4, 11), (2, 20), (8, 15), (8, 23), (1, 23)]
SAMPLE = [(3, 2), (2, 1), (5, 2), (3, 0), (4, 3), (5, 10), (8, 7)]
SPECIALS = np.array([np.nan, np.inf, -np.inf], np.float32)


def formats(pairs):
    return [FloatFormat(e, m, kind) for (e, m), kind in itertools.product(pairs, KINDS)]


def gfloat_format(form):
    nans = {"ieee": 2**form.m - 1, "fn": 1, "finite": 0}[form.kind]
    return FormatInfo(
        f"{form.kind}{form.e}{form.m}",
        form.width,
        form.m + 1,
        bias=form.bias,
        is_signed=True,
        domain=Domain.Extended if form.kind == "ieee" else Domain.Finite,
        has_nz=True,
        num_high_nans=nans,
        has_subnormals=True,
        is_twos_complement=False,
    )


# gfloat takes the highest finite exponent for a normal one, which is wrong where all are subnormal.
def gfloat_knows(form):
    return form.finite_codes() > 2**form.m


def gfloat_rounded(form, inputs, rounding, overflow):
    mode = RoundMode.TiesToEven if rounding == "nearest" else RoundMode.TowardZero
    saturates = overflow == "saturate" or form.kind == "finite"
    with np.errstate(all="ignore"):
        result = round_ndarray(gfloat_format(form), inputs.astype(np.float64), mode, saturates)
    # It goes on to 2^128 where that is a value of the format, though not of float32.
    past = np.abs(result) > points.F32_MAX
    past &= np.isfinite(result) if form.kind != "ieee" else False
    return np.where(past, np.copysign(form.beyond(overflow), result), result).astype(np.float32)


def check(program, form, inputs, rounding, overflow):
    spec = form.spec(rounding, overflow)
    decoded = program.round_trip(spec, inputs)
    points.assert_same(decoded, rounded(form, inputs, rounding, overflow), inputs, spec)
    numbers = ~np.isnan(inputs)
    if gfloat_knows(form):
        expected = gfloat_rounded(form, inputs[numbers], rounding, overflow)
        points.assert_same(decoded[numbers], expected, inputs[numbers], f"{spec} (gfloat)")


@pytest.mark.parametrize("form", formats(NARROW), ids=str)
def test_values_midpoints_and_their_neighbours_round_as_defined(program, form):
    magnitudes, following = form.magnitudes()
    inputs = points.around(np.append(magnitudes, following))
    inputs = np.concatenate([inputs, SPECIALS[1:] if form.kind == "finite" else SPECIALS])
    for rounding, overflow in itertools.product(ROUNDINGS, form.overflows()):
        check(program, form, inputs, rounding, overflow)


@pytest.mark.parametrize("form", formats(WIDE), ids=str)
def test_wide_formats_round_random_points_as_defined(program, form):
    rng = np.random.default_rng(form.e * 100 + form.m)
    inputs = rng.integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32)
    scales = np.exp2(rng.integers(-form.bias - 3, form.bias + 3, 20_000).astype(np.float64))
    near = np.clip(rng.standard_normal(20_000) * scales, -points.F32_MAX, points.F32_MAX)
    # Few bits set, so that many of them are exact or ties.
    bits = rng.integers(0, 2**32, 20_000, dtype=np.uint32) & np.uint32(
        (0xFFFFFFFF << max(0, 22 - form.m)) & 0xFFFFFFFF
    )
    inputs = np.concatenate([inputs, near.astype(np.float32), bits.view(np.float32)])
    inputs = inputs[~np.isnan(inputs)]
    for rounding, overflow in itertools.product(ROUNDINGS, form.overflows()):
        spec = form.spec(rounding, overflow)
        decoded = program.round_trip(spec, inputs)
        if gfloat_knows(form):
            expected = gfloat_rounded(form, inputs, rounding, overflow)
            points.assert_same(decoded, expected, inputs, f"{spec} (gfloat)")
        else:
            expected = rounded(form, inputs, rounding, overflow)
            points.assert_same(decoded, expected, inputs, spec)


@pytest.mark.parametrize("form", formats([f for f in NARROW if f[0] < 8]), ids=str)
def test_every_code_decodes_to_its_value_and_takes_its_width(program, form):
    # Codes are packed, lowest bits first.
    codes = np.arange(2**form.width)
    bits = (codes[:, None] >> np.arange(form.width)) & 1
    payload = np.packbits(bits.reshape(-1).astype(np.uint8), bitorder="little").tobytes()
    spec = program.canonical(form.spec("nearest", form.overflows()[0]))
    decoded = program.decode(Frame(spec, len(codes), payload))
    magnitudes, _ = form.magnitudes()
    beyond = {"ieee": [np.inf] + [np.nan] * (2**form.m - 1), "fn": [np.nan], "finite": []}
    side = np.concatenate([magnitudes, beyond[form.kind]])
    points.assert_same(decoded, np.concatenate([side, -side]), codes, spec)


@pytest.mark.parametrize("form", formats([(3, 2), (2, 1), (5, 2), (3, 0), (5, 10)]), ids=str)
def test_finite_formats_refuse_nan_and_write_nothing(program, form):
    inputs = np.array([1, np.nan, 2], np.float32)
    spec = form.spec("nearest", "saturate")
    if form.kind != "finite":
        assert not np.isfinite(program.round_trip(spec, inputs)[1])
        return
    with pytest.raises(Refused) as refused:
        program.encode(spec, inputs)
    assert (refused.value.code, refused.value.written) == (USAGE, b"")


@pytest.mark.parametrize("form", formats(SAMPLE), ids=str)
def test_stochastic_rounding_hits_the_two_neighbours_with_the_right_odds(program, form):
    magnitudes, _ = form.magnitudes()
    rng = np.random.default_rng(7)
    ranks = rng.integers(0, len(magnitudes) - 1, 60)
    below, above = magnitudes[ranks], magnitudes[ranks + 1]
    fraction = rng.random(60)
    fraction[:6] = [0, 0.5, 2**-10, 1 - 2**-10, 0.25, 0.999]
    value = (below + fraction * (above - below)).astype(np.float32)
    fraction = (value.astype(np.float64) - below) / (above - below)
    copies = 4000
    inputs = np.repeat(np.concatenate([value, -value]), copies)
    decoded = program.round_trip(form.spec("stochastic", "saturate"), inputs, seed=11)
    decoded = np.abs(decoded).astype(np.float64).reshape(2, 60, copies)
    assert np.all((decoded == below[:, None]) | (decoded == above[:, None]))
    odds = (decoded == above[:, None]).mean(axis=(0, 2))
    sigma = np.sqrt(fraction * (1 - fraction) / (2 * copies))
    assert np.all(np.abs(odds - fraction) <= 5 * sigma + 2.0**-16)
