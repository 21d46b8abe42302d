import sys

import ml_dtypes
import numpy as np
import pytest

import narrowcast
from narrowcast import UsageError, cpd


def normal(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def loop(a, b, product, accumulate, kahan=False, bias=None):
    """The definition, for whole matrices term by term; a bias is the last one."""

    def near(x, spec):
        return narrowcast.quantize(x, spec)

    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    rest = np.zeros_like(total)
    terms = [near(a[:, k : k + 1] * b[k : k + 1, :], product) for k in range(a.shape[1])]
    for term in terms if bias is None else [*terms, bias]:
        if not kahan:
            total = near(total + term, accumulate)
            continue
        addend = near(term - rest, accumulate)
        following = near(total + addend, accumulate)
        rest = near(near(following - total, accumulate) - addend, accumulate)
        total = following
    return total


@pytest.mark.parametrize("kahan", [False, True])
@pytest.mark.parametrize("accumulate", ["bf16", "float:e=5,m=2", "fp16", "e4m3:overflow=saturate"])
def test_gemm_is_the_loop_that_defines_it(accumulate, kahan):
    a, b = normal(13, 70), normal(70, 21, seed=2)
    expected = loop(a, b, "float:e=5,m=2", accumulate, kahan)
    for threads in (1, 2, 3):
        c = narrowcast.gemm(a, b, "float:e=5,m=2", accumulate, kahan=kahan, threads=threads)
        assert np.array_equal(c, expected)


@pytest.mark.parametrize("kahan", [False, True])
@pytest.mark.parametrize("accumulate", ["bf16", "float:e=5,m=2", "fp32"])
def test_gemm_adds_a_bias_as_its_last_term(accumulate, kahan):
    a, b, bias = normal(13, 70), normal(70, 21, seed=2), normal(21, seed=3)
    expected = loop(a, b, "float:e=5,m=2", accumulate, kahan, bias)
    ours = narrowcast.gemm(a, b, "float:e=5,m=2", accumulate, kahan=kahan, bias=bias)
    assert np.array_equal(ours, expected)
    assert not np.array_equal(ours, narrowcast.gemm(a, b, "float:e=5,m=2", accumulate, kahan=kahan))


def test_gemm_in_fp32_is_a_sum_in_ascending_order():
    a, b = normal(5, 30), normal(30, 4)
    assert np.array_equal(narrowcast.gemm(a, b), loop(a, b, "fp32", "fp32"))
    assert np.allclose(narrowcast.gemm(a, b), a @ b, rtol=1e-5, atol=1e-5)


def test_gemm_takes_views_and_other_dtypes():
    a, b = normal(40, 6), normal(9, 40)
    straight = narrowcast.gemm(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), "bf16", "bf16")
    assert np.array_equal(narrowcast.gemm(a.T, b.T, "bf16", "bf16"), straight)
    for dtype in (np.float64, np.float16, ml_dtypes.bfloat16):
        c = narrowcast.gemm(a.T.astype(dtype), b.T.astype(dtype), "bf16", "bf16")
        assert c.dtype == dtype


def test_stochastic_gemm_follows_its_dice():
    a, b = normal(9, 600), normal(600, 11)
    spec = "float:e=5,m=2,rounding=stochastic"

    def run(threads, *dice):
        return narrowcast.gemm(a, b, spec, spec, dice=narrowcast.Dice(*dice), threads=threads)

    assert np.array_equal(run(1, 1, 2, 3), run(2, 1, 2, 3))
    for other in ((2, 2, 3), (1, 3, 3), (1, 2, 4)):
        assert not np.array_equal(run(1, 1, 2, 3), run(1, *other))


def test_wrong_arguments_are_refused_with_what_would_be_right():
    a = normal(2, 3)
    for words, call in {
        "2 x 3 and 2 x 3 matrices have no product": lambda: narrowcast.gemm(a, a),
        r"two matrices, not shapes \(3,\)": lambda: narrowcast.gemm(a[0], a),
        "value by value": lambda: narrowcast.gemm(a, a.T, "mxfp8"),
        "no codec": lambda: narrowcast.gemm(a, a.T, "fp33"),
        "threads is 0; give 1 to 1024": lambda: narrowcast.gemm(a, a.T, threads=0),
        "threads is 1000000; give 1 to 1024": lambda: narrowcast.gemm(a, a.T, threads=10**6),
        "ring and hierarchy": lambda: narrowcast.sum_nodes([a], "bf16", order="star"),
        r"bias has shape \(3,\); 2 columns need \(2,\)": lambda: narrowcast.gemm(a, a.T, bias=a[0]),
        "group is 2147483648; a group": lambda: narrowcast.sum_nodes([a], "bf16", group=2**31),
        "group is -1; a group has 1 to": lambda: narrowcast.sum_nodes([a], "bf16", group=-1),
        "one node at least": lambda: narrowcast.sum_nodes([], "bf16"),
        "has shape": lambda: narrowcast.sum_nodes([a, a.T], "bf16"),
        "is no seed": lambda: cpd.cast(a, "bf16", cpd.Dice(-1)),
    }.items():
        with pytest.raises(UsageError, match=words):
            call()
    with pytest.raises(TypeError, match="dtype int64"):
        cpd.float_quantize(np.arange(3), 5, 2)


def test_float_quantize_has_the_formats_of_others():
    x = np.concatenate([normal(2000), normal(2000) * 300])
    for theirs, (exp, man, kind) in {
        ml_dtypes.float8_e5m2: (5, 2, "ieee"),
        ml_dtypes.float8_e4m3: (4, 3, "ieee"),
        ml_dtypes.float8_e4m3fn: (4, 3, "fn"),
        ml_dtypes.bfloat16: (8, 7, "ieee"),
        np.float16: (5, 10, "ieee"),
    }.items():
        with np.errstate(over="ignore"):
            expected = x.astype(theirs).astype(np.float32)
        assert np.array_equal(cpd.float_quantize(x, exp, man, kind=kind), expected, equal_nan=True)


def test_float_quantize_repeats_none_of_the_defects():
    x = np.array([61440, -61440, 7.6293954e-06, 1e-45, 0], np.float32)
    kept = x.copy()
    assert cpd.float_quantize(x, 5, 2).tolist() == [np.inf, -np.inf, 2.0**-16, 0, 0]
    assert cpd.float_quantize(x, 8, 23).tolist() == kept.tolist()
    assert np.array_equal(x, kept)
    assert cpd.float_quantize(x, 5, 2, overflow="saturate")[0] == 57344


def test_stochastic_casts_are_right_on_average_and_other_at_every_step():
    x = np.full(40000, 1.1, np.float32)
    first = cpd.float_quantize(x, 5, 2, rounding="stochastic", dice=cpd.Dice(1))
    assert set(np.unique(first)) == {1.0, 1.25}
    assert abs(first.mean() - 1.1) < 5 * 0.25 * np.sqrt(0.24 / x.size)
    second = cpd.float_quantize(x, 5, 2, rounding="stochastic", dice=cpd.Dice(1, 1))
    assert not np.array_equal(first, second)


def test_mx_blocks_begin_anew_in_every_row():
    x = normal(3, 70)
    x[1, 0] = 1000
    rows = [cpd.cast(row, "mxfp4") for row in x]
    assert np.array_equal(cpd.cast(x, "mxfp4"), np.stack(rows))
    whole = normal(2, 64)
    assert np.array_equal(cpd.cast(whole, "mxfp8"), narrowcast.quantize(whole, "mxfp8"))


@pytest.mark.parametrize("use_kahan", [False, True])
@pytest.mark.parametrize("use_APS", [False, True])
def test_sums_of_nodes_in_order_are_those_of_a_loop(use_APS, use_kahan):
    nodes = [normal(3, 50, seed=s) * np.float32(1e-3) for s in range(6)]
    factor = np.float32(1)
    if use_APS:
        largest = max(np.abs(n).max() for n in nodes) * len(nodes)
        factor = np.exp2(np.float32(7 - np.ceil(np.log2(largest))))
    ours = cpd.sum_nodes(nodes, use_APS, 4, 3, use_kahan)
    total = cpd.float_quantize(nodes[0] * factor, 4, 3)
    rest = np.zeros_like(total)
    for node in nodes[1:]:
        share = cpd.float_quantize(node * factor, 4, 3)
        addend = cpd.float_quantize(share - rest, 4, 3) if use_kahan else share
        following = cpd.float_quantize(total + addend, 4, 3)
        if use_kahan:
            difference = cpd.float_quantize(following - total, 4, 3)
            rest = cpd.float_quantize(difference - addend, 4, 3)
        total = following
    assert np.array_equal(ours, total / factor)


def test_a_layer_of_zeros_stays_zero_under_scaling():
    nodes = [np.zeros(10, np.float32)] * 3
    assert cpd.sum_nodes(nodes, use_APS=True, grad_exp=5, grad_man=2).tolist() == [0] * 10


def test_rings_and_groups_add_in_another_order():
    nodes = [normal(5000, seed=s) for s in range(12)]
    how = {"grad_exp": 5, "grad_man": 2}
    in_order = cpd.sum_nodes(nodes, **how)
    ring = cpd.sum_nodes(nodes, order="ring", **how)
    groups = cpd.sum_nodes(nodes, group=4, **how)
    # The ring's first shard begins at node 0.
    assert np.array_equal(ring[:256], in_order[:256])
    assert not np.array_equal(ring, in_order)
    high = np.sum(nodes, axis=0)
    assert np.abs(groups - high).mean() < np.abs(in_order - high).mean()


def test_torch_is_not_imported():
    assert "torch" not in sys.modules
    with pytest.raises(AttributeError, match="has no attribute 'quant_gemv'"):
        cpd.quant_gemv  # noqa: B018
