"""The command line: `python -m narrowcast`, or `narrowcast`.

It is the program that the package carries along, which takes the place of this process: signals,
exit codes and the ranks that it starts are its own.
"""

import os
import sys
from typing import NoReturn

from ._program import PROGRAM


def main() -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is where its descriptor was closed; the program has words for that
            stream.flush()
    os.execv(PROGRAM, ["narrowcast", *sys.argv[1:]])


if __name__ == "__main__":
    main()
