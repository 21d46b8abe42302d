"""The program that the package carries along, for questions that it answers in JSON."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Sequence

from ._errors import Error, MachineError, PeerError, UsageError, WireError

PROGRAM = Path(__file__).parent / "bin" / "narrowcast"

# Its exit codes.
_FAULTS = {2: UsageError, 3: WireError, 4: PeerError, 5: MachineError}


def ask(words: Sequence[str]) -> List[Dict[str, Any]]:
    """The lines of JSON that a command prints; what it refuses is raised, in its words."""
    for word in words:
        _require_text(word)
    # It says again what it was told, and a path may have bytes that are no UTF-8.
    done = subprocess.run(
        [str(PROGRAM), *words, "--json"],
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="backslashreplace",
    )
    if done.returncode != 0:
        fault = _FAULTS.get(done.returncode, Error)
        said = done.stderr.strip().removeprefix("narrowcast: ")
        raise fault(said or f"the program ended with exit code {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _require_text(word: str) -> None:
    """UsageError for what cannot be handed to a program."""
    try:
        told = os.fsencode(word)
    except UnicodeEncodeError:  # half a character
        raise UsageError(f"{word!a} is no text") from None
    if b"\0" in told:
        raise UsageError(f"{word!a} is no text: it has a zero in it")
