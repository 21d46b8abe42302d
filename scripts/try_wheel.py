"""Uses an installed wheel: run by scripts/wheel, where nothing but numpy is installed beside it."""

import importlib.metadata
import pathlib
import subprocess
import sys

import narrowcast
import numpy as np

others = {d.metadata["Name"].lower() for d in importlib.metadata.distributions()}
assert others <= {"narrowcast", "numpy", "pip", "setuptools"}, others
assert sys.prefix in narrowcast.__file__, narrowcast.__file__

values = np.random.default_rng(0).normal(size=(64, 100)).astype(np.float32)
for row in narrowcast.codecs():
    frame = narrowcast.encode(values, row["spec"], seed=1)
    decoded = narrowcast.decode(frame).reshape(values.shape)
    assert np.array_equal(decoded, narrowcast.quantize(values, row["spec"], seed=1)), row["spec"]
try:
    narrowcast.decode(frame[:-1])
except narrowcast.WireError:
    pass
else:
    raise AssertionError("a broken frame was decoded")

# The command line in both of its ways, alone and with ranks that are processes.
script = pathlib.Path(sys.prefix) / "bin" / "narrowcast"
encode = ["encode", "dynamic8"]
ranks = ["bench", "allreduce", "--workers", "2", "--codec", "dynamic8", "-e", "64K"]
for command in ([sys.executable, "-m", "narrowcast"], [script]):
    done = subprocess.run([*command, *encode], input=values.tobytes(), stdout=-1, check=True)
    assert done.stdout == narrowcast.encode(values, "dynamic8")
    subprocess.run([*command, *ranks], stdout=subprocess.DEVNULL, check=True)
    for words in (["train"], ["study", "run", "study.toml", "-o", "out"]):
        refused = subprocess.run([*command, *words], stderr=subprocess.PIPE, check=False, text=True)
        assert refused.returncode == 2 and "scripts/build" in refused.stderr, refused.stderr

assert "torch" not in sys.modules
print(f"narrowcast {narrowcast.__version__} with numpy {np.__version__} alone: it works")
