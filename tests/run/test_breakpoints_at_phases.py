"""H46: resources and nodes on paths that stop before or behind a phase, while others go on, until somebody clears it."""

import pytest
from tests.run.yard import Yard, installed, phase

from phaseline.model.execution.breakpoints import read_breakpoint
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import RequestKind

DAY_MS = 86_400_000
AGAIN, FAILED = OutcomeKind.AGAIN, OutcomeKind.FAILED
PRE, POST = "breakpoint pre-Create", "breakpoint post-Create"


def lined_up(*breaks: str, names: tuple[str, ...] = ("a", "b"), **fields: object) -> tuple[Yard, object]:
    """Create, then Tag that needs it and Look beside them; the next state has Start."""
    yard = Yard(
        phase("Create", **fields),
        phase("Tag", "Allocation", "Create"),
        phase("Look"),
        phase("Start", "Configuration"),
    )
    yard.add(*names)
    return yard, yard.reach("Started", *names, breaks=breaks)


def stop(yard: Yard, step: str, *names: str) -> None:
    """What stands there is answered as the product's own pause does."""
    for name in names:
        yard.answer(yard.find(step, name), AGAIN, delay_ms=DAY_MS)


def clear(yard: Yard, step: str, *names: str) -> None:
    yard.about(RequestKind.COMPLETE, step, *names, reason="seen")


def test_h46_who_is_named_stops_before_a_phase_and_others_go_on() -> None:
    yard, row = lined_up("pre-Create=a")
    assert sorted(yard.names()) == [("Create", "b"), ("Look", "a"), ("Look", "b"), (PRE, "a")]
    stop(yard, PRE, "a")
    for name, one in yard.names():
        yard.complete(name, one)
    yard.complete("Tag", "b")
    assert yard.names() == [("Start", "b")]
    assert yard.stay("a") == {PRE: "sleeping", "Create": "blocked", "Tag": "blocked", "Look": "completed"}
    clear(yard, PRE, "a")
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED
    assert {yard.state(name) for name in "ab"} == {"Started"}


def test_h46_behind_a_phase_who_needs_it_waits_and_the_state_is_not_left() -> None:
    yard, row = lined_up("post-create=*", names=("a",))
    yard.complete("Look", "a")
    yard.complete("Create", "a")
    step = "breakpoint post-create"
    assert yard.names() == [(step, "a")]
    stop(yard, step, "a")
    clear(yard, step, "a")
    assert yard.names() == [("Tag", "a")]
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED


def test_h46_where_the_phase_does_not_apply_nobody_stops_until_it_does() -> None:
    """Look sets what the constraint of Create asks for; so Create begins to apply, and so does what stands before it."""
    yard, _ = lined_up("pre-Create", "post-Create", names=("a",), constraint="Ready isnt undefined")
    assert yard.names() == [("Look", "a"), ("Tag", "a")]
    yard.complete("Tag", "a")
    yard.answer(yard.find("Look", "a"), properties={"Ready": True})
    assert yard.names() == [(PRE, "a")]
    yard.complete(PRE, "a")
    yard.complete("Create", "a")
    assert yard.names() == [(POST, "a")]
    yard.complete_all()
    assert yard.state("a") == "Started"


def test_h46_behind_a_phase_that_has_put_an_end_to_its_own_condition_it_stops_all_the_same() -> None:
    yard, _ = lined_up("post-Create", names=("a",), constraint="Ready is undefined")
    yard.answer(yard.find("Create", "a"), properties={"Ready": True})
    assert (POST, "a") in yard.names()


def test_h46_a_condition_that_cannot_be_asked_fails_the_phase_and_not_the_breakpoint() -> None:
    yard = Yard(phase("Create", constraint="Size > 3"))
    yard.add("a", Size={"deep": 1})
    yard.reach("Started", "a", breaks=["pre-Create", "post-Create"])
    assert yard.stay("a") == {PRE: "passed", "Create": "failed", POST: "skipped"}
    assert yard.message("a", PRE) == ""
    yard.edit("a", Size=5)
    yard.about(RequestKind.RETRY, "Create", "a")
    assert yard.names() == [("Create", "a")]
    yard.complete("Create", "a")
    assert yard.names() == [(POST, "a")]


def test_h46_one_that_failed_is_retried_or_vouched_for() -> None:
    yard, row = lined_up("pre-Create", names=("a", "b"))
    for name in "ab":
        yard.answer(yard.find(PRE, name), FAILED, message="breakpoint pre-Create was not cleared within 1 s")
    yard.complete("Look", "a")
    yard.complete("Look", "b")
    assert yard.status(row) is ExecutionStatus.FAILED
    yard.about(RequestKind.RETRY, PRE, "a")
    assert yard.names() == [(PRE, "a")]
    clear(yard, PRE, "b")
    assert sorted(yard.names()) == [("Create", "b"), (PRE, "a")]
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED


def test_h46_a_cancel_and_another_target_end_who_stands_there() -> None:
    yard, row = lined_up("pre-Create", names=("a", "b"))
    stop(yard, PRE, "a", "b")
    yard.complete("Look", "a")
    yard.complete("Look", "b")
    other = yard.reach("Terminated", "b")
    yard.complete_all()
    assert (yard.status(other), yard.state("b")) == (ExecutionStatus.COMPLETED, "Terminated")
    yard.ask(RequestKind.CANCEL, row, how="wait")
    assert (yard.status(row), yard.names()) == (ExecutionStatus.CANCELED, [])
    assert yard.stay("a")[PRE] == "canceled"


def test_h46_a_crash_forgets_nobody_who_stands_before_a_phase() -> None:
    yard, row = lined_up("pre-Create=a", names=("a",))
    stop(yard, PRE, "a")
    yard.crash()
    yard.complete("Look", "a")
    assert yard.names() == []
    clear(yard, PRE, "a")
    yard.complete_all()
    assert yard.status(row) is ExecutionStatus.COMPLETED


def test_h46_a_phase_that_is_loaded_late_is_stopped_at_too() -> None:
    yard, _ = lined_up("pre-Late", names=("a",))
    yard.source.phases.append(phase("Late"))
    yard.renew()
    yard.complete("Look", "a")
    yard.complete("Create", "a")
    yard.complete("Tag", "a")
    assert yard.names() == [("breakpoint pre-Late", "a")]


@pytest.mark.parametrize(
    ("point", "order"),
    [
        ("pre-Create", ["*", "Create", "Tag", "start"]),
        ("post-Create", ["Create", "*", "Tag", "start"]),
        ("pre-start", ["Create", "Tag", "*", "start"]),
        ("post-start", ["Create", "Tag", "start", "*"]),
    ],
)
def test_h46_nodes_of_a_blueprint_stop_at_phases_and_operations_of_their_path(point: str, order: list[str]) -> None:
    yard = Yard(phase("Create"), phase("Tag", "Allocation", "Create"), phase("Late", constraint="Go"))
    row = installed(yard, read_breakpoint(f"{point}=web"), read_breakpoint(f"{point}=other"), start="each.start")
    called = []
    while out := yard.called():
        called.append(out[0].phase.replace(f"breakpoint {point}", "*"))
        yard.answer(out[0])
    assert (called, yard.status(row)) == (order, ExecutionStatus.COMPLETED)


def test_h46_the_history_says_who_has_cleared_it() -> None:
    yard, row = lined_up("pre-Create=a", names=("a",))
    stop(yard, PRE, "a")
    clear(yard, PRE, "a")
    told = yard.events(row, "phase_completed_by_hand")
    assert [(one.operation, one.message) for one in told] == [(PRE, "seen")]
