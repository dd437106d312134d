"""What all tests share: surroundings, and generated inputs that are the same in every run unless a longer search is asked for.

The default suite draws a few examples of each property, ``make properties`` (``HYPOTHESIS_PROFILE=ci``) many more of the
same fixed sequence, which CI does, too; ``search`` draws new ones each time.
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", derandomize=True, database=None, deadline=None, max_examples=40)
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=500,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, max_examples=10_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

TERMINAL = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE")
OURS = {"PHASELINE_EXPECT", "PHASELINE_ACCEPT"}
"""Said to tests, not to what they test."""
for name in {name for name in os.environ if name.startswith("PHASELINE_")}.union(TERMINAL) - OURS:
    os.environ.pop(name, None)  # the terminal and the settings of whoever runs the tests are not tested
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # The suite runs in the background of a shell; the programs that it starts would inherit that they hear no Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["no_proxy"] = "localhost,127.0.0.1"  # servers of tests answer on this machine, whatever proxy it has


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--programs",
        type=Path,
        default=Path(sys.executable).parent,
        help="folder of phaseline and python that pages and examples are typed with; an ordinary install in CI",
    )


@pytest.fixture(scope="session")
def programs(pytestconfig: pytest.Config) -> Path:
    """Where the commands that a page tells to type are looked for first."""
    folder: Path = pytestconfig.getoption("--programs")
    return folder.absolute()
