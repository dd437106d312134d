"""A new incarnation on each database (rules BK4, BK5)."""

from __future__ import annotations

from tests.store import builders as a

from phaseline.model.rows.rows import Actor, RequestKind
from phaseline.ports.store import Store
from phaseline.store.relational import incarnations
from phaseline.store.relational.whole_store import SqlStore


def test_bk5_what_was_open_waits_and_is_asked_anew_under_new_numbers(store: Store) -> None:
    if not isinstance(store, SqlStore):
        return
    _, run = a.installed(store)
    asked = store.ask(RequestKind.CANCEL, run, {"id": "install-1"}, Actor("ann"))
    with store._transaction() as db:
        assert incarnations.begin_another(db, "a test", 7) == 1
        assert incarnations.begin_another(db, "another test", 8) == 1
    assert [row.number for row in store.incarnations.all()] == [1, 2]
    assert store.incarnations.held() == run
    assert store.requests() == []
    assert [row.number for row in store.incarnations.go_on(Actor("ann"), 9)] == [run]
    found = {row.kind: row.number for row in store.requests()}
    assert found[RequestKind.CANCEL] > asked
    assert set(found) >= {RequestKind.CANCEL, RequestKind.START}
