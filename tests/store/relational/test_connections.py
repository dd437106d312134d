"""Transactions that are the same on each database: joined, nested, and undone."""

from __future__ import annotations

import pytest
from tests.store import builders as a

from phaseline.ports.store import Store


def test_joined_transactions_are_stored_together(store: Store) -> None:
    with store.as_one():
        store.create_deployment(a.deployment("one"))
        store.create_deployment(a.deployment("two"))
    assert [row.name for row in store.deployments()] == ["one", "two"]


def test_joined_transactions_are_undone_together(store: Store) -> None:
    def write() -> None:
        with store.as_one():
            store.create_deployment(a.deployment("one"))
            raise KeyError("stop")

    with pytest.raises(KeyError):
        write()
    assert list(store.deployments()) == []
    store.create_deployment(a.deployment("one"))
    assert [row.name for row in store.deployments()] == ["one"]


def test_reads_of_one_moment_see_one_state(store: Store) -> None:
    store.create_deployment(a.deployment("one"))
    with store.at_once():
        assert len(store.deployments()) == 1
        with store.at_once():
            assert len(store.deployments()) == 1
    store.create_deployment(a.deployment("two"))
    assert len(store.deployments()) == 2
