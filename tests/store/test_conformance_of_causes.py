"""What every store promises (CauseShelf): what has made something (BB2), and what entries wait for (BB3)."""

import pytest
from tests.store import builders as a
from tests.store.tenant_worlds import add_blueprint

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.causes import AwaitChanges, AwaitRow, CausedRow, CauseKey
from phaseline.model.rows.rows import TurnPayload
from phaseline.ports.store import Store

MADE, RUN = CauseKey("component", 7, "3/0/0"), CauseKey("component", 7, "3/1/0")


@pytest.fixture
def store(reopen):
    return reopen()


def test_bb2_what_a_cause_has_made_is_found_again(store: Store, reopen) -> None:
    deployment, row = store.create_deployment(altered(a.deployment(), cause=MADE), altered(a.execution(), cause=RUN))
    store.create_deployment(a.deployment("other"), altered(a.execution(), cause=altered(RUN, number=8)))
    wanted = [CausedRow(deployment, False, MADE), CausedRow(row.number, True, RUN)]
    assert store.causes.caused("component", 7) == wanted
    assert store.causes.caused("group", 7) == []
    store.close()
    assert reopen().causes.caused("component", 7) == wanted


def test_bb2_what_has_made_something_is_told(store: Store) -> None:
    deployment, row = store.create_deployment(altered(a.deployment(), cause=MADE), a.execution())
    assert store.causes.of_deployments([deployment, 99]) == [CausedRow(deployment, False, MADE)]
    assert store.causes.of_executions([row.number]) == []


def test_bb2_of_two_with_one_cause_only_one_is_stored(store: Store) -> None:
    store.create_deployment(altered(a.deployment(), cause=MADE))
    with pytest.raises(Exception):  # noqa: B017 - each database has its own; only a bug leads here
        store.create_deployment(altered(a.deployment("other"), cause=MADE))
    assert len(store.deployments()) == 1


def test_bb3_what_entries_wait_for_stays_until_one_of_the_two_has_ended(store: Store, reopen) -> None:
    _, first = store.create_deployment(a.deployment("one"), a.execution())
    _, second = store.create_deployment(a.deployment("two"), a.execution())
    rows = [AwaitRow(first.number, 5, place, second.number, 20) for place in (0, 2)]
    other = AwaitRow(second.number, 6, 0, 99, 21)

    def write(changes: AwaitChanges) -> None:
        with store.own("an engine"):
            store.commit(a.turn(payload=TurnPayload(awaits=changes)))

    write(AwaitChanges((rows[1], rows[0], other, rows[0])))
    assert store.causes.awaiting() == [*rows, other]
    store.close()
    store = reopen()
    assert store.causes.awaiting() == [*rows, other]
    write(AwaitChanges(over=(99,)))
    assert store.causes.awaiting() == rows
    write(AwaitChanges(gone=((first.number, 5, 0, second.number),)))
    assert store.causes.awaiting() == rows[1:]
    write(AwaitChanges(over=(first.number,)))
    assert store.causes.awaiting() == []


def test_bb2_a_purge_takes_the_causes_of_what_is_gone(store: Store) -> None:
    number, _ = store.create_deployment(altered(a.deployment(), cause=MADE))
    for key in ("old", "last"):
        new = altered(a.execution(number, altered(a.REQUEST, workflow="heal")), cause=altered(RUN, key=key))
        a.end(store, store.create_execution(new, asks=False).number, at=10 if key == "old" else 10**12)
    store.delete_deployment(store.create_deployment(altered(a.deployment("gone"), cause=altered(MADE, key="x")))[0])
    a.purge(store, 10**11)
    assert [found.cause.key for found in store.causes.caused("component", 7)] == [MADE.key, "last"]


def test_co2_the_cause_of_a_stored_blueprint_is_found_and_goes_with_it(store: Store, reopen) -> None:
    made, kept = (add_blueprint(store, name) for name in ("made", "kept"))
    assert made is not None
    assert kept is not None
    store.causes.add_blueprint(made.number, MADE)
    assert store.causes.of_blueprints([made.number, kept.number]) == {made.number: MADE}
    assert store.causes.caused("component", 7) == []  # neither a deployment nor an execution
    store.stored_blueprints.delete([made.number])
    assert store.causes.of_blueprints([made.number]) == {}
    again = add_blueprint(store, "made")
    assert again is not None
    store.causes.add_blueprint(again.number, MADE)
    assert store.causes.of_blueprints([again.number]) == {again.number: MADE}
