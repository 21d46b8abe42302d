"""Which layers of a model emulate() makes emulated ones, and which it refuses. Needs torch."""

import copy
from collections import OrderedDict

import pytest
import torch
from torch import nn

import narrowcast.torch as nct
from narrowcast import UsageError, cpd
from narrowcast.emulation import EmulatedConv2d, EmulatedLinear

E5M2, BF16 = "float:e=5,m=2", "float:e=8,m=7"


@pytest.fixture(autouse=True)
def same_numbers_every_time():
    torch.manual_seed(5)


def test_emulate_keeps_parameters_hooks_and_state():
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    model[0].register_forward_hook(lambda *_: seen.append(1))
    names = list(model.state_dict())
    assert nct.emulate(model, "float:e=4,m=3", E5M2, "float:e=8,m=10") is model
    assert type(model[0]) is EmulatedConv2d and type(model[3]) is EmulatedLinear
    assert model[0].arithmetic.layer != model[3].arithmetic.layer
    before = [p.detach().clone() for p in model.parameters()]
    model(torch.randn(2, 1, 4, 4)).sum().backward()
    optimiser.step()
    assert seen == [1] and list(model.state_dict()) == names
    assert all(not torch.equal(p, b) for p, b in zip(model.parameters(), before))
    nct.emulate(model, accumulate=BF16)
    assert model[3].arithmetic.accumulate == BF16 and model[3].arithmetic.forward == "fp32"
    assert torch.equal(copy.deepcopy(model)[3].weight, model[3].weight)


def test_emulate_leaves_out_what_skip_names_and_refuses_what_it_cannot_do():
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    nct.emulate(model, accumulate=BF16, skip=["1"])
    assert type(model[1]) is nn.Linear
    with pytest.raises(UsageError, match='"0" is a Conv1d, which is not emulated; give skip'):
        nct.emulate(nn.Sequential(nn.Conv1d(1, 1, 1), nn.Linear(1, 1)))
    with pytest.raises(UsageError, match="MultiheadAttention"):
        nct.emulate(nn.TransformerEncoderLayer(8, 2, 16))
    left = nct.emulate(nn.TransformerEncoderLayer(8, 2, 16), skip=["self_attn"])
    assert type(left.linear1) is EmulatedLinear
    assert not isinstance(left.self_attn.out_proj, EmulatedLinear)
    named = nn.Sequential(OrderedDict(body=nn.Linear(4, 4), head=nn.Linear(4, 2)))
    assert type(nct.emulate(named, skip="head").head) is nn.Linear
    with pytest.raises(UsageError, match='the model has no layer "haed"'):
        nct.emulate(named, skip=["head", "haed"])
    with pytest.raises(UsageError, match='"1" is a Quant_Linear, which has formats of its own'):
        nct.emulate(nn.Sequential(nn.Linear(4, 4), cpd.Quant_Linear(4, 4)))
    with pytest.raises(UsageError, match="no Linear and no Conv2d"):
        nct.emulate(nn.ReLU())
    with pytest.raises(UsageError, match="value by value"):
        nct.emulate(nn.Linear(1, 1), accumulate="mxfp8")


def test_skip_takes_any_name_of_a_layer():
    shared = nn.Linear(4, 4)
    for name in ("first", "second", "sec*"):
        model = nn.ModuleDict(OrderedDict(first=shared, second=shared, third=nn.Linear(4, 4)))
        nct.emulate(model, accumulate=BF16, skip=name)
        assert type(model["first"]) is nn.Linear
        assert type(model["third"]) is EmulatedLinear


def test_a_seed_that_there_is_not_is_refused_before_the_first_step():
    for construct in (
        lambda seed: nct.emulate(nn.Linear(4, 4), seed=seed),
        lambda seed: cpd.Quant_Linear(4, 4, seed=seed),
        lambda seed: cpd.Quant_Conv(4, 4, 3, seed=seed),
        lambda seed: cpd.quantizer(4, 3, seed=seed),
        lambda seed: cpd.Quantizer(4, 3, seed=seed),
    ):
        with pytest.raises(UsageError, match="-1 is no seed"):
            construct(-1)


LAYERS = {
    "linear": (lambda bias: nn.Linear(4, 4, bias=bias), (2, 4)),
    "linear of one row": (lambda bias: nn.Linear(4, 4, bias=bias), (4,)),
    "linear of three axes": (lambda bias: nn.Linear(4, 4, bias=bias), (2, 3, 4)),
    "convolution": (lambda bias: nn.Conv2d(4, 6, 3, groups=2, bias=bias), (2, 4, 5, 5)),
    "convolution to one place": (lambda bias: nn.Conv2d(4, 6, 3, bias=bias), (2, 4, 3, 3)),
    "convolution to one channel": (lambda bias: nn.Conv2d(4, 1, 3, bias=bias), (2, 4, 5, 5)),
    "convolution of one image": (lambda bias: nn.Conv2d(4, 1, 3, bias=bias), (4, 5, 5)),
    "quantizer": (lambda _: cpd.Quantizer(4, 3, 5, 2), (2, 4)),
}


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16))
@pytest.mark.parametrize("bias", (True, False))
@pytest.mark.parametrize("make, shape", LAYERS.values(), ids=LAYERS)
def test_what_follows_a_layer_may_work_in_place(make, shape, bias, dtype):
    layer = make(bias).to(dtype)
    if not isinstance(layer, cpd.Quantizer):
        nct.emulate(layer, forward=E5M2, accumulate=BF16)
    x = torch.randn(shape, dtype=dtype)

    def gradient(activation):
        given = x.clone().requires_grad_()
        out = activation(layer(given))
        out.sum().backward()
        return out.detach(), given.grad

    for ours, theirs in zip(gradient(nn.ReLU(inplace=True)), gradient(nn.ReLU())):
        assert ours.is_contiguous() and torch.equal(ours, theirs)


@pytest.mark.parametrize("stacked", (False, True))
def test_an_encoder_layer_computes_in_eval_as_in_training(stacked):
    """Torch has a shorter way through it, which calls none of its layers."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2) if stacked else layer
    x = torch.randn(3, 5, 16)
    padding = torch.arange(5) >= torch.tensor([[5], [3], [4]]) if stacked else None
    nct.emulate(model, forward=E5M2, accumulate=BF16, skip="*self_attn")
    trained = model.train()(x, src_key_padding_mask=padding).detach()
    with torch.no_grad():
        evaluated = model.eval()(x, src_key_padding_mask=padding)
        again = copy.deepcopy(model)(x, src_key_padding_mask=padding)
    within = slice(None) if padding is None else ~padding
    # Attention itself stays in float32, by either way.
    assert (evaluated - trained)[within].abs().mean() < 1e-3
    assert torch.equal(again, evaluated)
    calls = [m.arithmetic.calls for m in model.modules() if isinstance(m, EmulatedLinear)]
    assert calls == [2] * len(calls)


def test_emulate_takes_block_formats_for_what_goes_in():
    layer = nct.emulate(nn.Linear(64, 8, bias=False), forward="mxfp4", backward="mxfp8")
    x = torch.randn(3, 64, requires_grad=True)
    out = layer(x)
    expected = cpd.cast(x.detach(), "mxfp4") @ cpd.cast(layer.weight.detach(), "mxfp4").t()
    assert torch.allclose(out.detach(), expected, rtol=1e-4, atol=1e-4)
    out.sum().backward()
    assert torch.isfinite(x.grad).all()
