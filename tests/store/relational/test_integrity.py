"""Inconsistent rows are found on each database."""

from __future__ import annotations

import pytest
from tests.store import builders as a

from phaseline.ports.store import Store
from phaseline.store.relational.whole_store import SqlStore


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ("delete from topology", "deployment"),
        ("update execution set status = 'no such'", "execution"),
        ("update execution set request = 'no json'", "execution"),
        ("update state_page set states = states || states", "state_page"),
        ("insert into log values (99, 1, 1, 'info', 0, '', 'lost')", "log"),
        ("insert into label values (99, 'a', 'b')", ""),
    ],
)
def test_rows_that_contradict_one_another_are_found(store: Store, damage: str, where: str) -> None:
    if not isinstance(store, SqlStore):
        assert list(store.check()) == []
        return
    number, _ = a.installed(store)
    with store.own("a test"):
        store.commit(a.turn(states=(a.entered(number, (1,), 0),)))
    assert list(store.check()) == []
    with store._transaction() as db:
        db.execute(damage)
    assert [finding.where for finding in store.check()][:1] == ([where] if where else [])
