"""Contents of definition files are shared with those of packages and stored blueprints."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path

from tests.store.builders import FakeClock

from phaseline.model.packages.installed import StoredDefinition
from phaseline.store.sqlite.store import SqliteStore

TEXT = b"plugins: {}\n"
DIGEST = sha256(TEXT).hexdigest()


def test_a_content_is_deleted_with_its_last_user(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "a.db", FakeClock())) as store:
        store.definitions.add(StoredDefinition("acme", "1", {"plugin.yaml": DIGEST}), {DIGEST: TEXT})
        with store._transaction() as db:
            db.execute("insert into stored_path values (1, 'plugin.yaml', ?, 0)", (DIGEST,))
        assert store.definitions.remove("acme", "1")
        assert store.definitions.content(DIGEST) == TEXT
        with store._transaction() as db:
            db.execute("delete from stored_path")
        store.definitions.add(StoredDefinition("acme", "1", {"plugin.yaml": DIGEST}), {})
        assert store.definitions.remove("acme", "1")
        with store._reading() as db:
            assert db.execute("select count(*) from stored_content").fetchone() == (0,)


def test_a_file_without_its_content_is_found_by_a_check(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "a.db", FakeClock())) as store:
        store.definitions.add(StoredDefinition("acme", "1", {"plugin.yaml": DIGEST}), {DIGEST: TEXT})
        assert list(store.check()) == []
        with store._transaction() as db:
            db.execute("delete from stored_content")
        assert [(found.where, found.message) for found in store.check()] == [
            ("definition_file", "1 have no content (one is acme 1, plugin.yaml)")
        ]
