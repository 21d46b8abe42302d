"""The package safetensors reads what the store writes, and the store what safetensors writes.

Golden files stand between the two: tests/store holds our program to both of them.
"""

import json
import pathlib

import numpy as np
import xxhash
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden" / "store"
OURS = GOLDEN / "ours.safetensors"
THEIRS = GOLDEN / "theirs.safetensors"

WEIGHT = np.arange(-2.5, 3.5, dtype=np.float32).reshape(2, 3)
STEPS = np.array([1, -2, 2**62], np.int64)


def some_bytes(count):
    return (np.arange(count) * 7).astype(np.uint8)


EXPECTED = {
    "random": some_bytes(5),
    "layer.weight": WEIGHT,
    "scalar": np.array(7.25, np.float32),
    "steps": STEPS,
    "none": np.zeros((0, 4), np.float32),
    'a "b"\n€': some_bytes(3),
}


def test_they_read_what_we_write():
    found = load_file(OURS)
    assert found.keys() == EXPECTED.keys()
    for name, expected in EXPECTED.items():
        assert found[name].dtype == expected.dtype, name
        np.testing.assert_array_equal(found[name], expected, strict=True)


def test_they_read_our_metadata():
    with safe_open(OURS, framework="numpy") as file:
        about = file.metadata()
    del about["xxh3"]
    assert about == {"step": "42", "plan": 'codec = "dynamic8"\nü', "empty": ""}


def test_the_checksum_is_what_the_documentation_says():
    with safe_open(OURS, framework="numpy") as file:
        about = file.metadata()
    checksum = about.pop("xxh3")
    kinds = {"float32": "F32", "int64": "I64", "uint8": "U8"}
    by_name = sorted(load_file(OURS).items(), key=lambda item: item[0].encode())
    arrays = {
        name: {"dtype": kinds[array.dtype.name], "shape": list(array.shape)}
        for name, array in by_name
    }
    words = json.dumps(
        {"metadata": dict(sorted(about.items())), "arrays": arrays},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    digest = xxhash.xxh3_64_intdigest(words.encode())
    for _, array in by_name:
        digest = xxhash.xxh3_64_intdigest(array.tobytes(), seed=digest)
    assert checksum == f"{digest:016x}"


def test_what_we_read_is_what_they_write(tmp_path):
    arrays = {"layer.weight": WEIGHT, "steps": STEPS, "random": some_bytes(5)}
    save_file(arrays, tmp_path / "theirs", metadata={"by": "safetensors"})
    assert (tmp_path / "theirs").read_bytes() == THEIRS.read_bytes()
