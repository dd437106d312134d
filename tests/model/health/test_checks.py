"""A book of checks: what may take the place of what a person has said."""

import numpy as np
import pytest

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.health.checks import CheckKind, CheckResult, CheckResults, HeldBodies, NewCheckResults

HERE = np.arange(3, dtype=np.int32)
REMADE = (InstanceState.DELETED, InstanceState.CREATED, InstanceState.CONFIGURED, InstanceState.STARTED)


def _made(results: list[int], said: dict[int, str]) -> NewCheckResults:
    return NewCheckResults(1, CheckKind.STATUS, HERE, np.array(results, np.uint8), 7, 2, dict(said))


@pytest.fixture
def book() -> CheckResults:
    """One that is well, one whom a person calls ill, one that failed."""
    found = CheckResults(HeldBodies())
    found.record(_made([2, 5, 1], {1: "slow", 2: "gone"}))
    return found


def _status(book: CheckResults) -> list[int]:
    return book.checks.column(CheckKind.STATUS, 3).tolist()


@pytest.mark.parametrize("result", [CheckResult.GOOD, CheckResult.FAILED])
def test_h25_a_check_leaves_what_a_person_has_said(book: CheckResults, result: CheckResult) -> None:
    book.record(_made([result] * 3, dict.fromkeys((0, 1, 2), "new")))
    assert _status(book) == [result, CheckResult.MARKED, result]
    assert isinstance(book.bodies, HeldBodies)
    assert book.bodies[CheckKind.STATUS, 1] == "slow"
    assert book.bodies[CheckKind.STATUS, 2] == "new"
    assert book.bodies[CheckKind.PREVIOUS_STATUS, 2] == "gone"


def test_h25_a_heal_and_another_word_take_its_place(book: CheckResults) -> None:
    book.record(_made([CheckResult.MARKED, CheckResult.MARKED, CheckResult.MARKED], {1: "loud"}))
    assert isinstance(book.bodies, HeldBodies)
    assert book.bodies[CheckKind.STATUS, 1] == "loud"
    book.record(_made([CheckResult.HEALED] * 3, {}))
    assert _status(book) == [CheckResult.HEALED] * 3


def test_h25_a_restart_leaves_it_and_an_install_does_not(book: CheckResults) -> None:
    book.enter((InstanceState.STARTED,), HERE)
    assert _status(book) == [CheckResult.UNKNOWN, CheckResult.MARKED, CheckResult.UNKNOWN]
    book.enter((InstanceState.STOPPED, InstanceState.DELETED), HERE)
    assert _status(book) == [CheckResult.UNKNOWN, CheckResult.FAILED, CheckResult.UNKNOWN]
    book.enter((InstanceState.STARTED,), HERE)
    assert _status(book) == [CheckResult.UNKNOWN] * 3


def test_h25_made_anew_in_one_go(book: CheckResults) -> None:
    book.enter(REMADE, HERE)
    assert _status(book) == [CheckResult.UNKNOWN] * 3


def test_instances_that_came_after_the_last_check_have_no_result_to_clear(book: CheckResults) -> None:
    book.enter((InstanceState.STARTED,), np.array([0, 1_000_000], np.int32))
    assert _status(book) == [CheckResult.UNKNOWN, CheckResult.MARKED, CheckResult.FAILED]
