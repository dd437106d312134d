"""DP5: a page of consumers is read by an index, however many there are."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.dependencies import Dependency
from phaseline.store.sql.estate import dependencies
from phaseline.store.sqlite.store import SqliteStore


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (dependencies._BY_NAME, ("t", "net", 0, 5), "dependency_provider"),
        (dependencies._BY_NUMBER, (3, 0, 5), "dependency_number"),
    ],
)
def test_dp5_consumers_are_found_by_an_index_alone(
    path: Path, clock: a.FakeClock, statement: str, values: tuple[object, ...], index: str
) -> None:
    SqliteStore.open(path, clock).close()
    with closing(sqlite3.connect(path)) as db:
        (plan,) = [row[3] for row in db.execute(f"explain query plan {statement}", values)]
    assert f"COVERING INDEX {index}" in plan


def test_dp5_a_page_without_living_consumers_does_not_end_the_pages(path: Path, clock: a.FakeClock) -> None:
    store = SqliteStore.open(path, clock)
    reads = (Dependency("capability", "outputs.x", "", "net"),)
    with store.own("test"):
        net, _ = store.create_deployment(a.deployment("net"))
        made = [store.create_deployment(altered(a.deployment(f"app{at}"), dependencies=reads))[0] for at in range(6)]
    for number in made[:4]:
        store.delete_deployment(number)
    assert [one.consumer for one in store.dependencies.on(net, limit=2)] == made[4:]
