"""Every test of the conformance suite runs against each store."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.store.builders import FakeClock
from tests.store.postgres_server import new_schema

from phaseline.ports.store import Store
from phaseline.store.memory.store import MemoryStore
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


STORES = ("sqlite", "postgresql", "memory")


@pytest.fixture(params=STORES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Callable[[], Store]]:
    """Gives the store as the next process finds it; the one given before is closed."""
    opened: list[Store] = []
    url: list[str] = []

    def again() -> Store:
        if request.param == "memory":
            opened.append(opened[0] if opened else MemoryStore(clock))
            return opened[0]
        if opened:
            opened[-1].close()
        if request.param == "postgresql":
            url.append(url[0] if url else new_schema())
            opened.append(PostgresStore.open(url[0], clock))
            return opened[-1]
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a PostgreSQL server: it has a target of its own (decision 48)."""
    folder = Path(__file__).parent / "postgres"
    for item in items:
        store = getattr(getattr(item, "callspec", None), "params", {}).get("reopen")
        if store == "postgresql" or folder in item.path.parents:
            item.add_marker(pytest.mark.postgres)
