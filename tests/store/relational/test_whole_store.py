"""The whole store on a database, and the parts that it has made of it."""

from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a

from phaseline.store.relational import whole_store
from phaseline.store.sqlite.store import SqliteStore


def test_rf4_each_request_of_a_tenant_gets_the_same_part(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        assert store.of("acme") is store.of("acme")
        assert (store.of("acme").tenant, store.of("other").tenant) == ("acme", "other")


def test_rf4_parts_are_bounded(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        first = store.of("acme")
        for number in range(whole_store.MOST_TENANTS):
            store.of(f"tenant-{number}")
        assert store.of("acme") is not first


def test_rf4_a_part_that_is_still_in_use_forgets_what_was_undone(path: Path) -> None:
    with closing(SqliteStore.open(path, a.FakeClock())) as store:
        first = store.of("acme")
        for number in range(whole_store.MOST_TENANTS):
            store.of(f"tenant-{number}")
        made: list[int] = []

        def fail() -> None:
            with first.as_one():
                made.append(first.create_deployment(a.deployment())[0])
                first.labels.add(made[0], [])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert made == [store.of("other").create_deployment(a.deployment())[0]], "the number is given again"
        assert first.documents(made[0]) == {}
        with pytest.raises(LookupError):
            first.topology(made[0])
