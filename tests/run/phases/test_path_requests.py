"""What users do with resources on their way: retry, complete, rerun, wake, edit, pause (phases.md, sections 4, 6.6 and X11)."""

from types import SimpleNamespace

from tests.run.engines import ANN
from tests.run.yard import Yard, phase

from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import NewExecution, RequestKind
from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot
from phaseline.use_cases.queries.resources.history import history

FAILED, AGAIN = OutcomeKind.FAILED, OutcomeKind.AGAIN
RETRY, COMPLETE, RERUN, WAKE = RequestKind.RETRY, RequestKind.COMPLETE, RequestKind.RERUN, RequestKind.WAKE


def data(phase: str, **values: object) -> dict:
    """What a run of the phase keeps with its resource."""
    return {"\0phases": {phase: values}}


def test_p47_a_retry_clears_what_the_phase_kept() -> None:
    yard = Yard(phase("X"))
    row = yard.start("a")
    yard.answer(yard.find("X", "a"), FAILED, message="no", properties=data("X", Directory="/tmp/1"))
    assert yard.data("a", "X") == {"Directory": "/tmp/1"}
    yard.about(RETRY, "X", "a")
    assert (yard.stay("a"), yard.data("a", "X"), yard.message("a", "X")) == ({"X": "running"}, None, "")
    assert [event.type for event in yard.events(row)][-1] == "phase_retried"


def test_p48_one_of_two_failed_phases_is_retried_and_the_resource_stays() -> None:
    yard = Yard(phase("X"), phase("Y"))
    row = yard.start("a")
    for name in "XY":
        yard.answer(yard.find(name, "a"), FAILED, message="no")
    yard.about(RETRY, "X", "a")
    yard.complete("X", "a")
    assert (yard.stay("a"), yard.state("a")) == ({"X": "completed", "Y": "failed"}, "Allocation")
    assert yard.status(row) is ExecutionStatus.FAILED


def test_p49_both_are_retried_and_the_state_is_left() -> None:
    yard = Yard(phase("X"), phase("Y"))
    row = yard.start("a")
    for name in "XY":
        yard.answer(yard.find(name, "a"), FAILED, message="no")
    yard.ask(RETRY, row)
    for name in "XY":
        yard.complete(name, "a")
    assert (yard.state("a"), yard.status(row)) == ("Started", ExecutionStatus.COMPLETED)


def test_p50_a_retry_leaves_alone_who_sleeps_in_the_same_phase() -> None:
    yard = Yard(phase("X"))
    yard.start("a", "b")
    yard.answer(yard.find("X", "a"), FAILED, message="no")
    yard.answer(yard.find("X", "b"), AGAIN, delay_ms=60_000, properties=data("X", Directory="/tmp/b"))
    due = yard.engine.wakes_at
    yard.about(RETRY, "X", "a")
    assert (yard.stay("a"), yard.stay("b")) == ({"X": "running"}, {"X": "sleeping"})
    assert (yard.data("b", "X"), yard.engine.wakes_at) == ({"Directory": "/tmp/b"}, due)


def test_p51_a_retry_of_what_completed_changes_nothing() -> None:
    yard = Yard(phase("X"), phase("Y"))
    yard.start("a")
    yard.answer(yard.find("X", "a"), properties=data("X", Directory="/tmp/1"))
    yard.about(RETRY, "X", "a")
    assert yard.answer_to["problem"]["code"] == "PL-C014"
    assert (yard.stay("a"), yard.data("a", "X")) == ({"X": "completed", "Y": "running"}, {"Directory": "/tmp/1"})


def test_p52_a_retry_with_changed_attributes_sees_them() -> None:
    yard = Yard(phase("X"))
    yard.start("a", Size=1)
    yard.answer(yard.find("X", "a"), FAILED, message="too small")
    yard.about(RETRY, "X", "a", edits=[{"instance": 0, "written": [[["Size"], 9]], "removed": []}])
    assert (yard.stay("a"), yard.document_of("a")) == ({"X": "running"}, {"Size": 9})


def test_a_retry_in_one_state_leaves_those_in_another_state_alone() -> None:
    yard = Yard(phase("X"), phase("Next", "Configuration"))
    row = yard.start("a", "b")
    yard.complete("X", "a")
    yard.answer(yard.find("X", "b"), FAILED, message="no")
    yard.answer(yard.find("Next", "a"), AGAIN, delay_ms=60_000)
    yard.about(RETRY, "X", "b")
    assert (yard.stay("a"), yard.stay("b")) == ({"Next": "sleeping"}, {"X": "running"})
    yard.complete("X", "b")
    yard.complete("Next", "b")
    yard.pass_time(60)
    yard.complete("Next", "a")
    assert yard.status(row) is ExecutionStatus.COMPLETED


def test_a_retry_after_the_end_and_a_crash_keeps_all_stays() -> None:
    yard = Yard(phase("X"), phase("Next", "Configuration"))
    row = yard.start("a", "b")
    yard.complete("X", "a")
    yard.answer(yard.find("X", "b"), FAILED, message="no")
    yard.answer(yard.find("Next", "a"), FAILED, message="no")
    assert yard.status(row) is ExecutionStatus.FAILED
    yard.crash()
    yard.ask(RETRY, row)
    assert sorted(yard.names()) == [("Next", "a"), ("X", "b")]
    yard.complete_all()
    assert (yard.state("a"), yard.state("b"), yard.status(row)) == ("Started", "Started", ExecutionStatus.COMPLETED)


def test_what_was_canceled_goes_on_by_a_retry_but_not_who_was_given_another_target() -> None:
    yard = Yard(phase("X"))
    row = yard.start("a", "b")
    yard.reach("Terminated", "b")
    yard.ask(RequestKind.CANCEL, row)
    for one in yard.called():
        yard.answer(one)
    assert yard.status(row) is ExecutionStatus.CANCELED
    yard.ask(RETRY, row)
    assert (yard.names(), yard.state("b")) == ([("X", "a")], "Terminated")
    yard.complete("X", "a")
    assert (yard.state("a"), yard.status(row)) == ("Started", ExecutionStatus.COMPLETED)


def test_t18_a_user_vouches_for_a_phase_and_the_resource_goes_on() -> None:
    yard = Yard(phase("X"), phase("Y", "Allocation", "X"))
    row = yard.start("a")
    yard.answer(yard.find("X", "a"), FAILED, message="no")
    yard.about(COMPLETE, "X", "a", reason="done by hand")
    assert yard.stay("a") == {"X": "completed", "Y": "running"}
    yard.answer(yard.find("Y", "a"), AGAIN, delay_ms=60_000)
    yard.about(COMPLETE, "Y", "a", reason="so is that")
    assert (yard.state("a"), yard.status(row)) == ("Started", ExecutionStatus.COMPLETED)
    told = yard.events(row, "phase_completed_by_hand")
    assert [(event.operation, event.message, event.actor) for event in told] == [
        ("X", "done by hand", "ann"),
        ("Y", "so is that", "ann"),
    ]


def test_t18_what_is_blocked_by_a_failure_is_vouched_for() -> None:
    yard = Yard(phase("X"), phase("Y", "Allocation", "X"))
    row = yard.start("a")
    yard.answer(yard.find("X", "a"), FAILED, message="no")
    yard.about(COMPLETE, "Y", "a", reason="not needed")
    assert yard.stay("a") == {"X": "failed", "Y": "completed"}
    yard.about(COMPLETE, "X", "a", reason="nor that")
    assert yard.status(row) is ExecutionStatus.COMPLETED


def test_t19_a_completed_phase_is_run_again_while_the_state_is_not_left() -> None:
    yard = Yard(phase("X"), phase("Y"), phase("Z", "Allocation", "X"))
    row = yard.start("a")
    yard.answer(yard.find("X", "a"), properties=data("X", Directory="/tmp/1"))
    yard.answer(yard.find("Z", "a"), AGAIN, delay_ms=60_000)
    yard.about(RERUN, "X", "a")
    assert yard.stay("a") == {"X": "running", "Y": "running", "Z": "blocked"}
    assert yard.data("a", "X") is None
    yard.complete_all()
    assert (yard.state("a"), yard.status(row)) == ("Started", ExecutionStatus.COMPLETED)


def test_t19_a_phase_is_run_again_though_its_execution_has_ended() -> None:
    yard = Yard(phase("X"), phase("Y"))
    row = yard.start("a")
    yard.complete("X", "a")
    yard.answer(yard.find("Y", "a"), FAILED, message="no")
    assert yard.status(row) is ExecutionStatus.FAILED
    yard.about(RERUN, "X", "a")
    assert (yard.stay("a"), yard.status(row)) == ({"X": "running", "Y": "failed"}, ExecutionStatus.RUNNING)


def test_t9_a_sleeper_is_woken() -> None:
    yard = Yard(phase("X"))
    yard.start("a", "b")
    for name in "ab":
        yard.answer(yard.find("X", name), AGAIN, delay_ms=60_000)
    yard.about(WAKE, "X", "a")
    assert yard.names() == [("X", "a")]


def test_p109_a_paused_phase_is_called_no_more_until_it_is_opened() -> None:
    yard = Yard(phase("X"), phase("Y"))
    yard.store.pause_phase("X", ANN, "an outage")
    yard.start("a")
    assert yard.names() == [("Y", "a")]
    yard.crash()
    assert yard.names() == [("Y", "a")]
    yard.store.unpause_phase("x")
    yard.ask(RequestKind.PAUSE, None, phase="X")
    assert sorted(yard.names()) == [("X", "a"), ("Y", "a")]


def test_an_edit_makes_a_phase_apply_before_the_state_is_left() -> None:
    yard = Yard(phase("X", constraint="Public"), phase("Y"))
    yard.start("a")
    assert yard.names() == [("Y", "a")]
    yard.edit("a", Public=True)
    assert sorted(yard.names()) == [("X", "a"), ("Y", "a")]


def test_t14_an_edit_takes_a_phase_out_that_was_not_called_yet() -> None:
    yard = Yard(phase("X", constraint="Public"), phase("Y"))
    yard.store.pause_phase("X", ANN, "later")
    yard.start("a", Public=True)
    assert yard.stay("a") == {"X": "waiting", "Y": "running"}
    yard.edit("a", Public=False)
    assert yard.stay("a")["X"] == "passed"
    yard.complete("Y", "a")
    assert yard.state("a") == "Started"


def test_some_resources_are_canceled_and_stay_where_they_are() -> None:
    yard = Yard(phase("X"))
    row = yard.start("a", "b")
    yard.answer(yard.find("X", "a"), AGAIN, delay_ms=60_000)
    yard.ask(RequestKind.CANCEL, row, subjects=[[0, 1]])
    yard.complete("X", "b")
    assert (yard.state("a"), yard.state("b"), yard.stay("a")) == ("Allocation", "Started", {"X": "canceled"})
    assert yard.row(row).reason == "1 of 2 resources have not reached Started: 1 in Allocation"


def test_resources_are_removed_when_nothing_of_them_runs_any_more() -> None:
    yard = Yard(phase("X"))
    yard.start("a", "b", Size=1)
    running = yard.find("X", "a")
    row = yard.reach("", "a")
    assert yard.state("a") == "Allocation"
    yard.answer(running, properties={"Late": 1})
    assert (yard.state("a"), yard.status(row)) == ("removed", ExecutionStatus.COMPLETED)


def test_a_target_that_was_asked_for_while_nobody_ran_takes_the_sleepers_along() -> None:
    """The request is stored, and the process that hears of it takes up the older execution at the same moment."""
    yard = Yard(phase("X"), phase("Stop", "Deconfiguration"))
    first = yard.start("a", "b")
    for name in "ab":
        yard.answer(yard.find("X", name), AGAIN, delay_ms=60_000)
    request = Request("reach", {"target": "Terminated", "subjects": [[0, 1]]})
    yard.store.create_execution(NewExecution(first.deployment, request, ANN, yard.clock.now()))
    yard.crash()
    assert (yard.stay("a"), yard.stay("b")) == ({"Stop": "running"}, {"X": "sleeping"})
    yard.pass_time(60)
    assert yard.names() == [("Stop", "a"), ("X", "b")]


def test_an_engine_is_idle_when_all_that_is_left_waits_for_a_paused_phase() -> None:
    yard = Yard(phase("X"), phase("Y"))
    yard.store.pause_phase("X", ANN, "an outage")
    yard.start("a")
    assert not yard.engine.is_idle
    yard.complete("Y", "a")
    assert yard.engine.is_idle
    yard.store.unpause_phase("X")
    yard.ask(RequestKind.PAUSE, None, phase="X")
    assert not yard.engine.is_idle


def test_a_phase_that_is_paused_after_a_crash_waits_and_can_be_completed() -> None:
    yard = Yard(phase("X"), phase("Y"))
    yard.start("a")
    yard.complete("Y", "a")
    yard.store.pause_phase("X", ANN, "hold on")
    yard.store.disown()
    assert standing(yard, "a") == {"X": EntryStatus.WAITING, "Y": EntryStatus.COMPLETED}, "no engine runs"
    yard.crash()
    assert yard.called() == []
    assert standing(yard, "a") == {"X": EntryStatus.WAITING, "Y": EntryStatus.COMPLETED}
    yard.about(RequestKind.COMPLETE, "X", "a", reason="done by hand")
    assert yard.state("a") == "Started"


def standing(yard: Yard, name: str) -> dict[str, EntryStatus]:
    """What the store says of the phases of a resource, as commands read it."""
    row = yard.store.deployment("lab")
    assert row is not None
    snapshot = ClusterSnapshot(yard.store, row)
    stay = snapshot.stay(snapshot.numbers[name])
    assert stay is not None
    return stay.statuses_of(snapshot.numbers[name])


def test_the_history_of_a_canceled_run_tells_what_counted() -> None:
    yard = Yard(phase("X"))
    yard.start("a")
    one = yard.find("X", "a")
    yard.clock.advance_to(yard.clock.now() + 1_000)
    yard.reach("Terminated", "a")
    yard.clock.advance_to(yard.clock.now() + 1_000)
    yard.answer(one)
    place = SimpleNamespace(store=yard.store)
    told = [(event.what, event.message) for event in history(place, "a", phases=["X"]).events]  # type: ignore[arg-type]  # only its store
    assert told == [
        ("Running", ""),
        ("Canceling", ""),
        ("Canceled", "the run ended as Completed, which does not count"),
    ]
