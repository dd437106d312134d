"""Each list of the client asks a store at most six times, with a hundred deployments as with ten thousand (RF5, BG6)."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import pytest
from tests.store.builders import FakeClock
from tests.store.postgres_server import new_schema
from tests.use_cases.many_deployments import fill

import phaseline
from phaseline.client.operations import TABLE
from phaseline.model.problems.problem import ProblemsError
from phaseline.store import open_store
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.use_cases.queries.executions import ExecutionFilter
from phaseline.use_cases.queries.resources.selection import ResourceSelector
from phaseline.use_cases.tools import completion

MOST = 6
FEW, MANY = 100, 10_000
PAGE = 50


class Named(NamedTuple):
    """What some lists are about: a deployment that is installed, one in which something failed, and what is in them."""

    deployment: str
    execution: str
    failed: str
    waiting: str
    resource: str


Arguments = Callable[[Named], dict[str, object]]


def nothing(_: Named) -> dict[str, object]:
    return {}


def a_page(_: Named) -> dict[str, object]:
    return {"limit": PAGE}


LISTS: Mapping[str, tuple[Arguments, ...]] = {
    "status": (nothing,),
    "blueprints.list": (nothing,),
    "deployments.list": (
        nothing,
        a_page,
        lambda _: {"status": "good", "limit": PAGE},
        lambda _: {"text": "SHOP-0000", "limit": PAGE},
        lambda _: {"rules": ["env!=prod", "id starts-with shop", "site_name is not empty"], "limit": PAGE},
        lambda _: {"where": 'status == "good" && installation_status == "active"', "limit": PAGE},
        lambda _: {"where": 'instance_count > 1 && labels.env == "x"', "limit": PAGE},
        lambda _: {"where": 'deployment_status == "requires_attention"', "limit": PAGE},
    ),
    "deployments.tree": (lambda some: {"name": some.deployment},),
    "deployments.drift": (nothing, lambda _: {"rules": ["env is null"]}),
    "environments.list": (nothing, lambda _: {"where": "sub_services_count > 0"}),
    "filters.list": (nothing,),
    "sites.list": (nothing,),
    "deployments.history": (lambda some: {"name": some.deployment}, lambda some: {"name": some.failed}),
    "executions.list": (
        nothing,
        a_page,
        lambda some: {"deployment": some.failed},
        lambda _: {"wanted": ExecutionFilter(status="failed"), "limit": PAGE},
        lambda _: {"rules": ["env is null", "installation_status=active"], "limit": PAGE},
        lambda _: {"where": 'workflow == "install" && attempt > 0', "limit": PAGE},
    ),
    "executions.logs": (lambda some: {"id": some.execution}, lambda some: {"id": some.execution, "limit": PAGE}),
    "executions.events": (lambda some: {"id": some.execution}, lambda some: {"deployment": some.failed, "limit": PAGE}),
    "executions.event_pages": (lambda some: {"id": some.execution, "limit": PAGE},),
    "executions.timeline": (lambda some: {"id": some.execution}, lambda some: {"deployment": some.failed}),
    "plans.list": (nothing, lambda some: {"deployment": some.deployment}),
    "snapshots.list": (nothing, lambda some: {"deployment": some.deployment}),
    "abandoned.list": (nothing,),
    "breakpoints.list": (nothing,),
    "breakpoints.kept": (nothing,),
    "instances.list": (
        nothing,
        a_page,
        lambda some: {"deployment": some.deployment},
        lambda _: {"node": "app", "state": "started", "limit": PAGE},
    ),
    "instances.why": (lambda some: {"id": some.waiting}, lambda some: {"id": some.waiting, "deployment": some.failed}),
    "instances.stuck": (nothing, lambda some: {"deployment": some.failed, "limit": PAGE}),
    "resources.list": (lambda _: {"choice": ResourceSelector(), "limit": PAGE},),
    "phases.list": (nothing,),
    "plugins.list": (nothing,),
    "plugins.packages": (nothing,),
    "plugins.enabled": (lambda some: {"name": some.deployment},),
    "hooks.list": (nothing,),
    "schedules.list": (nothing, lambda some: {"deployment": some.deployment}),
    "secrets.list": (nothing,),
    "engine.status": (nothing,),
    "completion.names": tuple(lambda _, kind=kind: {"kind": kind, "beginning": ""} for kind in completion.KINDS),
}
"""{operation: arguments with which its statements are counted}"""
NO_LISTS = frozenset({
    "blueprints.validate", "blueprints.plan", "blueprints.show", "blueprints.merge", "blueprints.diff",
    "blueprints.explain", "blueprints.graph", "deployments.show", "deployments.find", "deployments.compute",
    "deployments.graph", "deployments.export", "deployments.dependencies", "executions.show", "executions.stream_logs", "executions.stream_events",
    "executions.follow", "executions.tail", "plans.adopt", "plans.show", "snapshots.show", "snapshots.plan_restore",
    "abandoned.show", "instances.show", "resources.export", "resources.show", "resources.history", "resources.why",
    "phases.show", "plugins.show", "plugins.show_any", "plugins.show_package", "plugins.order", "hooks.show",
    "schedules.show", "schedules.preview", "schedules.history", "secrets.show", "store.check", "filters.show", "sites.show",
})  # fmt: skip
"""Queries about one thing, or that read a whole store on purpose."""


class Filled(NamedTuple):
    """A store with many deployments."""

    url: str
    some: Named


def filled(url: str, count: int) -> Filled:
    store = open_store(url, FakeClock())
    fill(store, count)
    store.close()
    with phaseline.open(url) as opened:
        failed = opened.deployments.list(status="requires_attention", limit=1).items[0].name
        waiting = opened.instances.list(deployment=failed).items[0].id
        execution = opened.executions.list(deployment=failed).items[0].id
        return Filled(url, Named("shop-00001", execution, failed, waiting, "cluster-00000-0"))


KINDS = [
    pytest.param(("sqlite", FEW), id="sqlite-100"),
    pytest.param(("sqlite", MANY), id="sqlite-10000", marks=pytest.mark.slow),
    pytest.param(("postgresql", FEW), id="postgresql-100", marks=pytest.mark.postgres),
    pytest.param(("postgresql", MANY), id="postgresql-10000", marks=[pytest.mark.postgres, pytest.mark.slow]),
]


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Filled:
    kind, count = request.param
    file = tmp_path_factory.mktemp("many") / "store.db"
    return filled(f"sqlite:///{file}" if kind == "sqlite" else new_schema(), count)


def statements(connection: Any) -> Iterator[Callable[[], list[str]]]:
    """Gives a function that returns the statements of a connection so far, without the ends of transactions."""
    if isinstance(connection, PostgresConnection):
        with TemporaryFile("w+") as file:
            connection._db.pgconn.trace(file.fileno())  # what the client has sent, as its library has seen it
            yield lambda: re.findall(r"\tF\t\d+\t(?:Query|Execute)\t(.*)", Path(f"/dev/fd/{file.fileno()}").read_text())
            connection._db.pgconn.untrace()
    else:
        said: list[str] = []
        connection.set_trace_callback(said.append)
        yield lambda: said
        connection.set_trace_callback(None)


def asked(url: str, operation: str, arguments: Mapping[str, object]) -> list[str]:
    """The statements of one operation of a new client, without the beginnings and ends of transactions."""
    module, _, name = TABLE[operation].target.partition(":")
    target = getattr(import_module(module), name)
    with phaseline.open(url) as opened, contextmanager(statements)(opened.ctx.store.connections.reader()) as said:
        target(opened.ctx, **arguments)
        return [text for text in said() if not re.match(r' ?"?(begin|rollback|commit)', text, re.IGNORECASE)]


@pytest.mark.parametrize("operation", LISTS)
def test_rf5_bg6_a_list_asks_six_times_at_most(store: Filled, operation: str) -> None:
    for arguments in LISTS[operation]:
        told = asked(store.url, operation, arguments(store.some))
        assert len(told) <= MOST, told


def test_rf5_every_query_of_the_client_is_a_list_or_none() -> None:
    queries = {name for name, operation in TABLE.items() if operation.kind == "query"}
    assert LISTS.keys() | NO_LISTS == queries
    assert not LISTS.keys() & NO_LISTS


def test_rf5_why_reads_no_topology_of_another_deployment(tmp_path: Path) -> None:
    url, some = filled(f"sqlite:///{tmp_path / 'store.db'}", 20)
    with closing(sqlite3.connect(tmp_path / "store.db")) as db, db:
        db.execute(
            "update topology set nodes = '{' where deployment <> (select number from deployment where name = ?)",
            (some.failed,),
        )
    with phaseline.open(url) as opened:
        assert opened.instances.why(some.waiting).deployment == some.failed
        with pytest.raises(ProblemsError, match=r"PL-S003|damaged"):
            opened.deployments.show(some.deployment)
