"""What plan="auto" is advised, given beforehand."""

import contextlib

from narrowcast.torch import _auto


@contextlib.contextmanager
def advised(plan, compress=True, gain=2.0):
    advice = {"compress": compress, "codec": "dynamic8", "gain": gain, "dominant": "compute"}
    advice.update(step_ms=1.0, fp32_step_ms=2.0, plan=plan)
    kept = _auto._core

    class Advising:
        def __getattr__(self, attribute):
            return (lambda *words: advice) if attribute == "advise" else getattr(kept, attribute)

    _auto._core = Advising()
    try:
        yield
    finally:
        _auto._core = kept
