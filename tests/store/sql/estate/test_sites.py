"""Sites in SQLite are rows of a tenant, and go with the deployments of a purge."""

from contextlib import closing
from pathlib import Path

from tests.store import builders as a

from phaseline.model.rows.estate import SiteRow
from phaseline.store.sqlite.store import SqliteStore


def test_lb5_a_deployment_cannot_be_at_the_site_of_another_tenant(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as store:
        mine, other = store.of("mine"), store.of("other")
        other.sites.add(SiteRow("munich", "", 1, ""), a.ANN)
        number, _ = mine.create_deployment(a.deployment())
        assert not mine.sites.put(number, "munich")
        assert (mine.sites.of([number]), mine.sites.remove("munich")) == ({}, False)
        assert [row.name for row in other.sites.all()] == ["munich"]
