"""What travelled, and what it took."""

from __future__ import annotations

from typing import Any

_TIMES = ("encode_ms", "wire_ms", "decode_ms", "wait_ms")


class Stats:
    """Sums over the steps, and the last of them."""

    def __init__(self) -> None:
        self.steps = 0
        self._bytes = 0
        self._fp32_bytes = 0
        self._skipped = 0
        self._last: dict[Any, Any] = {}

    def add(self, report: dict[Any, Any]) -> None:
        self.steps += 1
        self._bytes += report["bytes"]
        self._fp32_bytes += report["fp32_bytes"]
        self._skipped += report["skipped"]
        self._last = report

    def add_plain(self) -> None:
        """A step that travelled as torch has it, and was not measured: counts as fp32, like those before
        it."""
        size = self._last.get("fp32_bytes", 0)
        by_codec = {"fp32": size}
        self.add({"bytes": size, "fp32_bytes": size, "skipped": False, "bytes_by_codec": by_codec})

    def report(self) -> dict[Any, Any]:
        last = self._last
        return {
            "steps": self.steps,
            "skipped_steps": self._skipped,
            "bytes": self._bytes,
            "fp32_bytes": self._fp32_bytes,
            "ratio": self._fp32_bytes / self._bytes if self._bytes else 1.0,
            "bytes_by_codec": dict(last.get("bytes_by_codec", {})),
            **{key: last.get(key, 0.0) for key in _TIMES},
            "overlap": last.get("overlap", 0.0),
        }


def line_about(report: dict[Any, Any], ways: dict[Any, Any], wire: Any, algorithm: str) -> str:
    """What really travels, in one line."""
    values = sum(count for _, count in ways.values())
    parts = [
        f"{spec} for {tensors} tensor{'s' if tensors != 1 else ''}"
        f" ({100 * count / max(values, 1):.3g} % of {values:,} values)"
        for spec, (tensors, count) in sorted(ways.items(), key=lambda way: -way[1][1])
    ]
    return (
        f"narrowcast: {', '.join(parts)}; {_size(report['bytes'])} a step and rank instead of "
        f"{_size(report['fp32_bytes'])}, {algorithm} over {wire.transport} between {wire.size} ranks"
    )


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count = count / 1000
    return f"{count:.3g} GB"
