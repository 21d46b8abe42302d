import subprocess

import pytest

from narrowcast._program import PROGRAM


def pytest_addoption(parser):
    parser.addoption("--program", default=PROGRAM, help="the command line to be compared with")


class Program:
    """The command line, seen from outside."""

    def __init__(self, path):
        self.path = path

    def run(self, *words, stdin=b""):
        return subprocess.run([self.path, *words], input=stdin, capture_output=True, check=False)

    def output(self, *words, stdin=b""):
        done = self.run(*words, stdin=stdin)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def complaint(self, *words, stdin=b""):
        """Its exit code, and what it says without its own name."""
        done = self.run(*words, stdin=stdin)
        return done.returncode, done.stderr.decode().removeprefix("narrowcast: ").rstrip("\n")


@pytest.fixture(scope="session")
def program(request):
    return Program(request.config.getoption("--program"))
