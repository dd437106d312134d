"""Tables of a store that are filled with rows: all in one transaction, and the present store is kept (ST12, BK5)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest
from tests.store import builders as a
from tests.store.files import python, refusal, stored
from tests.store.postgres_server import new_schema, server, url_of

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import LogLine, TurnPayload
from phaseline.store import transfer
from phaseline.store.postgres import copied_store
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.relational.copying import UncopiedRowsError
from phaseline.store.sqlite.store import SqliteStore

OLD_STORE = Path(__file__).parents[1] / "data" / "store-v1.db"


@pytest.fixture
def url() -> str:
    return new_schema()


@pytest.fixture
def file(path: Path, clock: a.FakeClock) -> str:
    """A store in a file, with a deployment named shop; its path."""
    stored(path, clock)
    return str(path)


@pytest.fixture
def backup(url: str, tmp_path: Path, clock: a.FakeClock) -> str:
    """A backup of the store in the database with the deployment shop, which was deleted since then."""
    with closing(PostgresStore.open(url, clock)) as store:
        number, run = a.installed(store)
        store.backup(str(tmp_path / "backup.db"))
        a.end(store, run)
        store.delete_deployment(number)
    return str(tmp_path / "backup.db")


def schema_of(url: str) -> str:
    return unquote(url).rpartition("=")[2]


def names(url: str, clock: a.FakeClock) -> list[str]:
    with closing(PostgresStore.open(url, clock, makes=False)) as store:
        assert list(store.check()) == []
        return [row.name for row in store.deployments()]


def refused(work: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(ProblemsError) as caught:
        work()
    return refusal(caught)


# copies


@pytest.mark.parametrize("is_made", [False, True])
def test_st12_a_copy_is_made_where_no_store_is_yet(url: str, file: str, clock: a.FakeClock, *, is_made: bool) -> None:
    if is_made:
        with closing(PostgresStore.open(url, clock)) as store, store.own("an engine that had nothing to do"):
            store.know_phases({"boot": "{}"})
    done = transfer.copy(f"sqlite:///{file}", url, clock, print)
    assert names(url, clock) == ["shop"]
    assert (done.waiting, done.tables["deployment"], done.rows) == (1, 1, sum(done.tables.values()))
    with closing(PostgresStore.open(url, clock)) as store:
        assert list(store.known_phases()) == []
        assert [one.cause for one in store.incarnations.all()] == [f"copied from {file}"]
        assert store.incarnations.held() == 1


def test_st12_what_is_there_is_not_replaced(url: str, file: str, tmp_path: Path, clock: a.FakeClock) -> None:
    with closing(PostgresStore.open(url, clock)) as store:
        with store.own("an engine"):
            assert refused(lambda: transfer.copy(f"sqlite:///{file}", url, clock, print))[0] == "PL-S004"
        a.installed(store, "theirs")
        assert refused(lambda: transfer.copy(f"sqlite:///{file}", url, clock, print))[0] == "PL-S017"
    assert names(url, clock) == ["theirs"]
    other = new_schema()
    with psycopg.connect(other, autocommit=True) as db:
        db.execute("create table mine (x integer)")
    assert refused(lambda: transfer.copy(f"sqlite:///{file}", other, clock, print))[0] == "PL-S001"


@pytest.mark.parametrize("change", ["version + 1", "version - 1"])
def test_st12_an_unused_store_of_another_version_is_not_filled(
    url: str, file: str, clock: a.FakeClock, change: str
) -> None:
    PostgresStore.open(url, clock).close()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"update store_schema set version = {change}")
        db.execute("update alembic_version set version_num = (select '000' || version from store_schema)")
    code, _ = refused(lambda: transfer.copy(f"sqlite:///{file}", url, clock, print))
    assert code == ("PL-S002" if "+" in change else "PL-S017")


def test_st12_rows_that_do_not_fit_leave_nothing(url: str, clock: a.FakeClock) -> None:
    def twice(db: PostgresConnection) -> None:
        for _ in range(2):
            db.execute("insert into label values (1, 'key', 'value')")

    with pytest.raises(UncopiedRowsError, match="duplicate key"):
        copied_store.receive(url, "", twice, "a test", 7)
    assert refused(lambda: PostgresStore.open(url, clock, makes=False))[0] == "PL-S007"


KILLED = """if True:
    import sys
    from contextlib import closing
    from tests.store import builders as a
    from phaseline.store.postgres import copied_store
    from phaseline.store.relational.copying import copy_all
    from phaseline.store.sqlite.store import SqliteStore

    def fill(db):
        copy_all(rows, db)
        print("filled", flush=True)
        sys.stdin.read()

    with closing(SqliteStore.open(sys.argv[1], a.FakeClock())) as store, store.snapshot() as rows:
        work = copied_store.receive if sys.argv[3] == "copy" else copied_store.restore
        words = (store.identity(),) if sys.argv[3] == "copy" else ()
        work(sys.argv[2], *words, fill, "a test", 7)
"""


@pytest.mark.parametrize("verb", ["copy", "restore"])
def test_st12_whoever_dies_before_the_commit_leaves_what_was_there(
    url: str, file: str, clock: a.FakeClock, verb: str
) -> None:
    if verb == "restore":
        with closing(PostgresStore.open(url, clock)) as store:
            a.installed(store, "former")
    with python(KILLED, file, url, verb) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "filled\n"
        child.kill()
    if verb == "copy":
        assert refused(lambda: PostgresStore.open(url, clock, makes=False))[0] == "PL-S007"
        transfer.copy(f"sqlite:///{file}", url, clock, print)
    else:
        assert names(url, clock) == ["former"]
        kept = transfer.restore_into_database(file, url, 7).kept
        assert kept == f"{schema_of(url)}_before_restore_1"
    assert names(url, clock) == ["shop"]


# restores


def test_bk5_a_restored_store_is_that_of_the_backup_and_the_former_one_is_kept(
    url: str, backup: str, clock: a.FakeClock
) -> None:
    first = transfer.restore_into_database(backup, url, 7)
    assert (first.waiting, first.kept) == (1, f"{schema_of(url)}_before_restore_1")
    assert names(url, clock) == ["shop"]
    assert names(url_of(first.kept), clock) == []
    with closing(PostgresStore.open(url_of(first.kept), clock)) as former:
        assert a.installed(former, "again") == (2, 2), "it is a whole store, with its own numbers"
    with closing(PostgresStore.open(url, clock)) as store:
        assert store.incarnations.held() == 1
        assert a.installed(store, "next") == (2, 2)
        (cause,) = [one.cause for one in store.incarnations.all()]
        assert cause == f"restored from {backup}"
    second = transfer.restore_into_database(backup, url, 8)
    assert second.kept == f"{schema_of(url)}_before_restore_2"
    assert names(url_of(second.kept), clock) == ["next", "shop"]


def test_bk5_a_backup_is_restored_where_no_store_is(url: str, backup: str, clock: a.FakeClock) -> None:
    there = new_schema()
    assert transfer.restore_into_database(backup, there, 7).kept == ""
    assert names(there, clock) == ["shop"]


def test_bk5_a_backup_of_an_older_version_is_brought_up_to_date(url: str, clock: a.FakeClock) -> None:
    before = OLD_STORE.read_bytes()
    assert transfer.restore_into_database(str(OLD_STORE), url, 7).waiting == 2
    assert names(url, clock) == ["late", "old", "shop"]
    assert OLD_STORE.read_bytes() == before
    assert not list(OLD_STORE.parent.glob("store-v1.db-*"))


def test_bk5_an_owned_store_is_not_replaced(url: str, backup: str, clock: a.FakeClock) -> None:
    with closing(PostgresStore.open(url, clock)) as store, store.own("an engine"):
        for work in (
            lambda: transfer.restore_into_database(backup, url, 7),
            lambda: transfer.restore_into_database(url, url, 7),
        ):
            code, text = refused(work)
            assert code == "PL-S004"
            assert "an engine" in text
    assert names(url, clock) == []


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma user_version = 99")
        db.execute("update store_schema set version = 99, min_reader = 99, min_writer = 99")


def usable_newer(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma user_version = 99")
        db.execute("update store_schema set version = 99")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (Path.unlink, "PL-S014"),
        (lambda path: path.write_bytes(b""), "PL-S014"),
        (lambda path: path.write_text("no store at all"), "PL-S014"),
        (lambda path: path.write_bytes(path.read_bytes()[:40_000] + os.urandom(40_000)), "PL-S014"),
        (newer, "PL-S002"),
        (usable_newer, "PL-S002"),
    ],
)
def test_bk5_a_file_that_is_no_backup_changes_nothing(
    url: str, backup: str, clock: a.FakeClock, spoil: Callable[[Path], object], code: str
) -> None:
    with closing(PostgresStore.open(url, clock)) as store:
        a.installed(store, "present")
    spoil(Path(backup))
    assert refused(lambda: transfer.restore_into_database(backup, url, 7))[0] == code
    assert names(url, clock) == ["present"]


def test_bk5_an_owner_from_before_the_restore_writes_nothing_any_more(
    url: str, backup: str, clock: a.FakeClock
) -> None:
    with closing(PostgresStore.open(url, clock)) as paused, paused.own("paused"):
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("delete from lease")  # it has not renewed it for too long
        transfer.restore_into_database(backup, url, 7)
        turn = a.turn(payload=TurnPayload(logs=[LogLine(1, 1, "info", "late")]))
        assert refused(lambda: paused.commit(turn))[0] == "PL-S004"
        with closing(PostgresStore.open(url, clock)) as next_owner, next_owner.own("next"):
            assert refused(lambda: paused.commit(turn))[0] == "PL-S004"
            assert list(next_owner.logs(1)) == []


def test_bk5_who_follows_the_store_sees_that_it_has_changed(url: str, backup: str, clock: a.FakeClock) -> None:
    with closing(PostgresStore.open(url, clock)) as follower:
        seen = follower.changed()
        transfer.restore_into_database(backup, url, 7)
        assert follower.changed(seen) > seen
        assert [row.name for row in follower.deployments()] == ["shop"]


def test_bk4_a_database_that_was_set_back_is_restored_in_place(url: str, clock: a.FakeClock) -> None:
    with closing(PostgresStore.open(url, clock)) as store:
        a.installed(store)
        with store.own("before") as former:
            pass
        done = transfer.restore_into_database(url, url, 7)
        assert (done.kept, done.waiting) == ("", 1)
        assert [one.cause for one in store.incarnations.all()] == ["restored in place"]
        with store.own("after") as later:
            assert later.epoch > former.epoch + copied_store.EPOCHS_SKIPPED
    there = new_schema()
    assert refused(lambda: transfer.restore_into_database(there, there, 7))[0] == "PL-S007"


def test_bk5_tables_of_others_in_the_schema_stay_where_they_are(url: str, backup: str) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("create table mine (x integer)")
        transfer.restore_into_database(backup, url, 7)
        assert db.execute("select count(*) from mine").fetchone() == (0,)


@pytest.fixture
def weak(url: str) -> Iterator[str]:
    """The URL as a user that may not make a schema gives it."""
    role, schema = f"u{os.urandom(4).hex()}", schema_of(url)
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f"create role {role} login")
        db.execute(f"alter schema {schema} owner to {role}")
        for (table,) in db.execute("select tablename from pg_tables where schemaname = %s", (schema,)).fetchall():
            db.execute(f"alter table {schema}.{table} owner to {role}")
    yield url.replace("//postgres", f"//{role}")
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f"drop schema {schema} cascade")
        db.execute(f"drop role {role}")


def test_bk5_without_the_right_to_keep_the_former_store_nothing_is_restored(
    backup: str, weak: str, clock: a.FakeClock
) -> None:
    code, text = refused(lambda: transfer.restore_into_database(backup, weak, 7))
    assert code == "PL-S032"
    assert "cannot be kept" in text
    assert names(weak, clock) == []


def test_bk5_a_long_or_strange_name_of_a_schema_is_no_trouble(backup: str, clock: a.FakeClock) -> None:
    name = f'Ä"x {os.urandom(4).hex()}' + "y" * 45
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute("create schema " + copied_store._quoted(name))
    url = url_of(copied_store._quoted(name).replace(" ", "\\ "))
    transfer.restore_into_database(backup, url, 7)
    kept = transfer.restore_into_database(backup, url, 8).kept
    assert kept.endswith("_before_restore_1")
    assert kept.startswith('Ä"x ')
    assert names(url_of(copied_store._quoted(kept).replace(" ", "\\ ")), clock) == ["shop"]


# backups


def test_bk2_a_backup_is_a_private_file_and_a_store_that_counts_as_a_copy(
    url: str, backup: str, tmp_path: Path, clock: a.FakeClock
) -> None:
    assert Path(backup).stat().st_mode & 0o777 == 0o600
    with closing(SqliteStore.open(backup, clock)) as store:
        assert "it is a backup" in store.notices[0]
        assert list(store.check()) == []
        assert [row.name for row in store.deployments()] == ["shop"]
        assert store.incarnations.held() == 1
    with closing(PostgresStore.open(url, clock)) as store:
        assert list(store.incarnations.all()) == []
        for name in ("backup.db", "missing/backup.db", "."):
            assert refused(lambda name=name: store.backup(str(tmp_path / name)))[0] == "PL-S006"  # type: ignore[misc]  # bound
    assert sorted(each.name for each in tmp_path.glob("*.part*")) == []


WRITER = """if True:
    import sys
    from phaseline.model.rows.rows import DocumentChange, LogLine, TurnPayload
    from phaseline.store.postgres.store import PostgresStore
    from tests.store import builders as a
    store = PostgresStore.open(sys.argv[1], a.FakeClock())
    with store.own("the writer"):
        number = 0
        print("owned", flush=True)
        while True:
            number += 1
            changes = [DocumentChange(1, at, {("turn",): number}) for at in range(8)]
            store.commit(a.turn(payload=TurnPayload(documents=changes, logs=[LogLine(1, 1, "info", str(number))])))
"""


def test_bk2_a_backup_shows_one_moment_while_an_engine_works(url: str, tmp_path: Path, clock: a.FakeClock) -> None:
    with closing(PostgresStore.open(url, clock)) as store:
        a.installed(store)
        with python(WRITER, url) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "owned\n"
            turns: list[int] = []
            while len(turns) < 3 or turns[0] == turns[-1]:
                file = tmp_path / f"{len(turns)}.db"
                store.backup(str(file))
                with closing(SqliteStore.open(file, clock)) as copy:
                    found = {document["turn"] for document in copy.documents(1).values()}
                    assert list(copy.check()) == []
                    lines = copy.logs(1)
                assert len(found) <= 1, "the eight documents are of one turn"
                assert len(lines) == (found.pop() if found else 0), "and so is the log"
                turns.append(len(lines))
            writer.kill()
    assert turns == sorted(turns)
