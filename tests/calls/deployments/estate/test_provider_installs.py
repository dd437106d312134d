"""DP12: an install waits for the open installs of what its deployment reads."""

from pathlib import Path

import pytest
from tests.run.engines import ANN, Station
from tests.run.loop.test_follow_ups import AGAIN, LONG_MS, OUTER, executions_of, run, why
from tests.use_cases.estates import ASKS, NET, Files, properties

from phaseline.calls.deployments.estate.provider_installs import (
    NO_READS,
    InstallReads,
    awaited_install,
    reads_of_install,
)
from phaseline.model.blueprint.labels import PARENT_LABEL, Label
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.rows.dependencies import Dependency
from phaseline.model.rows.rows import NewExecution
from phaseline.testing.builders import node
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

READS_NET = Dependency("capability", "nodes.web.properties.seen", '{"get_capability":["net","address"]}', "net")
NET_NODE, WEB = node("router", create="each_again.create"), node("web", create="each_again.create")


@pytest.fixture
def station() -> Station:
    """``net`` is deployment 1; ``web`` is 2 and reads it."""
    found = Station()
    found.deployment(NET_NODE, name="net")
    found.deployment(WEB, name="web")
    found.store.dependencies.replace(2, [READS_NET])
    return found


def test_a33_an_install_waits_for_the_install_of_its_provider_and_says_so(station: Station) -> None:
    provider = station.submit(1)
    consumer = station.submit(2)
    assert station.names() == [("create", "router_1")]
    assert station.status(consumer) is ExecutionStatus.QUEUED
    assert awaited_install(station.store, station.row(consumer)) == station.row(provider)
    station.complete("create", "router_1")
    assert station.status(provider) is ExecutionStatus.COMPLETED
    assert station.names() == [("create", "web_1")]
    told = station.events(consumer)[0].message
    assert told == f"Waiting for {provider.id}: the provider 'net' is being installed"


def test_dp12_the_wait_needs_no_look_at_the_store_and_survives_a_crash(station: Station) -> None:
    station.submit(1)
    consumer = station.submit(2)
    turns = station.turns
    station.settle()
    assert station.turns == turns
    station.crash()
    station.engine.recover()
    station.settle()
    assert station.engine.claims.waiting == {consumer.number: 1}
    station.complete_all()
    assert station.status(consumer) is ExecutionStatus.COMPLETED


@pytest.mark.parametrize(
    ("workflow", "fields"), [("install", {"if_busy": "force"}), ("check_status", {}), ("uninstall", {})]
)
def test_dp12_with_force_and_in_other_workflows_nothing_waits(station: Station, workflow: str, fields: dict) -> None:
    station.submit(1)
    consumer = station.submit(2, workflow, **fields)
    assert station.status(consumer) is not ExecutionStatus.QUEUED
    assert awaited_install(station.store, station.row(consumer)) is None


def test_dp12_only_installs_of_the_provider_are_awaited(station: Station) -> None:
    station.submit(1)
    station.complete_all()
    station.submit(1, "check_status")
    assert station.status(station.submit(2)) is ExecutionStatus.RUNNING


def test_dp12_a_failed_or_canceled_install_of_the_provider_ends_the_wait(station: Station) -> None:
    provider = station.submit(1)
    consumer = station.submit(2)
    station.engine.cancel(provider.number, "force")
    station.settle()
    assert station.status(consumer) is ExecutionStatus.QUEUED  # what still runs may yet write values
    station.complete("create", "router_1")
    assert station.status(consumer) is ExecutionStatus.RUNNING


def test_dp12_a_waiting_consumer_can_be_canceled(station: Station) -> None:
    station.submit(1)
    consumer = station.submit(2)
    station.engine.cancel(consumer.number)
    station.settle()
    assert station.status(consumer) is ExecutionStatus.CANCELED
    assert not station.engine.claims.waiting


def test_dp12_whoever_queues_behind_a_waiting_consumer_comes_after_it(station: Station) -> None:
    station.submit(1)
    first = station.submit(2)
    new = NewExecution(2, Request("restart"), ANN, station.clock.now())
    second = station.store.create_execution(new, beside=lambda _other: True)
    station.engine.submit(second)
    assert list(station.engine.claims.chain(second.number)) == [first.number, 1]
    station.complete_all()
    ended = [station.row(row).ended_at for row in (first, second)]
    assert ended == sorted(ended)
    assert all(station.status(row) is ExecutionStatus.COMPLETED for row in (first, second))


def test_dp12_an_install_does_not_wait_for_the_install_that_has_made_it(station: Station) -> None:
    """An inner deployment may read the capabilities of its environment, which is being installed until the inner is."""
    outer = station.submit(station.deployment(OUTER, name="outer"))
    reads = Dependency("environment", "nodes.web.properties.seen", '{"get_environment_capability":"address"}')
    station.store.dependencies.replace(2, [reads])
    station.store.labels.add(2, [Label(PARENT_LABEL, "outer")])
    (one,) = station.called()
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, 2))
    (made,) = executions_of(station, 2)
    assert station.status(made) is ExecutionStatus.RUNNING
    assert reads_of_install(station.store, made).around == {outer.number}
    assert awaited_install(station.store, made) is None
    station.crash()
    station.engine.recover()
    station.settle()
    station.complete("create", "web_1")
    assert station.status(made) is ExecutionStatus.COMPLETED


def test_bb4_dp12_a_circle_over_a_provider_is_refused(station: Station) -> None:
    """``net`` would await the outer one, which would await an install that waits for the install of ``net``."""
    outer = station.submit(station.deployment(OUTER, name="outer"))
    provider = station.submit(station.deployment(node("a", create="each_again.create"), name="other"))
    station.store.dependencies.replace(2, [READS_NET._replace(provider="other")])
    one, a = station.find("create", "db_1"), station.find("create", "a_1")
    follow_up = run(station, a, outer.deployment)
    station.answer(a, AGAIN, delay_ms=LONG_MS, follow_up=type(follow_up)(awaits=(outer.number,)))
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, 2))
    assert station.entry(one) is EntryStatus.FAILED
    assert (
        f"PL-C110 executions would wait for each other in a circle: {outer.id} of outer → {provider.id} of other"
        in (why(station, one))
    )
    assert not executions_of(station, 2)


def test_dp12_what_reads_nothing_waits_for_nothing(station: Station) -> None:
    row = station.stored(1)
    assert reads_of_install(station.store, row) == NO_READS
    own = [READS_NET, READS_NET._replace(provider="gone"), READS_NET._replace(kind="parent", provider="web")]
    station.store.dependencies.replace(1, own)
    assert reads_of_install(station.store, row) == NO_READS  # itself, nobody, and a parent of which it reads nothing
    station.store.dependencies.replace(1, [READS_NET._replace(provider="", number=2)])
    assert reads_of_install(station.store, row) == InstallReads(frozenset({2}))


def test_a33_dp11_the_value_is_read_when_it_is_there_and_why_names_the_provider(tmp_path: Path) -> None:
    files = Files(tmp_path)
    with files.open() as client:
        client.deployments.create(files.write("net", NET), "net")
        client.deployments.create(files.write("app", ASKS), "app")
        provider = start(client.ctx, WorkflowStart("install", "net"))  # stored; no engine runs yet
        consumer = start(client.ctx, WorkflowStart("install", "app"))
        assert client.executions.show(consumer.row.id).waits_for == provider.row.id
        (listed,) = client.executions.list(deployment="app").items
        assert listed.waits_for == provider.row.id
        (instance,) = client.instances.list(deployment="app").items
        told = str(client.instances.why(instance.id))
        assert f"waits for {provider.row.id} (queued), which installs the provider 'net' that it reads" in told
        assert client.executions.resume(consumer.row.id).status == "completed"
        assert properties(client, "app")["said"] == "10.0.0.1"
