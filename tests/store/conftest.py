"""Every test of the conformance suite runs against each store."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.store.builders import FakeClock

from phaseline.ports.store import Store
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture(params=["sqlite", "memory"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Callable[[], Store]]:
    """Gives the store as the next process finds it; the one given before is closed."""
    opened: list[Store] = []

    def again() -> Store:
        if request.param == "memory":
            opened.append(opened[0] if opened else MemoryStore(clock))
            return opened[0]
        if opened:
            opened[-1].close()
        opened.append(SqliteStore.open(tmp_path / "store.db", clock))
        return opened[-1]

    yield again
    for store in opened:
        store.close()


@pytest.fixture
def store(reopen: Callable[[], Store]) -> Store:
    """An empty store that nobody owns."""
    return reopen()


@pytest.fixture
def owned(store: Store) -> Iterator[Store]:
    """A store that this process owns."""
    with ExitStack() as stack:
        stack.enter_context(store.own("a test"))
        yield store
