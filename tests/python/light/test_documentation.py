"""Examples run, and type checkers understand the package."""

import doctest
import importlib
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import narrowcast

NEEDS_TORCH = {"torch", "cpd", "emulation", "_autograd"}
MODULES = sorted(
    module.name
    for module in pkgutil.iter_modules(narrowcast.__path__)
    if module.name not in NEEDS_TORCH | {"_core", "__main__"}
)


@pytest.mark.parametrize("name", ["narrowcast", *(f"narrowcast.{name}" for name in MODULES)])
def test_examples_of_docstrings_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_examples_of_the_manual_hold():
    manual = pathlib.Path(__file__).parents[3] / "docs" / "python.md"
    found = doctest.testfile(str(manual), module_relative=False)
    assert found.attempted > 0 and found.failed == 0


def test_every_public_function_has_an_example():
    for name in narrowcast.__all__:
        thing = getattr(narrowcast, name)
        assert thing.__doc__, name
        if not isinstance(thing, type):
            assert ">>> " in thing.__doc__, name


def types(*words):
    """What mypy says. Torch is not installed beside these tests, so what it has is of any type."""
    without_torch = ["--ignore-missing-imports", "--allow-subclassing-any", "--allow-untyped-decorators"]
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", *without_torch, *words],
        capture_output=True,
        check=False,
        text=True,
    )


def test_the_package_is_typed():
    folder = pathlib.Path(narrowcast.__file__).parent
    assert (folder / "py.typed").exists()
    done = types(folder)
    assert done.returncode == 0, done.stdout


def test_names_that_are_imported_when_they_are_used_have_types(tmp_path):
    (tmp_path / "right.py").write_text(
        "from narrowcast import cpd\n"
        "from narrowcast.cpd import Nodes, Quant_Conv, Quantizer, quantizer, sum_gradients\n"
        "layers = cpd.Quant_Linear(5, 2, exp=5, man=2), Quant_Conv(1, 2, 3), Quantizer(4, 3)\n"
        "count: int = len(Nodes(layers[0]))\n"
        "sum_gradients(layers[0], use_APS=True)\n"
        "quantizer(4, 3)\n"
    )
    done = types(tmp_path / "right.py")
    assert done.returncode == 0, done.stdout
    wrong = {
        "cpd.Quant_Linaer": '"Quant_Linaer"',
        'cpd.Quant_Linear(5, 2, exp="5")': '"exp"',
        'cpd.Quant_Conv(1, 2, 3, man="2")': '"man"',
        'cpd.Quantizer("4")': '"Quantizer"',
        "cpd.quantizer(forwards=4)": '"forwards"',
        "cpd.Nodes().collected": '"model"',
        "cpd.sum_gradients(None, use_aps=True)": '"use_aps"',
    }
    (tmp_path / "wrong.py").write_text("\n".join(["from narrowcast import cpd", *wrong]))
    said = types(tmp_path / "wrong.py").stdout
    for line, (words, named) in enumerate(wrong.items(), start=2):
        assert any(f"wrong.py:{line}: error" in told and named in told for told in said.splitlines()), (words, said)
