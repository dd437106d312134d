"""What a store in a database adds to the promises of every store."""

from __future__ import annotations

from contextlib import closing

from tests.store import builders as a
from tests.store.postgres_server import new_schema

from phaseline.store import open_store
from phaseline.store.postgres.store import PostgresStore


def test_st1_a_url_opens_a_store_in_a_database() -> None:
    with closing(open_store(new_schema(), a.FakeClock())) as store:
        assert isinstance(store, PostgresStore)
        number, _ = a.installed(store)
        assert (number, store.sizes()[0] > 100_000) == (1, True)


def test_a_store_that_is_compacted_keeps_what_it_has() -> None:
    with closing(PostgresStore.open(new_schema(), a.FakeClock())) as store:
        a.installed(store)
        assert store.compact().after > 0
        assert list(store.check()) == []
        assert store.deployment("shop") is not None


def test_processes_see_what_others_write() -> None:
    url, clock = new_schema(), a.FakeClock()
    with closing(PostgresStore.open(url, clock)) as one, closing(PostgresStore.open(url, clock)) as two:
        seen = one.changed()
        assert one.changed(seen) == 0
        two.create_deployment(a.deployment())
        assert one.changed(seen) > 0
        assert [row.name for row in one.deployments()] == ["shop"]
