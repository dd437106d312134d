"""Scale by an engine: canceled, retried, aborted by another execution, beside others; nothing is called for who is gone."""

from tests.run.engines import ANN, Station

from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import ExecutionRow, NewExecution
from phaseline.testing.builders import node

LIFE = {"create": "each.create", "start": "each.start", "delete": "each.delete"}
NODES = (node("web", to=["db"], **LIFE), node("db", create="each.create"))
WEB = "scalable_entity_name"


def installed() -> tuple[Station, int]:
    station = Station()
    row = station.install(*NODES)
    station.complete_all()
    return station, row.deployment


def scale(station: Station, deployment: int, entity: str = "web", *, take_back: bool = False, **more) -> ExecutionRow:
    request = Request("scale", {WEB: entity, **more}, RetryPolicy(0, 1.0), take_back=take_back)
    row = station.store.create_execution(NewExecution(deployment, request, ANN, station.clock.now()))
    station.engine.submit(row)
    station.settle()
    return row


def there(station: Station, deployment: int) -> list[str]:
    made = station.store.topology(deployment)
    ids = [made.ids[number] for number in made.is_there.nonzero()[0].tolist()]
    return sorted(id.partition("_")[0] for id in ids)


def rounds(station: Station, row: ExecutionRow) -> list[str]:
    return [graph.name for graph in station.store.graphs(row.number)]


def test_w7_a_cancel_awaits_what_runs_and_takes_back_what_was_begun() -> None:
    station, deployment = installed()
    row = scale(station, deployment, delta=2)
    first, second = station.called()
    station.engine.cancel(row.number)
    station.settle()
    station.answer(first)
    assert station.called() == [second], "what runs is awaited, nothing new begins"
    station.answer(second)
    station.complete_all()
    assert station.status(row) is ExecutionStatus.CANCELED
    assert rounds(station, row) == ["begin web", "install web", "uninstall web", "take back web"]
    assert there(station, deployment) == ["db", "web"]
    assert list(station.states(row).values())[2:] == ["deleted", "deleted"]


def test_w8_what_another_execution_has_taken_back_begins_anew_when_it_is_retried() -> None:
    station, deployment = installed()
    first = scale(station, deployment, delta=1, rollback_if_failed=False)
    (call,) = station.called()
    station.answer(call, OutcomeKind.FAILED)
    assert station.status(first) is ExecutionStatus.FAILED
    second = scale(station, deployment, "db", delta=1, abort_started=True)
    station.complete_all()
    assert station.status(second) is ExecutionStatus.COMPLETED
    assert rounds(station, second)[:2] == ["uninstall web of scale-2", "abort web of scale-2"]
    station.engine.retry(station.row(first))
    station.settle()
    assert [one.phase for one in station.called()] == ["create"]
    assert station.called()[0].instance != call.instance, "who is gone is not called again"
    station.complete_all()
    assert station.status(first) is ExecutionStatus.COMPLETED
    assert there(station, deployment) == ["db", "db", "web", "web"]


def test_w8_a_retry_of_what_was_left_under_way_goes_on_with_it() -> None:
    station, deployment = installed()
    row = scale(station, deployment, delta=1, rollback_if_failed=False)
    (call,) = station.called()
    station.answer(call, OutcomeKind.FAILED)
    station.engine.retry(station.row(row))
    station.settle()
    assert station.called()[0].instance == call.instance
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert station.store.topology(deployment).started is None


def test_n8_a_second_one_fails_while_the_first_is_under_way() -> None:
    station, deployment = installed()
    scale(station, deployment, delta=1, rollback_if_failed=False)
    station.answer(station.called()[0], OutcomeKind.FAILED)
    row = scale(station, deployment, "db", delta=1)
    assert station.status(row) is ExecutionStatus.FAILED
    assert "PL-P043" in station.row(row).reason


def test_on_failure_rollback_takes_back_whatever_the_parameters_say() -> None:
    station, deployment = installed()
    row = scale(station, deployment, take_back=True, delta=1, rollback_if_failed=False)
    station.answer(station.called()[0], OutcomeKind.FAILED)
    station.complete_all()
    assert station.status(row) is ExecutionStatus.FAILED
    assert there(station, deployment) == ["db", "web"]
    assert station.store.topology(deployment).started is None


def test_n8_an_execution_beside_it_keeps_its_numbers() -> None:
    station, deployment = installed()
    reinstall = Request("reinstall", {"node_ids": ["db"]}, RetryPolicy(0, 1.0), if_busy="force")
    beside = station.store.create_execution(
        NewExecution(deployment, reinstall, ANN, station.clock.now()), beside=lambda _: True
    )
    station.engine.submit(beside)
    station.settle()
    request = Request("scale", {WEB: "web", "delta": 2}, RetryPolicy(0, 1.0), if_busy="force")
    row = station.store.create_execution(
        NewExecution(deployment, request, ANN, station.clock.now()), beside=lambda _: True
    )
    station.engine.submit(row)
    station.settle()
    assert len(station.called()) >= 3, "both run"
    station.complete_all()
    assert station.status(beside) is ExecutionStatus.COMPLETED
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert there(station, deployment) == ["db", "web", "web", "web"]
    assert set(station.states(row).values()) == {"started"}
