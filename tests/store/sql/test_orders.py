"""Orders with request ids in a file: what they cost, a store of before, a restored store."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.orders import NewOrder
from phaseline.model.rows.rows import RequestKind
from phaseline.store.sqlite.restore import restore
from phaseline.store.sqlite.store import SqliteStore


def order(id: str = "r-1") -> NewOrder:
    return NewOrder(id, "digest", 1_000, a.ANN)


def statements(store: SqliteStore, work: Callable[[], object]) -> list[str]:
    """What is said to SQLite by the connection that writes."""
    said: list[str] = []
    db = store.connections.writer()
    db.set_trace_callback(said.append)
    work()
    db.set_trace_callback(None)
    return [one.partition(" ")[0] for one in said]


@pytest.fixture
def store(path: Path, clock: a.FakeClock) -> SqliteStore:
    return SqliteStore.open(path, clock)


def asked(store: SqliteStore, given: NewOrder | None = None, *, times: int = 1) -> Callable[[], None]:
    def work() -> None:
        with store.as_one(given):
            for _ in range(times):
                store.ask(RequestKind.STOP, 0, {}, a.ANN)

    return work


def test_what_has_no_request_id_is_written_with_the_same_statements(store: SqliteStore) -> None:
    with closing(store):
        alone = statements(store, lambda: store.ask(RequestKind.STOP, 0, {}, a.ANN))
        assert statements(store, asked(store)) == alone


def test_as_one_without_a_write_says_nothing_to_the_file(store: SqliteStore) -> None:
    with closing(store):
        assert statements(store, asked(store, times=0)) == []


def test_several_writes_are_one_commit(store: SqliteStore) -> None:
    with closing(store):
        assert statements(store, asked(store, order(), times=5)).count("commit") == 1


def test_what_is_read_meanwhile_is_what_was_there_before(store: SqliteStore) -> None:
    with closing(store), store.as_one(order()):
        store.ask(RequestKind.STOP, 0, {}, a.ANN)
        assert list(store.requests()) == []
        assert store.orders.find(a.ANN, "r-1") is None


def test_a_store_that_is_gone_or_full_takes_neither_the_order_nor_what_it_causes(
    store: SqliteStore, path: Path
) -> None:
    with closing(store):
        store.connections.writer().execute("pragma max_page_count = 1")  # full, from now on
        given = order()

        def write() -> None:
            with store.as_one(given):
                store.create_deployment(a.deployment(apps=3_000), a.execution(), asks=True)

        with pytest.raises(ProblemsError):
            write()
        assert not given.is_stored
        store.connections.writer().execute("pragma max_page_count = 1000000")
        with store.as_one(order()):
            store.ask(RequestKind.STOP, 0, {}, a.ANN)
        assert list(store.check()) == []
        assert [row.name for row in store.deployments()] == []
    assert path.exists()


def test_a_restored_store_answers_the_orders_that_it_knows_and_knows_no_others(path: Path, clock: a.FakeClock) -> None:
    backup = path.with_name("backup.db")
    with closing(SqliteStore.open(path, clock)) as store:
        with store.as_one(order("before")):
            number, row = store.create_deployment(a.deployment(), a.execution(), asks=True)
            assert row is not None
            asked_for = store.ask(RequestKind.CANCEL, row.number, {}, a.ANN)
        with closing(sqlite3.connect(path)) as db, db:  # of another life, such as a file that was mended by hand
            db.execute(
                "insert into given_order select tenant, actor, 'strange', digest, at, '[999]', executions, answer from given_order"
            )
            db.execute(
                "insert into given_order select tenant, actor, 'odd', digest, at, '[]', '[\"install-77\"]', answer from given_order"
                " where id = 'before'"
            )
        store.backup(str(backup))
        with store.as_one(order("after")):
            store.ask(RequestKind.CANCEL, row.number, {}, a.ANN)
    restore(str(backup), str(path), clock.now())
    with closing(SqliteStore.open(path, clock, makes=False)) as store:
        found = store.orders.find(a.ANN, "before")
        assert found is not None
        assert (found.executions, found.requests[-1]) == ((row.id,), asked_for)
        assert [store.orders.find(a.ANN, id) for id in ("after", "strange", "odd")] == [None] * 3
        store.incarnations.go_on(a.ANN, 2_000)
        renewed = store.orders.find(a.ANN, "before")
        assert renewed is not None
        assert renewed.requests != found.requests
        kinds = {row.number: row.kind for row in store.requests_of(row.number)}
        assert kinds[renewed.requests[-1]] is RequestKind.CANCEL, "requests were given new numbers"
        assert store.answer_of(renewed.requests[0]) is None
        assert number
