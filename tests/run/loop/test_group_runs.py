"""Runs over groups in one engine: limits, stops and requests about all executions, also after a kill (GR3, GR4, GR7)."""

from __future__ import annotations

import pytest
from tests.run.engines import ANN, Called, Station

from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.groups import NO_LIMIT, RUN, NewGroupRun, RunRow
from phaseline.model.rows.rows import ExecutionRow, NewExecution, RequestKind
from phaseline.testing.builders import node

NODE = node("web", create="bulk_again.create", start="bulk_again.start")
QUEUED, RUNNING, FAILED = ExecutionStatus.QUEUED, ExecutionStatus.RUNNING, ExecutionStatus.FAILED
COMPLETED, CANCELED = ExecutionStatus.COMPLETED, ExecutionStatus.CANCELED


class Grouped(Station):
    """A station on which workflows run over groups of deployments."""

    run: RunRow
    rows: list[ExecutionRow]

    def begin(self, count: int, *, concurrency: int = NO_LIMIT, stop_failures: int = NO_LIMIT) -> None:
        """Store a run over so many deployments, and ask the engine to take it up."""
        deployments = [self.deployment(NODE, name=f"shop-{at:03}") for at in range(count)]
        new = NewGroupRun(1, "shops", "install", concurrency, stop_failures)
        self.run = self.store.group_runs.begin(new, ANN)
        request = Request("install", retries=RetryPolicy(0, 15.0), group_run=self.run.number)
        self.rows = [
            self.store.create_execution(
                NewExecution(
                    number, request, ANN, self.clock.now(), cause=CauseKey("group", self.run.number, str(number))
                ),
                asks=False,
            )
            for number in deployments
        ]
        self.ask("start")

    def ask(self, what: str, **others: str) -> dict[str, object]:
        """Send a request about the run, and return its answer."""
        number = self.store.ask(RequestKind.START, 0, {RUN: self.run.number, "do": what, **others}, ANN)
        self.engine._door.look()
        self.engine.turn()
        self.settle()
        answer = self.store.answer_of(number)
        assert answer is not None
        return dict(answer)

    def limit(self, concurrency: int, *, is_paused: bool = False) -> None:
        """Change how many executions may be open, as a command does."""
        changed = self.store.group_runs.change(self.run, concurrency=concurrency, is_paused=is_paused)
        assert changed is not None
        self.run = changed
        self.ask("renew")

    def recover(self) -> None:
        self.engine.recover()
        self.engine.turn()
        self.settle()

    def count(self, *statuses: ExecutionStatus) -> int:
        return sum(status in statuses for status in self.store.group_runs.statuses(self.run).values())

    @property
    def open(self) -> set[int]:
        """The executions of which a call is out."""
        return {one.execution for one in self.called()}

    def fail(self, one: Called) -> None:
        self.answer(one, OutcomeKind.FAILED)


@pytest.fixture
def station() -> Grouped:
    return Grouped(slots={"threads": 64, "workers": 4, "bulk": 4})


def test_gr4_without_a_limit_all_begin_together_and_share_their_calls(station: Grouped) -> None:
    station.begin(50)
    assert len(station.open) == 50
    (batch,) = station.executor.batches.values()
    assert len(batch) == 50
    station.complete_all()
    assert station.count(COMPLETED) == 50


def test_a41_never_more_than_five_are_open(station: Grouped) -> None:
    station.begin(20, concurrency=5)
    seen = 0
    while out := station.called():
        assert len(station.open) <= 5
        assert station.count(RUNNING) <= 5
        seen = max(seen, len(station.open))
        station.answer(out[0])
    assert (seen, station.count(COMPLETED)) == (5, 20)


def test_a41_the_limit_is_raised_and_lowered_while_it_runs(station: Grouped) -> None:
    station.begin(20, concurrency=2)
    station.limit(7)
    assert station.count(RUNNING) == 7
    station.limit(1)
    assert station.count(RUNNING) == 7
    while station.count(COMPLETED) < 7:
        station.answer(station.called()[0])
    assert station.count(RUNNING) == 1
    station.limit(NO_LIMIT)
    assert station.count(RUNNING) == 13
    station.complete_all()
    assert station.count(COMPLETED) == 20


def test_a41_zero_and_a_pause_begin_nothing(station: Grouped) -> None:
    station.begin(3, concurrency=0)
    assert (station.open, station.count(QUEUED), station.engine.is_idle) == (set(), 3, True)
    station.limit(2)
    assert len(station.open) == 2
    station.limit(2, is_paused=True)
    station.complete_all()
    assert (station.count(COMPLETED), station.count(QUEUED)) == (2, 1)
    station.limit(2)
    station.complete_all()
    assert station.count(COMPLETED) == 3


def test_a42_after_more_failures_than_allowed_the_rest_is_canceled_and_what_runs_is_awaited(station: Grouped) -> None:
    station.begin(20, concurrency=5, stop_failures=3)
    for _ in range(4):
        station.fail(station.called()[0])
    assert (station.count(FAILED), station.count(RUNNING)) == (4, 4)
    station.complete_all()
    assert (station.count(FAILED), station.count(COMPLETED), station.count(CANCELED)) == (4, 4, 12)


def test_a42_failures_are_counted_over_a_kill(station: Grouped) -> None:
    station.begin(10, concurrency=2, stop_failures=1)
    station.fail(station.called()[0])
    station.crash()
    station.recover()
    assert len(station.open) == 2
    station.fail(station.called()[0])
    station.complete_all()
    assert (station.count(FAILED), station.count(COMPLETED), station.count(CANCELED)) == (2, 1, 7)


def test_a42_a_stop_that_a_kill_interrupted_is_finished(station: Grouped) -> None:
    station.begin(4, concurrency=2, stop_failures=0)
    one = station.called()[0]
    station.answered.add((one.batch, one.member))
    station.inbox.post(station.report(one, OutcomeKind.FAILED))
    while station.count(FAILED) == 0:
        station.engine.turn()  # the turn that stores the failure; what it leads to is lost
    station.crash()
    station.recover()
    station.complete_all()
    assert (station.count(FAILED), station.count(COMPLETED), station.count(CANCELED)) == (1, 1, 2)


@pytest.mark.parametrize("answers", range(0, 20, 3))
def test_a39_a_kill_at_any_moment_calls_nothing_twice_and_keeps_the_limit(station: Grouped, answers: int) -> None:
    station.begin(10, concurrency=3)
    done: list[tuple[int, int]] = []
    for _ in range(answers):
        one = station.called()[0]
        done.append((one.graph, one.position))
        station.answer(one)
    station.crash()
    station.recover()
    assert len(station.open) <= 3
    while out := station.called():
        assert len(station.open) <= 3
        done.append((out[0].graph, out[0].position))
        station.answer(out[0])
    assert station.count(COMPLETED) == 10
    assert len(done) == len(set(done)) == 20


def test_a40_only_what_failed_is_called_again(station: Grouped) -> None:
    station.begin(10)
    first, *others = station.called()
    station.fail(first)
    for one in others:
        station.answer(one)
    station.complete_all()
    assert (station.count(FAILED), station.count(COMPLETED)) == (1, 9)
    assert station.ask("retry", only="canceled") == {"done": True, "count": 0, "refused": []}
    assert station.ask("retry", only="failed") == {"done": True, "count": 1, "refused": []}
    assert [(one.execution, one.phase, one.generation) for one in station.called()] == [(first.execution, "create", 1)]
    station.complete_all()
    assert station.count(COMPLETED) == 10


def test_gr7_a_retry_after_a_kill_keeps_what_completed(station: Grouped) -> None:
    station.begin(3)
    first, *others = station.called()
    station.fail(first)
    for one in others:
        station.answer(one)
    station.complete_all()
    station.crash()
    station.recover()
    assert station.called() == []
    assert station.ask("retry")["count"] == 1
    assert [one.execution for one in station.called()] == [first.execution]
    station.complete_all()
    assert station.count(COMPLETED) == 3


def test_gr7_an_execution_that_cannot_go_on_is_told_and_the_others_go_on(station: Grouped) -> None:
    station.begin(2)
    for one in station.called():
        station.fail(one)
    station.store.delete_deployment(station.rows[0].deployment)
    answer = station.ask("retry")
    assert answer["count"] == 1
    assert "shop-000" in str(answer["refused"])
    assert station.open == {station.rows[1].number}


def test_a44_a_cancel_cancels_what_waits_and_what_runs(station: Grouped) -> None:
    station.begin(10, concurrency=3)
    assert station.ask("cancel") == {"done": True}
    for one in station.called():
        station.answer(one)
    assert station.called() == []
    assert station.count(CANCELED) == 10


def test_gr7_one_execution_that_waits_is_canceled_alone(station: Grouped) -> None:
    station.begin(3, concurrency=1)
    station.engine.cancel(station.rows[1].number)
    station.settle()
    assert station.status(station.rows[1]) is CANCELED
    station.complete_all()
    assert (station.count(COMPLETED), station.count(CANCELED)) == (2, 1)


def test_gr7_a_request_about_no_run_is_answered(station: Grouped) -> None:
    number = station.store.ask(RequestKind.START, 0, {RUN: 9, "do": "start"}, ANN)
    station.engine._door.look()
    station.engine.turn()
    assert station.store.answer_of(number) == {"done": False}
