"""Emulated products beside apytypes and gfloat: every operation rounded once, by someone else."""

import itertools

import numpy as np
import pytest
from apytypes import APyFloatAccumulatorContext, APyFloatArray, QuantizationMode
from gfloat import Domain, FormatInfo, RoundMode, round_ndarray

import narrowcast
from narrowcast import cpd

# With twice the bits of a format and two more, rounding to float32 first changes nothing.
NARROW = [(5, 2), (4, 3), (3, 2), (5, 10), (8, 7), (6, 9), (8, 10)]
PAIRS = [((5, 2), (8, 7)), ((4, 3), (5, 10)), ((4, 3), (8, 10)), ((5, 2), (6, 9)), ((3, 2), (3, 2))]


def matrices(e, m, rows=6, terms=40, columns=10, scale=1.0):
    rng = np.random.default_rng(100 * e + m)
    shapes = (rows, terms), (terms, columns)
    return [
        cpd.float_quantize((scale * rng.standard_normal(s)).astype(np.float32), e, m)
        for s in shapes
    ]


def same(actual, expected):
    return np.array_equal(
        np.asarray(actual, np.float32), np.asarray(expected, np.float32), equal_nan=True
    )


def apy(values, e, m):
    return APyFloatArray.from_float(values.astype(np.float64), exp_bits=e, man_bits=m)


def outer(a, b, k, e, m):
    """Products of column k and row k, in the format of the factors."""
    left = np.repeat(a[:, k : k + 1], b.shape[1], axis=1)
    right = np.repeat(b[k : k + 1, :], a.shape[0], axis=0)
    return apy(left, e, m) * apy(right, e, m)


def apytypes_gemm(a, b, product, accumulate, kahan):
    width = {"exp_bits": accumulate[0], "man_bits": accumulate[1]}
    zero = apy(np.zeros((a.shape[0], b.shape[1])), *accumulate)
    total, rest = zero, zero
    for k in range(a.shape[1]):
        term = outer(a, b, k, *product)
        if not kahan:
            total = total + term.cast(**width)
            continue
        addend = term.cast(**width) - rest
        following = total + addend
        rest = (following - total) - addend
        total = following
    return total.to_numpy()


@pytest.mark.parametrize("kahan", [False, True])
@pytest.mark.parametrize("product,accumulate", PAIRS, ids=str)
def test_products_and_sums_are_those_of_apytypes(product, accumulate, kahan):
    for scale in (0.5, 0.02):
        a, b = matrices(*product, scale=scale)
        ours = narrowcast.gemm(
            a, b, cpd.float_spec(*product), cpd.float_spec(*accumulate), kahan=kahan
        )
        theirs = apytypes_gemm(a, b, product, accumulate, kahan)
        assert np.all(np.isfinite(theirs))
        assert same(ours, theirs)


@pytest.mark.parametrize("e,m", NARROW)
def test_one_format_for_all_is_the_matrix_product_of_apytypes(e, m):
    a, b = matrices(e, m)
    mode = QuantizationMode.TIES_EVEN
    with APyFloatAccumulatorContext(exp_bits=e, man_bits=m, quantization=mode):
        theirs = (apy(a, e, m) @ apy(b, e, m)).to_numpy()
    assert same(cpd.quant_gemm(a, b, m, e, use_kahan=False), theirs)


def gfloat_rounded(values, e, m, saturate):
    form = FormatInfo(
        "oracle",
        1 + e + m,
        m + 1,
        bias=2 ** (e - 1) - 1,
        is_signed=True,
        domain=Domain.Extended,
        has_nz=True,
        num_high_nans=2**m - 1,
        has_subnormals=True,
        is_twos_complement=False,
    )
    return round_ndarray(form, values, RoundMode.TiesToEven, saturate)


# Sums of float64 are exact here: both addends have few bits, and lie within some binades.
def gfloat_gemm(a, b, product, accumulate, saturate):
    total = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        exact = a[:, k : k + 1].astype(np.float64) * b[k : k + 1, :].astype(np.float64)
        term = gfloat_rounded(exact, *product, saturate)
        total = gfloat_rounded(total + term, *accumulate, saturate)
    return total


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("product,accumulate", PAIRS, ids=str)
def test_overflow_is_that_of_gfloat(product, accumulate, saturate):
    a, b = matrices(*product, scale=3.0)
    a[0] *= 64
    overflow = "saturate" if saturate else "inf"
    specs = [cpd.float_spec(*f, overflow=overflow) for f in (product, accumulate)]
    with np.errstate(all="ignore"):
        theirs = gfloat_gemm(a, b, product, accumulate, saturate)
    assert same(narrowcast.gemm(a, b, *specs), theirs)


@pytest.mark.parametrize("e,m", list(itertools.product(range(2, 8), (1, 2, 3, 7, 10, 15))))
def test_casts_are_those_of_gfloat(e, m):
    rng = np.random.default_rng(e * 31 + m)
    bits = rng.integers(0, 2**32, 4000, dtype=np.uint32).view(np.float32)
    near = np.exp2(rng.uniform(-(2 ** (e - 1)) - m, 2 ** (e - 1) + 1, 4000)).astype(np.float32)
    x = np.concatenate([bits[np.isfinite(bits)], near, -near])
    with np.errstate(all="ignore"):
        expected = gfloat_rounded(x.astype(np.float64), e, m, False)
    before = x.copy()
    assert same(cpd.float_quantize(x, e, m), expected)
    assert np.array_equal(x, before)
