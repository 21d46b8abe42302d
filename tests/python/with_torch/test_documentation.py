"""Examples of what needs torch run."""

import doctest
import importlib
import pkgutil

import pytest

import narrowcast.cpd
import narrowcast.torch

MODULES = [
    "narrowcast.emulation",
    *(
        f"{package.__name__}{dot}{name}"
        for package in (narrowcast.cpd, narrowcast.torch)
        for dot, name in [("", ""), *((".", m.name) for m in pkgutil.iter_modules(package.__path__))]
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("package", [narrowcast.cpd, narrowcast.torch], ids=lambda p: p.__name__)
def test_everything_public_says_what_it_is(package):
    for name in package.__all__:
        thing = getattr(package, name)
        assert not callable(thing) or thing.__doc__, name


@pytest.mark.parametrize(
    "thing",
    [
        narrowcast.torch.compress,
        narrowcast.torch.emulate,
        narrowcast.torch.all_reduce,
        narrowcast.torch.all_gather,
        *(
            getattr(narrowcast.cpd, name)
            for name in narrowcast.cpd.__all__
            if name not in ("Dice", "cast", "float_spec")
        ),
    ],
    ids=lambda thing: thing.__name__,
)
def test_what_users_call_has_an_example(thing):
    assert ">>> " in thing.__doc__
