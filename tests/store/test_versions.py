"""``phaseline store upgrade``: on files and in databases (rules ST11, UP3)."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest
from tests.store import builders as a
from tests.store.postgres_server import new_schema

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.versions import version_of_store


def test_st11_the_version_of_a_database_is_told_with_its_owner() -> None:
    url = new_schema()
    with pytest.raises(ProblemsError, match="PL-S007"):
        version_of_store(url)
    with closing(PostgresStore.open(url, a.FakeClock())) as store, store.own("an engine"):
        with psycopg.connect(url) as db:
            db.execute("update alembic_version set version_num = '0007'")
        found = version_of_store(url)
    assert (found.schema, found.is_due, "an engine" in (found.owner or "")) == (7, True, True)


def test_a_store_in_memory_is_never_upgraded() -> None:
    with pytest.raises(ProblemsError, match="PL-S008"):
        version_of_store("memory:")
