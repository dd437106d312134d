"""The whole store on a database and the parts of tenants: the embedded mode, one tenant, pays nothing for them (RF4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.tenant_worlds import Things, fill

from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.ports.tenant_store import StoreRows
from phaseline.store.relational import whole_store
from phaseline.store.sqlite.store import SqliteStore

LOOKS: Mapping[str, Callable[[StoreRows, Things], object]] = {
    "a deployment by its name": lambda store, x: _all_of(store, store.deployment(x.named("shop")).number),
    "all deployments": lambda store, _: [_all_of(store, row.number) for row in store.deployments()],
    "all executions": lambda store, _: [_run(store, row.number) for row in store.executions()],
    "an execution by its id": lambda store, x: _run(store, store.execution(x.id).number),
    "a page of executions": lambda store, _: [
        _run(store, row.number) for row in store.listings.executions(ExecutionQuery(limit=50))
    ],
    "a page of deployments": lambda store, _: store.listings.summaries(
        [row.number for row in store.listings.deployments(DeploymentQuery(limit=50))]
    ),
    "open calls": lambda store, _: [
        store.statuses(graph) for row in store.batches(only_open=True) for graph in row.places.graphs
    ],
    "calls of an execution": lambda store, x: store.batches(execution=store.execution(x.id).number),
    "requests": lambda store, x: [store.requests(), store.answer_of(x.request)],
    "the past of a lane": lambda store, _: store.runs_of(a.LANE.phase),
}


def _all_of(store: StoreRows, number: int) -> object:
    return [store.topology(number), store.states(number), store.labels.of(number), store.documents(number)]


def _run(store: StoreRows, number: int) -> object:
    return [[store.statuses(row.id), store.notes(row.id)] for row in store.graphs(number)], store.requests_of(number)


@contextmanager
def opened(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        yield store


def statements(path: Path, look: Callable[[SqliteStore], object]) -> int:
    """How many statements a process needs for something; opening does not count."""
    with opened(path) as store:
        store.identity()
        said: list[str] = []
        store.connections.reader().set_trace_callback(said.append)
        look(store)
        return len(said)


@pytest.mark.parametrize("name", LOOKS)
def test_rf4_the_only_tenant_needs_no_more_statements_than_the_whole_store(name: str, path: Path) -> None:
    with opened(path) as store:
        things = fill(store, DEFAULT_TENANT, "my")
    look = LOOKS[name]
    whole = statements(path, lambda store: look(store, things))
    assert statements(path, lambda store: look(store.of(DEFAULT_TENANT), things)) == whole


def test_rf4_a_number_of_nowhere_costs_one_statement_once(path: Path) -> None:
    with opened(path) as store:
        things = fill(store, DEFAULT_TENANT, "my")

    def look(store: SqliteStore) -> None:
        own = store.of(DEFAULT_TENANT)
        for _ in range(3):
            own.states(things.deployment)

    assert statements(path, look) == statements(path, lambda store: [store.states(1) for _ in range(3)]) + 1


def test_a_tenant_writes_as_the_owner_if_this_process_owns_the_store(path: Path) -> None:
    with opened(path) as store, store.own("a test"):
        own = store.of("acme")
        assert own.is_owner
        _, run = a.installed(own)
        assert own.requests_of(run) == [], "the owner starts it itself"


def test_rf4_each_request_of_a_tenant_gets_the_same_part(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        assert store.of("acme") is store.of("acme")
        assert (store.of("acme").tenant, store.of("other").tenant) == ("acme", "other")


def test_rf4_a_tenant_is_alone_until_the_process_asks_for_another(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        first = store.of("acme")
        assert first.is_alone
        assert not store.of("other").is_alone
        assert not first.is_alone


def test_rf4_parts_are_bounded(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        first = store.of("acme")
        for number in range(whole_store.MOST_TENANTS):
            store.of(f"tenant-{number}")
        assert store.of("acme") is not first


def test_rf4_a_part_that_is_still_in_use_forgets_what_was_undone(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        first = store.of("acme")
        for number in range(whole_store.MOST_TENANTS):
            store.of(f"tenant-{number}")
        made: list[int] = []

        def fail() -> None:
            with first.as_one():
                made.append(first.create_deployment(a.deployment())[0])
                first.labels.add(made[0], [])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert made == [store.of("other").create_deployment(a.deployment())[0]], "the number is given again"
        assert first.documents(made[0]) == {}
        with pytest.raises(LookupError):
            first.topology(made[0])
