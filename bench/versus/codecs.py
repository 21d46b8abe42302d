#!/usr/bin/env python3
"""Codecs beside what people use: torch, bitsandbytes, ml_dtypes, qtorch and a plain copy, in one process in turns.

    bench/versus/codecs.py --json FILE [--values 1048576 26214400] [--seconds 2]

One core and one thread each, into buffers that are there already, so that encoding is compared with encoding
(qtorch, and bitsandbytes on a CPU, have no way to be given one). Where a peer has the same format as ours, results
are compared first, bit for bit. `scripts/bench versus codecs` runs it with the packages of requirements.txt and
narrowcast. A peer that is not there is named in the file, with the reason.
"""

import argparse
import os
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402

from narrowcast import _core  # noqa: E402
from timing import in_turns, summary, write  # noqa: E402

OURS = ("fp16", "bf16", "e4m3", "e5m2", "bnb8", "dynamic8", "linear8", "qsgd:bits=4", "onebit:column=512")


class Row:
    """One way to make few bytes of floats, and back. `encode` and `decode` fill buffers that the row holds, `result` the
    latter's, or return what they made; without `decode`, `encode` goes there and back. Rows of one format say the same
    `beside`, and `same` that their values must be equal."""

    def __init__(self, who, what, beside=None, same=False):
        self.who, self.what, self.beside, self.same = who, what, beside, same
        self.encode = self.decode = self.result = None

    @property
    def name(self):
        return f"{self.who} {self.what}"


def ours(x):
    for spec in OURS:
        row = Row("narrowcast", spec, spec, same=True)
        wire = np.empty(5 * x.size, np.uint8)
        message = wire[: _core.encode_message(x, wire, spec, 0)].copy()
        row.result = np.empty_like(x)
        row.encode = lambda wire=wire, spec=spec: _core.encode_message(x, wire, spec, 0)
        row.decode = lambda m=message, out=row.result, spec=spec: _core.decode_message(m, out, spec)
        yield row
    for rounding in ("nearest", "stochastic"):
        spec = "float:e=5,m=2" + (",rounding=stochastic" if rounding == "stochastic" else "")
        row = Row("narrowcast", f"{spec}, there and back", f"quantize {rounding}", same=rounding == "nearest")
        out = np.empty_like(x)

        def there_and_back(out=out, spec=spec):
            _core.quantize(x, out, spec, 0, None)
            return out

        row.encode = there_and_back
        yield row


def torch_casts(x):
    import torch

    torch.set_num_threads(1)
    values = torch.from_numpy(x)
    types = {"float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
    for name, beside in types.items():
        row = Row("torch", name, beside, same=True)
        narrow = torch.empty(x.size, dtype=getattr(torch, name))
        wide = torch.empty(x.size)
        row.encode = lambda narrow=narrow: narrow.copy_(values)
        row.decode = lambda narrow=narrow, wide=wide: wide.copy_(narrow)
        row.result = wide.numpy()
        yield row


def bitsandbytes_blocks(x):
    import torch
    from bitsandbytes import functional

    values = torch.from_numpy(x)
    code = functional.create_dynamic_map()
    narrow, state = functional.quantize_blockwise(values, code=code, blocksize=4096)
    row = Row("bitsandbytes", "dynamic, blocks of 4096", "bnb8", same=True)
    row.encode = lambda: functional.quantize_blockwise(values, code=code, blocksize=4096)
    row.decode = lambda: functional.dequantize_blockwise(narrow, quant_state=state)
    yield row


def ml_dtypes_casts(x):
    import ml_dtypes

    for name, beside in {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.items():
        row = Row("ml_dtypes", name, beside, same=True)
        narrow, row.result = np.empty(x.size, getattr(ml_dtypes, name)), np.empty_like(x)
        row.encode = lambda narrow=narrow: np.copyto(narrow, x, casting="unsafe")
        row.decode = lambda narrow=narrow, out=row.result: np.copyto(out, narrow, casting="unsafe")
        yield row


def qtorch_casts(x):
    import torch
    from qtorch.quant import float_quantize

    values = torch.from_numpy(x)
    for rounding in ("nearest", "stochastic"):
        row = Row("qtorch", f"float_quantize (5,2), {rounding}", f"quantize {rounding}", same=rounding == "nearest")
        row.encode = lambda rounding=rounding: float_quantize(values, 5, 2, rounding)
        yield row


PEERS = {"torch": torch_casts, "bitsandbytes": bitsandbytes_blocks, "ml_dtypes": ml_dtypes_casts, "qtorch": qtorch_casts}


def decoded(row):
    """What comes out at the other end."""
    given = row.encode()
    if row.decode is not None:
        given = row.decode()
    return np.asarray(given if row.result is None else row.result)


def gather(x):
    """All rows, and of peers that are not there the reason."""
    rows, missing = list(ours(x)), {}
    for peer, make in PEERS.items():
        try:
            made = list(make(x))
            for row in made:
                decoded(row)
            rows += made
        except Exception as error:  # packages that compile or load libraries: anything may go wrong
            missing[peer] = f"{type(error).__name__}: {error}".splitlines()[0]
            print(f"codecs: no {peer}: {missing[peer]}", file=sys.stderr)
    return rows, missing


def different(rows, x):
    """Rows whose values are not those of our codec of the same format: they would be compared with something else."""
    mine = {row.beside: decoded(row).copy() for row in rows if row.who == "narrowcast"}
    return [f"{row.name} at {x.size} values" for row in rows
            if row.same and not np.array_equal(decoded(row), mine[row.beside])]


def measure(count, seconds):
    rng = np.random.default_rng(1)
    # Like a gradient: layers of different scale.
    scales = np.repeat(10.0 ** rng.uniform(-4, -1, -(-count // 65536)), 65536)[:count]
    x = (rng.standard_normal(count, np.float32) * scales.astype(np.float32)).astype(np.float32)
    rows, missing = gather(x)
    wrong = different(rows, x)
    target = np.empty_like(x)
    operations = {"memcpy": lambda: np.copyto(target, x)}
    for row in rows:
        operations[f"{row.name} encode"] = row.encode
        if row.decode is not None:
            operations[f"{row.name} decode"] = row.decode
    times = in_turns(operations, seconds, rounds=400)
    unit = 1e-9 * count
    found = [{"values": count, "who": "memcpy", "what": "", "beside": None, "encode": summary(times["memcpy"], unit)}]
    for row in rows:
        each = {"values": count, "who": row.who, "what": row.what, "beside": row.beside}
        for what in ("encode", "decode"):
            if f"{row.name} {what}" in times:
                each[what] = summary(times[f"{row.name} {what}"], unit)
        found.append(each)
    return found, missing, wrong


def versions():
    from importlib import metadata

    found = {}
    for package in ("torch", "bitsandbytes", "ml_dtypes", "qtorch", "numpy"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True)
    parser.add_argument("--values", nargs="+", type=int, default=[1 << 20, 25 << 20])
    parser.add_argument("--seconds", type=float, default=2, help="for each operation")
    words = parser.parse_args()
    found = {"versions": versions(), "rows": [], "missing": {}, "different": []}
    for count in words.values:
        print(f"codecs: {count} values", file=sys.stderr)
        rows, missing, wrong = measure(count, words.seconds)
        found["rows"] += rows
        found["missing"].update(missing)
        found["different"] += wrong
    for each in found["different"]:
        print(f"codecs: other values than ours: {each}", file=sys.stderr)
    write(words.json, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
