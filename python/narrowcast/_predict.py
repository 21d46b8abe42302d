"""How long a training step will take, before anybody buys the cluster."""

from __future__ import annotations

import operator
import os
from typing import Any, Dict, Iterable, List, Optional, SupportsIndex, Union

from ._program import ask

_Path = Union[str, "os.PathLike[str]"]


def predict(
    net: str,
    profile: _Path,
    workers: Union[SupportsIndex, Iterable[SupportsIndex]],
    codecs: Union[str, Iterable[str]] = ("fp32", "dynamic8"),
    *,
    batch: Optional[int] = None,
    algorithm: str = "direct",
) -> List[Dict[str, Any]]:
    """How long a step will take: a row for each number of workers and codec.

    `net` is a network of the profile or of our tables, `profile` one that comes along or a file
    that `narrowcast calibrate` has written; a wrong name raises UsageError, which lists the right
    ones. The rows are those of `narrowcast predict --json`; docs/prediction.md explains them.

    >>> import narrowcast
    >>> rows = narrowcast.predict("resnet50", "ethernet-1g", 8, ["fp32", "dynamic8"])
    >>> [row["codec"] for row in rows]
    ['fp32', 'dynamic8']
    >>> rows[1]["step_ms"] < rows[0]["step_ms"]
    True
    """
    words = ["predict", "--net", net, "--profile", os.fspath(profile)]
    words += ["--workers", ",".join(map(str, _numbers(workers)))]
    words += ["--codec", ",".join(_listed(codecs)), "--algorithm", algorithm]
    return ask(words + _batch(batch))


def advise(
    net: str,
    profile: _Path,
    workers: SupportsIndex,
    codecs: Union[str, Iterable[str]] = (),
    *,
    batch: Optional[int] = None,
    max_error: Optional[float] = None,
) -> Dict[str, Any]:
    """Whether low precision pays, and how: the answer of `narrowcast advise --json`.

    `codecs` are those to choose from, all that the profile knows when left out; `max_error` is the
    most that rounding may change a gradient by, as a part of it.

    >>> import narrowcast
    >>> narrowcast.advise("resnet50", "ethernet-1g", 8)["verdict"]
    'compress'
    """
    words = ["advise", "--net", net, "--profile", os.fspath(profile), "--workers"]
    words += [str(operator.index(workers))]
    if chosen := _listed(codecs):
        words += ["--codec", ",".join(chosen)]
    if max_error is not None:
        words += ["--max-error", repr(float(max_error))]
    (answer,) = ask(words + _batch(batch))
    return answer


def _numbers(workers: Any) -> List[int]:
    # An array says that it can be an index, whatever its size.
    try:
        return [operator.index(workers)]
    except TypeError:
        pass
    try:
        return [operator.index(number) for number in workers]
    except TypeError:
        raise TypeError(f"workers is {workers!r}; give a whole number, or several") from None


def _listed(codecs: Union[str, Iterable[str]]) -> List[str]:
    return [codecs] if isinstance(codecs, str) else list(codecs)


def _batch(batch: Optional[int]) -> List[str]:
    return [] if batch is None else ["--batch", str(batch)]
