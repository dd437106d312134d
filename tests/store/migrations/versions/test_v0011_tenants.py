"""What was stored before there were tenants is the default tenant's afterwards (rule RF4)."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store import builders as a
from tests.store.old_stores import unpack

from phaseline.model.deployment.stack_documents import SNAPSHOT
from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.store.sqlite.store import SqliteStore


def test_rf4_rows_without_a_tenant_become_the_default_tenants(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    unpack(7, file)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("delete from paused_phase")
        db.execute("delete from hook_switch")
        db.execute("insert into paused_phase values ('Acme.Create', 5, 'ann', 'why')")
        db.execute("insert into hook_switch values ('quota', 0, 5, 'ann', 'why')")
        documents = [name for (name,) in db.execute("select name from stack_document where kind = 'snapshot'")]
    with closing(SqliteStore.open(file, a.FakeClock())) as store:
        own, other = store.of(DEFAULT_TENANT), store.of("other")
        assert [(key, row.name, row.reason) for key, row in own.paused_phases().items()] == [
            ("acme.create", "Acme.Create", "why")
        ]
        assert [(one.name, one.deployment, one.reason) for one in own.hook_switches.all()] == [("quota", 0, "why")]
        assert [row.name for row in own.stack_documents.all(SNAPSHOT)] == documents != []
        assert not any([other.paused_phases(), other.hook_switches.all(), other.stack_documents.all(SNAPSHOT)])
        assert not any([other.deployments(), other.executions()])
        assert other.pause_phase("ACME.create", a.ANN, "mine")
        assert not own.pause_phase("ACME.create", a.ANN, "again")
