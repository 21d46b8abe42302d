"""Emulated layers and their gradients. Needs torch."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import narrowcast
import narrowcast.torch as nct
from narrowcast import UsageError, cpd

E5M2, BF16 = "float:e=5,m=2", "float:e=8,m=7"


@pytest.fixture(autouse=True)
def same_numbers_every_time():
    torch.manual_seed(5)


def near(x, spec):
    return narrowcast.quantize(x, spec)


def loop(a, b, product, accumulate):
    total = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        total = near(total + near(a[:, k : k + 1] * b[k : k + 1, :], product), accumulate)
    return total


def gradients(function, *inputs):
    """What function gives, and the gradients of all inputs for one that comes in."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    out = function(*leaves)
    generator = torch.Generator().manual_seed(3)
    out.backward(torch.randn(out.shape, generator=generator, dtype=out.dtype))
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def close(actual, expected):
    return all(torch.allclose(a, e, rtol=1e-4, atol=1e-4) for a, e in zip(actual, expected))


CONVOLUTIONS = [
    dict(zip(("stride", "padding", "dilation", "groups"), each))
    for each in itertools.product((1, 2, (2, 3)), (0, (2, 1), 5), (1, (1, 2)), (1, 2))
]


@pytest.mark.parametrize("how", CONVOLUTIONS, ids=str)
def test_a_convolution_in_fp32_has_torchs_values_and_gradients(how):
    layer = nn.Conv2d(4, 6, (3, 2), **how)
    emulated = nct.emulate(copy.deepcopy(layer))
    x = torch.randn(2, 4, 9, 8)

    def run(module):
        found = gradients(module, x)
        return [*found, module.weight.grad, module.bias.grad]

    assert close(run(emulated), run(layer))


@pytest.mark.parametrize("padding,mode", [("same", "zeros"), (1, "reflect"), ("valid", "zeros")])
def test_a_convolution_pads_as_torch_does(padding, mode):
    layer = nn.Conv2d(3, 2, 4, padding=padding, padding_mode=mode, dilation=2, bias=False)
    emulated = nct.emulate(copy.deepcopy(layer))
    x = torch.randn(1, 3, 12, 13)
    assert close(gradients(emulated, x), gradients(layer, x))
    assert close([emulated(x[0])], [layer(x[0])])


def test_a_linear_layer_in_fp32_has_torchs_values_and_gradients():
    layer = nn.Linear(7, 5)
    emulated = nct.emulate(copy.deepcopy(layer))
    for shape in ((7,), (4, 7), (2, 3, 7)):
        x = torch.randn(shape)
        assert close(gradients(emulated, x), gradients(layer, x))
    assert close([emulated.weight.grad, emulated.bias.grad], [layer.weight.grad, layer.bias.grad])


@pytest.mark.parametrize("groups", (1, 2))
@pytest.mark.parametrize("forward", ("fp32", "mxfp4"))
def test_empty_batches_have_torchs_shapes_and_gradients(forward, groups):
    convolution, x = nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=groups), torch.randn(0, 4, 8, 8)
    for layer, given in ((convolution, x), (nn.Linear(7, 5), x.new_zeros(2, 0, 7))):
        emulated = nct.emulate(copy.deepcopy(layer), forward=forward)
        ours, theirs = (gradients(module, given) for module in (emulated, layer))
        assert [each.shape for each in ours] == [each.shape for each in theirs]
        assert torch.equal(emulated.weight.grad, layer.weight.grad)
        assert torch.equal(emulated.bias.grad, layer.bias.grad)
    assert cpd.Quant_Conv(4, 6, 3)(x).shape == (0, 6, 6, 6)


def test_gradcheck_finds_the_gradients_of_wide_formats_right():
    layer = nct.emulate(nn.Conv2d(2, 2, 2, stride=2, padding=1))
    x = torch.randn(1, 2, 4, 4, dtype=torch.float64, requires_grad=True)
    # float32 inside: differences need a large step.
    torch.autograd.gradcheck(lambda v: layer(v), x, eps=1e-1, atol=1e-3, rtol=1e-3)


def test_a_linear_layer_rounds_every_product_and_sum_both_ways():
    formats = dict(forward="float:e=4,m=3", backward=E5M2, product=E5M2, accumulate=BF16)
    layer = nct.emulate(nn.Linear(9, 4), **formats)
    x, incoming = torch.randn(6, 9, requires_grad=True), torch.randn(6, 4)
    out = layer(x)
    out.backward(incoming)
    rows, kernel = near(x.detach(), "float:e=4,m=3"), near(layer.weight.detach(), "float:e=4,m=3")
    gradient = near(incoming, E5M2)
    sums = loop(rows, kernel.t(), E5M2, BF16)
    assert torch.equal(out.detach(), near(sums + layer.bias.detach(), BF16))
    assert torch.equal(x.grad, loop(gradient, kernel, E5M2, BF16))
    assert torch.equal(layer.weight.grad, loop(gradient.t(), rows, E5M2, BF16))
    assert torch.equal(layer.bias.grad, loop(torch.ones(1, 6), gradient, E5M2, BF16)[0])


def test_a_convolution_rounds_every_sum_both_ways():
    layer = cpd.Quant_Conv(2, 3, 3, stride=2, padding=1, groups=1, exp=5, man=2, use_kahan=False)
    x, incoming = torch.randn(1, 2, 7, 7, requires_grad=True), torch.randn(1, 3, 4, 4)
    out = layer(x)
    out.backward(incoming)
    columns = F.unfold(x.detach(), 3, padding=1, stride=2)[0]
    kernel = layer.weight.detach().reshape(3, -1)
    sums = loop(columns.t(), kernel.t(), E5M2, E5M2) + layer.bias.detach()
    assert torch.equal(out.detach()[0].reshape(3, -1).t(), near(sums, E5M2))
    flat = incoming[0].reshape(3, -1)
    assert torch.equal(layer.weight.grad.reshape(3, -1), loop(flat, columns.t(), E5M2, E5M2))
    assert torch.equal(x.grad[0], input_gradient(incoming[0], layer.weight.detach(), (7, 7)))


def input_gradient(incoming, weight, size):
    """One sum for every input: over output channels, then over the window from its end."""
    found = torch.zeros(weight.shape[1], *size)
    for y, x in itertools.product(*map(range, size)):
        for o, ky, kx in itertools.product(range(3), (2, 1, 0), (2, 1, 0)):
            row, odd_row = divmod(y + 1 - ky, 2)
            column, odd_column = divmod(x + 1 - kx, 2)
            if odd_row or odd_column or row not in range(4) or column not in range(4):
                continue
            product = near(incoming[o, row, column] * weight[o, :, ky, kx], E5M2)
            found[:, y, x] = near(found[:, y, x] + product, E5M2)
    return found


def test_cpds_layers_take_its_arguments_in_its_order():
    linear = cpd.Quant_Linear(8, 3, True, 5, 2)
    assert (linear.exp, linear.man, linear.bias is not None) == (5, 2, True)
    x = torch.randn(4, 8)
    expected = narrowcast.gemm(
        x, linear.weight.detach().t(), E5M2, E5M2, kahan=True, bias=linear.bias.detach()
    )
    assert torch.equal(linear(x).detach(), expected)
    conv = cpd.Quant_Conv(4, 6, 3, 2, 1, 2, 2, False, 8, 23)
    reference = nn.Conv2d(4, 6, 3, 2, 1, 2, 2, False)
    reference.weight = conv.weight
    images = torch.randn(2, 4, 9, 9)
    assert close([conv(images)], [reference(images)])


@pytest.mark.parametrize("groups", (1, 2))
def test_the_bias_is_compensated_as_all_addends_are(groups):
    """Another column of ones says the same where products are not rounded."""
    how = dict(exp=8, man=4, product="fp32")
    x, ones = torch.randn(40, 30), torch.ones(40, 1)
    layer = cpd.Quant_Conv(30, 8, 1, groups=groups, **how)
    weight, bias = layer.weight.detach()[:, :, 0, 0], layer.bias.detach()
    width = 30 // groups
    expected = []
    for g in range(groups):
        of_group = slice(g * 8 // groups, (g + 1) * 8 // groups)
        a = torch.cat([x[:, g * width : (g + 1) * width], ones], dim=1)
        b = torch.cat([weight[of_group], bias[of_group, None]], dim=1).t()
        expected.append(cpd.quant_gemm(a, b, 4, 8, product="fp32"))
    assert torch.equal(layer(x[:, :, None, None]).detach()[:, :, 0, 0], torch.cat(expected, dim=1))
    if groups == 1:
        linear = cpd.Quant_Linear(30, 8, **how)
        linear.weight, linear.bias = nn.Parameter(weight), layer.bias
        assert torch.equal(linear(x).detach(), expected[0])


@pytest.mark.parametrize("bias", (True, False))
def test_nan_stays_nan_in_formats_that_have_none(bias):
    accumulate = "float:e=2,m=1,kind=finite"
    x = torch.tensor([[1.0, float("nan")], [1.0, 1.0]])
    linear = nct.emulate(nn.Linear(2, 3, bias=bias), accumulate=accumulate)
    conv = nct.emulate(nn.Conv2d(2, 3, 1, bias=bias), accumulate=accumulate)
    for out in (linear(x), conv(x[:, :, None, None])[:, :, 0, 0]):
        assert out[0].isnan().all() and not out[1].isnan().any()


def test_cpds_layers_refuse_arguments_that_they_have_not():
    with pytest.raises(TypeError, match="padding_mode is no argument of CPD's layers"):
        cpd.Quant_Conv(4, 6, 3, padding_mode="reflect")
    assert {"Quant_Conv", "Nodes", "quantizer", "cast"} <= set(dir(cpd))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_layers_keep_the_dtype_of_what_comes_in(dtype):
    x = torch.randn(2, 3, 6, 6, dtype=dtype, requires_grad=True)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(64, 2)).to(dtype)
    out = nct.emulate(model, forward="float:e=4,m=3", accumulate=BF16)(x)
    out.sum().backward()
    assert (out.dtype, x.grad.dtype, model[0].weight.grad.dtype) == (dtype,) * 3


def test_negative_views_and_channels_last_are_the_values_that_they_show():
    layer = nct.emulate(nn.Conv2d(3, 2, 3), accumulate=BF16)
    x = torch.randn(2, 3, 5, 5)
    plain = layer(x)
    assert torch.equal(layer(x.to(memory_format=torch.channels_last)), plain)
    turned = torch.complex(x, -x).conj().imag
    assert turned.is_neg()
    assert torch.equal(layer(turned), plain)


def test_quantizer_rounds_forward_and_backward():
    x = torch.randn(50, requires_grad=True)
    incoming = torch.randn(50)
    for layer in (cpd.quantizer(4, 3, 5, 2), cpd.Quantizer(4, 3, 5, 2)):
        x.grad = None
        out = layer(x)
        out.backward(incoming)
        assert torch.equal(out.detach(), cpd.float_quantize(x.detach(), 4, 3))
        assert torch.equal(x.grad, cpd.float_quantize(incoming, 5, 2))
    same = cpd.quantizer()(x)
    assert torch.equal(same.detach(), x.detach())
    again = pickle.loads(pickle.dumps(cpd.Quantizer(4, 3)))
    assert torch.equal(again(x).detach(), cpd.float_quantize(x.detach(), 4, 3))


def test_quantizer_takes_any_codec_and_throws_new_dice_at_every_call():
    x = torch.randn(64)
    assert torch.equal(cpd.quantizer(forward="mxfp4")(x), cpd.cast(x, "mxfp4"))
    stochastic = cpd.quantizer(forward="float:e=5,m=2,rounding=stochastic", seed=4)
    first, second = stochastic(x), stochastic(x)
    assert not torch.equal(first, second)
    again = cpd.quantizer(forward="float:e=5,m=2,rounding=stochastic", seed=4)
    assert torch.equal(again(x), first)
    with pytest.raises(UsageError, match="no codec"):
        cpd.quantizer(forward="fp33")


def test_stochastic_layers_repeat_themselves_from_the_same_seed():
    spec = "float:e=5,m=2,rounding=stochastic"
    x = torch.randn(4, 16)

    def outputs(seed):
        torch.manual_seed(1)
        model = nct.emulate(nn.Linear(16, 4), spec, spec, spec, seed=seed)
        return [model(x).detach() for _ in range(2)]

    first, again, other = outputs(1), outputs(1), outputs(2)
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first[0], other[0])


def test_a_network_learns_in_eight_bits():
    rng = np.random.default_rng(1)
    x = torch.from_numpy(rng.standard_normal((256, 16)).astype(np.float32))
    y = (x[:, :4].sum(dim=1) > 0).long()
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
    nct.emulate(model, "float:e=4,m=3", E5M2, "float:e=8,m=10")
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(30):
        optimiser.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimiser.step()
    assert (model(x).argmax(dim=1) == y).float().mean() > 0.95


KINDS = {
    "linear": (lambda: nn.Linear(4, 1), (2, 4)),
    "convolution": (lambda: nn.Conv2d(2, 3, 3, padding=1), (2, 2, 5, 5)),
    "convolution of one image": (lambda: nn.Conv2d(2, 3, 3), (2, 5, 5)),
}
OF_EACH_KIND = pytest.mark.parametrize("make, shape", KINDS.values(), ids=KINDS)


@OF_EACH_KIND
def test_gradients_of_gradients_are_refused(make, shape):
    """They would be those of the rounding, which has none, and would be missed silently."""
    layer = nct.emulate(make(), forward=E5M2, backward=E5M2, accumulate=BF16)
    x = torch.randn(shape, requires_grad=True)
    scale = torch.ones((), requires_grad=True)
    # A gradient that comes in has a graph, or, after a plain sum, none: what goes out has one anyway.
    for outcome in (lambda y: y.square().sum(), lambda y: y.sum()):
        for first in (x, layer.weight):
            out = layer(scale * x)
            (gradient,) = torch.autograd.grad(outcome(out), first, create_graph=True)
            twice = out.mean() + gradient.square().sum()
            for second in (scale, x, layer.weight):
                with pytest.raises(RuntimeError, match="differentiate twice"):
                    torch.autograd.grad(twice, second, retain_graph=True)
            with pytest.raises(RuntimeError, match="differentiate twice"):
                twice.backward()


@OF_EACH_KIND
def test_a_graph_of_gradients_that_nobody_uses_changes_nothing(make, shape):
    layer = nct.emulate(make(), forward=E5M2, backward=E5M2, accumulate=BF16)
    inputs = [torch.randn(shape), *(parameter.detach() for parameter in layer.parameters())]

    def found(create_graph, frozen=None):
        leaves = [leaf.clone().requires_grad_(i != frozen) for i, leaf in enumerate(inputs)]
        out = torch.func.functional_call(layer, dict(weight=leaves[1], bias=leaves[2]), leaves[0])
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        return torch.autograd.grad(out.sum(), wanted, create_graph=create_graph)

    for frozen in (None, 0, 1, 2):
        for ours, theirs in zip(found(True, frozen), found(False, frozen)):
            assert ours.requires_grad and torch.equal(ours, theirs)


def test_rounding_on_its_own_has_gradients_of_gradients_where_nothing_is_missed():
    """What a quantizer hands back depends on what comes in alone."""
    linear, x = nn.Linear(4, 3, bias=False), torch.ones(2, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(cpd.Quantizer(4, 3, 5, 2)(linear(x)).sum(), x, create_graph=True)
    gradient.square().sum().backward()
    sums = linear.weight.detach().sum(dim=0, keepdim=True)
    assert torch.allclose(linear.weight.grad, (4 * sums).expand(3, 4))


CHECKPOINTED = {
    "linear": (lambda: nct.emulate(nn.Linear(5, 3), E5M2, E5M2, BF16), (2, 5)),
    "convolution": (lambda: nct.emulate(nn.Conv2d(2, 3, 3), E5M2, E5M2, BF16), (2, 2, 5, 5)),
    "CPD's linear": (lambda: cpd.Quant_Linear(5, 2, exp=5, man=2), (2, 5)),
    "CPD's convolution": (lambda: cpd.Quant_Conv(1, 2, 3, exp=5, man=2), (1, 1, 5, 5)),
    "quantizer": (lambda: cpd.Quantizer(4, 3, 5, 2), (2, 5)),
}


@pytest.mark.parametrize("reentrant", (True, False))
@pytest.mark.parametrize("make, shape", CHECKPOINTED.values(), ids=CHECKPOINTED)
def test_layers_compute_again_from_activation_checkpoints(make, shape, reentrant):
    """Those of torch hand out what was saved once, and no second time."""
    layer, x = make(), torch.randn(shape)

    def function(given):
        return checkpoint(layer, given, use_reentrant=reentrant)

    for ours, theirs in zip(gradients(function, x), gradients(layer, x)):
        assert torch.equal(ours, theirs)
