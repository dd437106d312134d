"""What every store promises (ports.Store): results of checks, beside the states of instances."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.store import builders as a

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.health.checks import CheckKind, CheckResult, NewCheckResults
from phaseline.model.rows.rows import TurnPayload
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
STATUS, PREVIOUS, DRIFT = CheckKind.STATUS, CheckKind.PREVIOUS_STATUS, CheckKind.DRIFT
FAILED, GOOD, DRIFTED = int(CheckResult.FAILED), int(CheckResult.GOOD), int(CheckResult.DRIFTED)


def made(deployment, results, *, kind=STATUS, at=5_000, execution=1, bodies=None):
    """Results by subject number."""
    subjects = np.array(list(results), np.int32)
    return NewCheckResults(
        deployment, kind, subjects, np.array(list(results.values()), np.uint8), at, execution, bodies or {}
    )


def found(store, deployment, kind, count=8):
    return store.checks(deployment).checks.column(kind, count).tolist()


def test_nothing_is_known_before_the_first_check(owned: Store) -> None:
    number, _ = a.installed(owned)
    assert owned.checks(number).is_empty
    assert found(owned, number, STATUS) == [0] * 8


def test_w32_results_hold_with_their_time_their_execution_and_what_was_said(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(checks=[made(number, {1: GOOD, 3: FAILED}, bodies={3: "disk full"})])))
    book = reopen().checks(number)
    assert book.checks.column(STATUS, 8).tolist() == [0, GOOD, 0, FAILED, 0, 0, 0, 0]
    column = book.columns[STATUS]
    assert (column.times[3], column.executions[3], dict(book.bodies)) == (5_000, 1, {(STATUS, 3): "disk full"})


def test_w32_the_former_status_becomes_the_previous_one_with_what_was_said(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(checks=[made(number, {1: FAILED, 2: GOOD}, bodies={1: "disk full"})])))
        store.commit(
            a.turn(
                payload=TurnPayload(checks=[made(number, {1: GOOD}, at=9_000, execution=2, bodies={1: {"free": 7}})])
            )
        )
    book = reopen().checks(number)
    assert book.checks.column(STATUS, 3).tolist() == [0, GOOD, GOOD]
    assert book.checks.column(PREVIOUS, 3).tolist() == [0, FAILED, 0]
    assert book.columns[PREVIOUS].times[1] == 5_000
    assert dict(book.bodies) == {(STATUS, 1): {"free": 7}, (PREVIOUS, 1): "disk full"}


def test_w46_reaching_configured_clears_own_drift_and_started_the_status(reopen: Reopen) -> None:
    store = reopen()
    number, _ = a.installed(store)
    with store.own("test"):
        checks = [
            made(number, {1: FAILED, 2: FAILED}, bodies={1: "x"}),
            made(number, {1: DRIFTED, 2: DRIFTED}, kind=DRIFT, bodies={1: {"ip": 1}, 2: {"ip": 2}}),
        ]
        store.commit(a.turn(payload=TurnPayload(checks=checks)))
        store.commit(a.turn(states=(a.entered(number, (int(State.CONFIGURED),), 1, 3),)))
        assert found(store, number, DRIFT, 3) == [0, 0, DRIFTED]
        assert found(store, number, STATUS, 3) == [0, FAILED, FAILED]
        store.commit(a.turn(states=(a.entered(number, (int(State.CONFIGURED), int(State.STARTED)), 1),)))
    book = reopen().checks(number)
    assert book.checks.column(STATUS, 3).tolist() == [0, 0, FAILED]
    assert book.checks.column(PREVIOUS, 3).tolist() == [0, FAILED, 0]
    assert dict(book.bodies) == {(PREVIOUS, 1): "x", (DRIFT, 2): {"ip": 2}}


def test_results_of_many_lie_in_pages_and_apart_by_deployment(reopen: Reopen) -> None:
    store = reopen()
    one, _ = a.installed(store, "one", hosts=10, apps=250)
    two, _ = a.installed(store, "two")
    everyone = np.arange(2_510)
    with store.own("test"):
        store.commit(
            a.turn(
                payload=TurnPayload(checks=[made(one, dict.fromkeys(everyone.tolist(), GOOD)), made(two, {7: FAILED})])
            )
        )
        store.commit(a.turn(payload=TurnPayload(checks=[made(one, {2_509: FAILED, 999: FAILED})])))
    store = reopen()
    expected = np.full(2_510, GOOD)
    expected[[999, 2_509]] = FAILED
    assert found(store, one, STATUS, 2_510) == expected.tolist()
    assert found(store, two, STATUS) == [0] * 7 + [FAILED]
    assert not store.check()


def test_what_a_reader_does_with_its_results_does_not_change_the_store(owned: Store) -> None:
    number, _ = a.installed(owned)
    owned.commit(a.turn(payload=TurnPayload(checks=[made(number, {1: GOOD})])))
    owned.checks(number).columns[STATUS].results[:] = 9
    assert found(owned, number, STATUS, 2) == [0, GOOD]


@pytest.mark.parametrize("kind", list(CheckKind))
def test_the_numbers_of_kinds_never_change(kind: CheckKind) -> None:
    assert [each.name for each in CheckKind][kind] == kind.name
