"""The part of docs/results.md about fuzzing; tools/results.py calls it."""
import json


def print_fuzz(folder):
    file = folder / "fuzz.json"
    if not file.exists():
        return
    found = json.loads(file.read_text())
    commits = ", ".join(f"`{commit}`" for commit in found["commits"])
    print("\n## Fuzzing\n\nMade by `scripts/fuzz --inputs N`: readers of bytes from outside "
          "([security](security.md)), with the address and\nundefined-behaviour sanitizers and a limit of memory for "
          f"each input. Nothing was found in {found['inputs']:,} inputs,\nin {found['seconds'] / 60:.0f} minutes.\n\n"
          f"{found['cpu']}, {found['cores']} cores, {found['compiler']}, commit {commits}.\n\n"
          "| fuzzer | inputs |\n|---|---:|")
    print(*(f"| `{name}` | {inputs:,} |" for name, inputs in found["fuzzers"].items()), sep="\n")
