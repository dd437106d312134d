"""What belongs to removed executions goes in any number of slices; the process may die after any of them."""

import pytest
from tests.store.purges import LINES, filled, is_empty, purging

from phaseline.model.rows.maintenance import Purged
from phaseline.store.relational.whole_store import SqlStore

pytestmark = pytest.mark.parametrize("reopen", ["sqlite", "postgresql"], indirect=True)


def test_a_purge_that_dies_leaves_a_sound_store_and_its_rest_to_the_next(store: SqlStore) -> None:
    filled(store)
    before = store.counters()
    removed, died = Purged(), 0
    while not is_empty(store):
        died += 1
        dying = purging(store)
        for _ in range(died):  # the first purge dies after one slice, the next after two, and so on
            removed += dying.slice()
            assert list(store.check()) == [], died
    assert died > 5
    assert store.counters() == before
    lines = 2 * LINES
    assert (removed.executions, removed.graphs, removed.logs, removed.events) == (2, 2, lines, lines)
    assert (removed.requests, removed.batches, removed.deployments) == (2, 3, 1)


def test_two_purges_at_a_time_do_not_disturb_one_another(store: SqlStore) -> None:
    for name in ("one", "two", "three"):
        filled(store, name)
    both = [purging(store), purging(store, slice_bytes=700)]
    removed = Purged()
    while not all(each.is_over for each in both):
        for each in both:
            removed += each.slice()
            assert list(store.check()) == []
    assert is_empty(store)
    assert (removed.executions, removed.deployments, removed.batches) == (6, 3, 9)
