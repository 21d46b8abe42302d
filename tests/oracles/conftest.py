import pytest

from narrowcast_cli import Program


def pytest_addoption(parser):
    parser.addoption("--program", required=True, help="the narrowcast program to be tested")


@pytest.fixture(scope="session")
def program(request):
    return Program(request.config.getoption("--program"))
