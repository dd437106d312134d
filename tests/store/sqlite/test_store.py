"""What the file adds to the promises of every store."""

import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.files import python, refusal, stored

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import Request
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import DocumentChange, LogLine, TurnPayload
from phaseline.store import open_store
from phaseline.store.codec import requests
from phaseline.store.database import schema
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture
def store(path: Path, clock: a.FakeClock) -> Iterator[SqliteStore]:
    opened = SqliteStore.open(path, clock)
    yield opened
    opened.close()


# the file


def test_file_and_new_folders_are_only_for_their_owner(tmp_path: Path, clock: a.FakeClock) -> None:
    path = tmp_path / "one" / "two" / "store.db"
    store = SqliteStore.open(path, clock)
    store.create_deployment(a.deployment())
    with store.own("test"), store.waiting():
        pass
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    store.close()
    assert set(modes) == {"store.db", "store.db-wal", "store.db-shm", "store.db.lock", "store.db.waiting"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_a_folder_that_was_removed_is_the_reason_why_the_store_has_no_owner(tmp_path: Path, clock: a.FakeClock) -> None:
    folder = tmp_path / "there"
    store = SqliteStore.open(folder / "store.db", clock)
    assert store.deployments() == []
    shutil.rmtree(folder)
    with pytest.raises(ProblemsError) as raised, store.own("test"):
        pass
    assert [problem.code for problem in raised.value.problems] == ["PL-S016"]
    store.close()


def test_what_is_committed_is_on_the_disk(store: SqliteStore, path: Path) -> None:
    with closing(file.open_writer(str(path))) as db:
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)
        assert db.execute("pragma synchronous").fetchone() == (2,)


def test_each_deployment_is_stored_with_its_own_blueprint_though_the_last_one_is_kept_as_text(
    store: SqliteStore, path: Path, clock: a.FakeClock
) -> None:
    one = a.deployment("one")
    other = altered(one.blueprint, description="another one")
    store.create_deployment(one)
    store.create_deployment(altered(one, name="again"))
    store.create_deployment(
        altered(one, name="other", blueprint=other, topology=altered(one.topology, blueprint=other))
    )
    store.create_deployment(altered(one, name="last"))
    with closing(SqliteStore.open(path, clock)) as fresh:
        told = [fresh.blueprint(number).description for number in (1, 2, 3, 4)]
    assert told == [one.blueprint.description] * 2 + ["another one", one.blueprint.description]


def test_equal_texts_of_requests_are_equal_requests_and_the_long_ones_are_not_kept() -> None:
    for parameters in ({"a": 1}, {"a": True}, {"a": "x" * requests.MOST_TEXT}):
        request = Request("install", parameters)
        text = requests.to_json(request)
        first, again = requests.from_json(text), requests.from_json(text)
        assert first == again == request
        assert type(again.parameters["a"]) is type(parameters["a"])
        assert (first is again) is (len(text) <= requests.MOST_TEXT)


def test_full_sync_holds_after_a_process_group_was_noted(store: SqliteStore) -> None:
    with store.own("test"):
        store.set_process_group(1, 2)
        assert store.connections.writer().execute("pragma synchronous").fetchone() == (2,)


def test_what_is_read_at_once_sees_one_moment_and_what_is_damaged_is_told_as_ever(
    store: SqliteStore, path: Path, clock: a.FakeClock
) -> None:
    with closing(SqliteStore.open(path, clock)) as other:
        with store.at_once():
            before = store.deployments()
            other.create_deployment(a.deployment())
            assert store.deployments() == before == []
            with pytest.raises(LookupError), store.at_once():
                store.states(1)
            with pytest.raises(ZeroDivisionError), store.at_once():
                _ = 1 / len(store.deployments())  # no reading of a store: nobody calls it damaged
            assert store.deployments() == before
        assert [row.number for row in store.deployments()] == [1]


def test_a_link_to_a_store_leads_to_the_same_lock(store: SqliteStore, path: Path, clock: a.FakeClock) -> None:
    link = path.with_name("link.db")
    link.symlink_to(path)
    with (
        closing(SqliteStore.open(link, clock)) as other,
        store.own("test"),
        pytest.raises(ProblemsError),
        other.own("x"),
    ):
        pass


def test_a_url_names_a_store(tmp_path: Path, clock: a.FakeClock) -> None:
    opened = open_store(f"sqlite:///{tmp_path}/url.db", clock)
    opened.close()
    assert (tmp_path / "url.db").exists()
    assert isinstance(open_store("memory:", clock), MemoryStore)


@pytest.mark.parametrize("url", ["", "mysql://host/db", "sqlite:///", "store.db", "sqlite:store.db"])
def test_another_url_is_refused(url: str, clock: a.FakeClock) -> None:
    with pytest.raises(ProblemsError) as caught:
        open_store(url, clock)
    assert refusal(caught)[0] == "PL-S001"


# schema


def tables(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("select name, sql from sqlite_master where name not like 'sqlite_%'").fetchall()
        version = db.execute("pragma user_version").fetchone()[0]
        application = db.execute("pragma application_id").fetchone()[0]
        revision = db.execute("select version_num from alembic_version").fetchall()
    said = {name: " ".join(sql.lower().split()).replace("( ", "(").replace(" )", ")") for name, sql in rows}
    return {**said, "user_version": version, "application_id": application, "revision": str(revision)}


def test_a_fresh_store_has_the_schema_that_the_migrations_make(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    from phaseline.store.migrations import upgrade

    migrated = tmp_path / "migrated.db"
    upgrade(str(migrated))
    assert tables(migrated) == tables(path)


def test_a_fresh_store_and_a_present_one_are_opened_without_alembic(path: Path) -> None:
    code = """if True:
        import sys
        from phaseline.store import open_store
        from tests.store.builders import FakeClock
        for again in range(2):
            store = open_store(sys.argv[1], FakeClock())
            store.deployments()
            store.close()
        print([name for name in ("alembic", "sqlalchemy", "yaml") if name in sys.modules])
    """
    with python(code, f"sqlite:///{path}") as process:
        assert process.communicate()[0] == "[]\n"


def made_newer(path: Path, min_reader: int, min_writer: int) -> None:
    """The store as the next version of the program leaves it."""
    newer = schema.SCHEMA_VERSION + 1
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(
            "update store_schema set version = ?, min_reader = ?, min_writer = ?", (newer, min_reader, min_writer)
        )
        db.execute(f"pragma user_version = {newer}")


def test_up1_a_newer_store_that_this_version_may_only_read_is_read(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    made_newer(path, schema.SCHEMA_VERSION, schema.SCHEMA_VERSION + 1)
    with closing(SqliteStore.open(path, clock)) as store:
        assert store.deployment("shop") is not None
        for write in (
            lambda: store.create_deployment(a.deployment("other")),
            lambda: store.own("an engine").__enter__(),
        ):
            with pytest.raises(ProblemsError) as caught:
                write()
            assert refusal(caught)[0] == "PL-S002"
        assert store.owner() is None


def test_up1_a_newer_store_that_this_version_may_write_is_used(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    made_newer(path, schema.SCHEMA_VERSION, schema.SCHEMA_VERSION)
    with closing(SqliteStore.open(path, clock)) as store, store.own("an engine"):
        a.installed(store, "other")
        assert store.check() == []


def test_a_store_of_a_newer_version_is_refused_and_left_alone(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    made_newer(path, schema.SCHEMA_VERSION + 1, schema.SCHEMA_VERSION + 1)
    before = path.read_bytes()
    with pytest.raises(ProblemsError) as caught:
        SqliteStore.open(path, clock)
    assert refusal(caught)[0] == "PL-S002"
    assert path.read_bytes() == before


def test_an_older_store_is_migrated_unless_another_process_owns_it(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    with closing(SqliteStore.open(path, clock)) as store, store.own("an older phaseline"):
        with closing(sqlite3.connect(path)) as db:
            db.execute("pragma user_version = -1")  # no schema is older than the first: only the way there is tried
        with pytest.raises(ProblemsError) as caught:
            SqliteStore.open(path, clock)
    assert refusal(caught)[0] == "PL-S005"
    with closing(SqliteStore.open(path, clock)) as store:
        assert store.deployment("shop") is not None


def test_a_process_that_died_while_creating_leaves_an_empty_store(path: Path, clock: a.FakeClock) -> None:
    path.touch(0o600)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = wal")
    stored(path, clock)
    with closing(SqliteStore.open(path, clock)) as store:
        assert store.deployment("shop") is not None


def test_a_new_store_leaves_nothing_beside_it_but_what_sqlite_needs(path: Path, clock: a.FakeClock) -> None:
    SqliteStore.open(path, clock).close()
    assert [each.name for each in path.parent.iterdir()] == ["store.db"]


def test_a_file_that_a_dead_process_left_empty_becomes_a_store(path: Path, clock: a.FakeClock) -> None:
    path.touch()
    SqliteStore.open(path, clock).close()
    assert file.make_ready(str(path), 0).notices == ()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)


def test_many_processes_may_create_the_store_at_once(path: Path) -> None:
    code = """if True:
        import sys
        from phaseline.store import open_store
        from tests.store.builders import FakeClock
        sys.stdin.readline()
        print(open_store(sys.argv[1], FakeClock()).identity())
    """
    processes = [python(code, f"sqlite:///{path}") for _ in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert len({process.communicate()[0] for process in processes}) == 1


# one owner


OWNER = """if True:
    import sys
    from phaseline.store import open_store
    from tests.store.builders import FakeClock
    store = open_store(sys.argv[1], FakeClock())
    with store.own("phaseline install shop.yaml"):
        print("owned", flush=True)
        sys.stdin.readline()
"""


def test_the_refusal_names_pid_and_command_of_the_owner(store: SqliteStore, path: Path) -> None:
    with python(OWNER, f"sqlite:///{path}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "owned\n"
        with pytest.raises(ProblemsError) as caught:
            store.own("mine").__enter__()
        code, text = refusal(caught)
        assert code == "PL-S004"
        assert f"Process {process.pid} (phaseline install shop.yaml, since 1970-01-01 00:00:01 UTC)" in text
        owner = store.owner()
        assert owner is not None
        assert owner.pid == process.pid
        process.communicate("\n")
    assert store.owner() is None


def test_a_killed_owner_is_replaced_at_once(store: SqliteStore, path: Path) -> None:
    with python(OWNER, f"sqlite:///{path}") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        process.wait()
        with store.own("the next"):
            pass


def test_a_child_that_outlives_the_owner_does_not_keep_the_store(store: SqliteStore, path: Path) -> None:
    code = OWNER.replace(
        'print("owned", flush=True)',
        "import os\n        child = os.fork()\n        os.write(1, f\"{child or 'child'}\\n\".encode())",  # a line is one write
    )
    with python(code, f"sqlite:///{path}") as process:
        assert process.stdout is not None
        lines = {process.stdout.readline().strip(), process.stdout.readline().strip()}
        lines.remove("child")
        process.kill()
        process.wait()
        with store.own("the next"):
            pass
        os.kill(int(lines.pop()), 9)


def test_a_commit_of_a_passed_epoch_is_refused_and_writes_nothing(store: SqliteStore, path: Path) -> None:
    number, _ = store.create_deployment(a.deployment())
    with store.own("the first"):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("update store set epoch = epoch + 1")
        with pytest.raises(ProblemsError) as caught:
            store.commit(a.turn(states=(a.entered(number, (3,), 1),)))
    assert refusal(caught)[0] == "PL-S004"
    assert not store.states(number).any()


# one transaction


def test_a_turn_that_fails_in_the_middle_leaves_nothing_behind(store: SqliteStore) -> None:
    number, row = store.create_deployment(a.deployment(), a.execution())
    assert row is not None
    changes = {
        "graphs": (a.added(1, row.number, a.graph()),),
        "states": (a.entered(number, (3,), 1),),
        "pages": (a.page(1, 0, 6, 24),),
    }
    unstorable = TurnPayload(documents=[DocumentChange(number, 1, {("a",): {1, 2}})])  # type: ignore[dict-item]  # a set is no value
    with store.own("test"):
        with pytest.raises(TypeError):
            store.commit(a.turn(payload=unstorable, **changes))
        assert store.graphs(row.number) == []
        assert not store.states(number).any()
        store.commit(a.turn(states=(a.entered(number, (4,), 2),)))
    assert store.states(number).tolist() == [0, 0, 4, 0, 0, 0, 0, 0]


def test_a_document_that_stays_the_same_is_not_written(store: SqliteStore, path: Path) -> None:
    number, _ = store.create_deployment(a.deployment())
    with store.own("test"):
        for value in ("x", "x", "y"):
            store.commit(a.written(DocumentChange(number, 1, {("a",): value})))
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("select version from document").fetchall() == [(2,)]


def test_readers_in_other_threads_see_whole_turns(store: SqliteStore) -> None:
    number, row = store.create_deployment(a.deployment(), a.execution())
    assert row is not None
    torn: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen = set(store.states(number).tolist())
            if len(seen) > 1:
                torn.append(seen)

    threads = [threading.Thread(target=read) for _ in range(2)]
    with store.own("test"):
        for thread in threads:
            thread.start()
        for at in range(200):
            store.commit(a.turn(states=(a.entered(number, (at % 12,), *range(8)),)))
        done.set()
        for thread in threads:
            thread.join()
    assert torn == []


def test_another_process_reads_while_the_owner_writes(store: SqliteStore, path: Path) -> None:
    code = """if True:
        import sys
        from phaseline.store import open_store
        from tests.store.builders import FakeClock
        store = open_store(sys.argv[1], FakeClock())
        while sys.stdin.readline():
            print(store.states(1).tolist(), flush=True)
    """
    number, _ = store.create_deployment(a.deployment())
    with python(code, f"sqlite:///{path}") as reader, store.own("test"):
        assert reader.stdin is not None
        assert reader.stdout is not None
        for state in (1, 2, 3):
            store.commit(a.turn(states=(a.entered(number, (state,), *range(8)),)))
            reader.stdin.write("look\n")
            reader.stdin.flush()
            assert reader.stdout.readline() == f"{[state] * 8}\n"
        reader.stdin.close()


def test_lines_go_on_being_numbered_after_a_restart(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    for _ in range(2):
        with closing(SqliteStore.open(path, clock)) as store, store.own("test"):
            store.commit(a.turn(payload=TurnPayload(logs=[LogLine(1, 1, "info", "x")])))
    with closing(SqliteStore.open(path, clock)) as store:
        assert [line.sequence for line in store.logs(1)] == [1, 2]
