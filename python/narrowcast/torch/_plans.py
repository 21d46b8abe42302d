"""Plans as users write them: a spec, TOML, the path of a file, or a dictionary."""

from __future__ import annotations

import numbers
import os
import re
from typing import Any, Iterable, Mapping, Optional, Union

import numpy as np

from .. import _core
from .._arrays import type_name
from .._codecs import spec_of
from .._errors import UsageError

_TOML = re.compile(r"^\s*(\[|#|[A-Za-z_][A-Za-z0-9_-]*\s*=)")


def plan_of(plan: Any) -> Any:
    """What `compress` was given, as a plan. UsageError says what does not fit."""
    if isinstance(plan, _core.Plan):
        return plan
    if isinstance(plan, Mapping):
        return _core.parse_plan(toml_of(plan), "plan")
    if isinstance(plan, os.PathLike):
        return _core.read_plan(os.fspath(plan))
    if not isinstance(plan, str):
        raise TypeError(
            f"plan is of {type(plan).__name__}; give a spec such as 'dynamic8', TOML, the path of a "
            "file, a dictionary, or 'auto'"
        )
    if "\n" in plan or _TOML.match(plan):
        return _core.parse_plan(plan, "plan")
    if plan.endswith(".toml"):
        return _core.read_plan(plan)
    return _core.plan_of(plan)


def offered_of(codecs: Union[str, Iterable[str]]) -> list[str]:
    """The codecs that plan="auto" may choose from: specs, and no plans."""
    if not isinstance(codecs, (str, Iterable)):
        raise TypeError(f'codecs is of {type_name(codecs)}; give specs, such as ("bf16", "dynamic8")')
    specs = [spec_of(spec, "one of codecs") for spec in ([codecs] if isinstance(codecs, str) else codecs)]
    if not specs:
        raise UsageError('codecs is empty; give specs, such as ("bf16", "dynamic8")')
    for spec in specs:
        _core.plan_of(spec)  # refuses what is none
    return specs


def max_error_of(bound: Optional[float]) -> Optional[float]:
    """How much rounding may change a gradient by; None: by any amount."""
    if bound is None:
        return None
    if isinstance(bound, (bool, np.bool_)) or not isinstance(bound, numbers.Real):
        raise TypeError(f"max_error is of {type_name(bound)}; give a number above 0, such as 0.05, or None")
    if not bound > 0:  # NaN is not
        raise UsageError(f"max_error is {float(bound)}; give a number above 0, such as 0.05")
    return float(bound)


def toml_of(table: Mapping[Any, Any]) -> str:
    """A dictionary as TOML: keys first, then tables, then lists of tables.

    >>> print(toml_of({"fusion": "1MiB", "rule": [{"tensors": "*", "codec": "dynamic8"}]}))
    fusion = "1MiB"
    [[rule]]
    tensors = "*"
    codec = "dynamic8"
    """
    return "\n".join(_lines(table, ""))


def _lines(table: Mapping[Any, Any], path: str) -> list[Any]:
    plain, nested = [], []
    for key, value in table.items():
        if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", key):
            raise UsageError(f"{key!r} is no key of a plan")
        if isinstance(value, Mapping):
            nested += [f"[{path}{key}]", *_lines(value, f"{path}{key}.")]
        elif isinstance(value, (list, tuple)):
            for item in value:
                if not isinstance(item, Mapping):
                    raise UsageError(f"plan: '{path}{key}' is a list of dictionaries")
                nested += [f"[[{path}{key}]]", *_lines(item, f"{path}{key}.")]
        else:
            plain.append(f"{key} = {_scalar(key, value)}")
    return plain + nested


def _scalar(key: str, value: Any) -> str:
    # numpy's numbers too: np.float64 is a float, but its repr is no TOML.
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return repr(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        if not escaped.isprintable():
            raise UsageError(f"plan: '{key}' has characters that cannot be printed")
        return f'"{escaped}"'
    raise UsageError(f"plan: '{key}' is of {type(value).__name__}; give text, a number or a boolean")
