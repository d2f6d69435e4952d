"""Options and fixtures of the whole suite.

``pytest --full`` raises counts (random cases, repeated builds) from quick to thorough; tests
read it through the ``full`` fixture or, for Hypothesis, through the loaded profile.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fatcrate.toolchain.discover import Tools, discover
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent

# derandomize: the seed is the test's own name, so that a run can be repeated; no database.
_COMMON = {
    "derandomize": True,
    "database": None,
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("quick", max_examples=60, **_COMMON)
settings.register_profile("full", max_examples=2000, **_COMMON)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="large counts of cases and repetitions")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("full" if config.getoption("--full") else "quick")
    # A shell starts background jobs with Ctrl-C ignored, and programs under test inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The same for nohup, which has hang-ups ignored.
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether large counts were asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def tools() -> Tools:
    """The installed toolchain, found as the front ends find it."""
    return discover()


@pytest.fixture(autouse=True)
def _no_leftovers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tests behave alike whatever the caller's environment asks of the front ends."""
    for name in [n for n in os.environ if n.startswith("FATCRATE_")]:
        monkeypatch.delenv(name)
    yield
