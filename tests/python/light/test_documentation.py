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


def test_the_package_is_typed():
    folder = pathlib.Path(narrowcast.__file__).parent
    assert (folder / "py.typed").exists()
    # All files; torch is not installed beside these tests, so what it has is of any type.
    without_torch = ["--ignore-missing-imports", "--allow-subclassing-any", "--allow-untyped-decorators"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", *without_torch, folder],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout
