"""A store moves from a file to a database and back, through the command line and while others look on (ST12, BK2, BK5)."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.cli.terminal import Terminal
from tests.started import Process
from tests.store import builders as a
from tests.store.files import ROOT, python, refusal, stored
from tests.store.postgres_server import new_schema, server

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import LogLine, TurnPayload
from phaseline.store import open_store, transfer
from phaseline.store.postgres.connections import TAKE_LOCK

MEMORY_MIB = 48
"""Most memory in MiB that a copy may use above that of the program, whatever the size of the store."""
LARGE = 100_000
PATIENCE_S = 60


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal.in_folder(tmp_path)
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def database() -> str:
    """URL of a database without a store."""
    return new_schema()


@pytest.fixture
def file(path: Path, clock: a.FakeClock) -> str:
    """URL of a store in a file, with the deployment shop."""
    stored(path, clock)
    return f"sqlite:///{path}"


def names(url: str, clock: a.FakeClock) -> list[str]:
    with closing(open_store(url, clock, makes=False)) as store:
        assert list(store.check()) == []
        return [row.name for row in store.deployments()]


def refused(source: str, target: str, clock: a.FakeClock) -> tuple[str, str]:
    with pytest.raises(ProblemsError) as caught:
        transfer.copy(source, target, clock, print)
    return refusal(caught)


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        threading.Event().wait(0.005)


# through the command line


def test_st12_a_failed_install_on_sqlite_is_completed_and_uninstalled_on_postgresql(
    terminal: Terminal, database: str
) -> None:
    here = terminal.environment["PHASELINE_STORE_URL"]
    blueprint = terminal.write()
    terminal.trouble("top_1 top")
    assert terminal.ask("install", blueprint, "-d", "shop")[1]["status"] == "failed"
    terminal.run("secrets", "create", "key", "--value", "hush")
    code, done = terminal.ask("store", "copy", here, database)
    assert (code, done["waiting"]) == (0, 0)
    assert done["source"] == here
    assert done["target"] == database.partition("?")[0].replace("postgres:@", "").replace("postgres@", "")
    assert done["rows"] == sum(done["tables"].values()) > 10
    terminal.environment["PHASELINE_STORE_URL"] = database
    assert terminal.ask("executions", "list")[1]["executions"][0]["status"] == "failed"
    assert terminal.ask("secrets", "show", "key", "--reveal")[1]["value"] == "hush"
    terminal.trouble("")
    assert terminal.ask("executions", "retry", "install-1")[1]["status"] == "completed"
    assert terminal.ask("uninstall", "-d", "shop")[1]["id"] == "uninstall-2"
    assert terminal.ask("store", "check") == (0, {"url": done["target"], "findings": []})
    terminal.environment["PHASELINE_STORE_URL"] = here
    assert terminal.ask("executions", "list")[1]["total"] == 1, "the source is as it was"


def test_st12_an_install_that_was_killed_waits_in_the_copy_and_is_resumed_there(
    terminal: Terminal, database: str
) -> None:
    blueprint = terminal.write()
    slow = terminal.folder / "plugins" / "slow"
    plugin = terminal.folder / "plugins" / "made.py"
    waits = "    if TROUBLE.with_name('slow').exists():\n        TROUBLE.with_name('slow').read_text()\n    wanted ="
    plugin.write_text(plugin.read_text().replace("    wanted =", waits))
    os.mkfifo(slow)  # nobody writes, so whoever reads waits until it is killed
    command = [sys.executable, "-m", "phaseline", "install", blueprint, "-d", "shop"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **terminal.environment}
    with Process(command, env=environment, cwd=terminal.folder, text=True) as engine:
        until(terminal.calls)
        engine.kill()
    slow.unlink()
    here = terminal.environment["PHASELINE_STORE_URL"]
    shown = terminal.run("store", "copy", here, database)
    assert shown.exit_code == 0
    assert "1 open execution waits: the former store may have continued" in shown.stdout
    terminal.environment["PHASELINE_STORE_URL"] = database
    code, told = terminal.ask("executions", "resume", "install-1")
    assert (code, told["problems"][0]["code"]) == (1, "PL-S013")
    assert terminal.ask("store", "restore", "--go-on")[1]["executions"] == ["install-1"]
    assert terminal.ask("executions", "resume", "install-1")[1]["status"] == "attention", "a call was running"
    assert terminal.ask("executions", "retry", "install-1")[1]["status"] == "completed"
    assert sorted(terminal.calls()) == ["create base", "create base", "create top", "create top"]
    assert terminal.ask("uninstall", "-d", "shop")[1]["status"] == "completed"


def test_bk5_a_backup_is_restored_into_a_database_by_the_command(terminal: Terminal, database: str) -> None:
    terminal.environment["PHASELINE_STORE_URL"] = database
    blueprint = terminal.write()
    terminal.run("install", blueprint, "-d", "one")
    backup = str(terminal.folder / "backup.db")
    code, saved = terminal.ask("store", "backup", backup)
    assert (code, saved["size_bytes"]) == (0, Path(backup).stat().st_size)
    assert terminal.ask("store", "backup", backup)[1]["problems"][0]["code"] == "PL-S006"
    terminal.run("install", blueprint, "-d", "two")
    shown = terminal.run("store", "restore", backup)
    assert "The previous store is kept in the schema " in shown.stdout
    assert [row["name"] for row in terminal.ask("deployments", "list")[1]["deployments"]] == ["one"]
    assert terminal.ask("uninstall", "-d", "one")[1]["status"] == "completed"
    assert terminal.ask("store", "restore", database)[1]["kept"] == ""
    code, told = terminal.ask("store", "restore", new_schema())
    assert (code, told["problems"][0]["code"]) == (1, "PL-S014")
    assert "store copy" in told["problems"][0]["mend"]
    terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{terminal.folder}/file.db"
    assert terminal.ask("store", "restore", backup)[0] == 0, "the backup of a database is a store in a file"
    assert terminal.ask("deployments", "list")[1]["total"] == 1


# refused


def test_st12_bad_urls_are_refused(file: str, database: str, tmp_path: Path, clock: a.FakeClock) -> None:
    (tmp_path / "text.db").write_text("no store")
    for source, target, code in (
        (file, file, "PL-S017"),
        (file, file.replace("store.db", "./store.db"), "PL-S017"),
        (database, database, "PL-S007"),
        (database, f"sqlite:///{tmp_path}/new.db", "PL-S007"),
        (f"sqlite:///{tmp_path}/missing.db", database, "PL-S007"),
        (f"sqlite:///{tmp_path}/text.db", database, "PL-S001"),
        (file, f"sqlite:///{tmp_path}/text.db", "PL-S001"),
        ("store.db", database, "PL-S001"),
        (file, "mysql://host/shop", "PL-S001"),
        (file, "postgresql://host/shop?nonsense=1", "PL-S001"),
        (file, "postgresql://127.0.0.1:1/shop", "PL-S030"),
        ("memory:", database, "PL-S008"),
        (file, "memory:", "PL-S008"),
    ):
        assert refused(source, target, clock)[0] == code, (source, target)
    transfer.copy(file, database, clock, print)
    for source, target in ((database, database), (file, database), (database, file)):
        code, text = refused(source, target, clock)
        assert code == "PL-S017"
        assert "the same store" in text
    assert not (tmp_path / "new.db").exists()


def test_st12_an_owned_source_is_not_copied(file: str, database: str, tmp_path: Path, clock: a.FakeClock) -> None:
    new = f"sqlite:///{tmp_path}/new.db"
    with closing(open_store(file, clock)) as store, store.own("an engine"):
        code, text = refused(file, database, clock)
        assert code == "PL-S004"
        assert "an engine" in text
    transfer.copy(file, database, clock, print)
    with closing(open_store(database, clock)) as store, store.own("an engine"):
        assert refused(database, new, clock)[0] == "PL-S004"
    transfer.copy(database, new, clock, print)
    assert names(new, clock) == ["shop"]


def test_st12_nobody_owns_the_source_while_it_is_copied_and_it_is_free_afterwards(
    database: str, path: Path, clock: a.FakeClock
) -> None:
    with closing(open_store(database, clock)) as store:
        a.installed(store)
        held = Held.requests_of(database)
        words = (database, f"sqlite:///{path}", clock, print)
        copying = threading.Thread(target=transfer.copy, args=words, daemon=True)
        copying.start()
        held.until_awaited()
        owner = store.owner()
        assert owner is not None
        assert owner.command == transfer.COMMAND
        with pytest.raises(ProblemsError) as caught, store.own("an engine"):
            pass
        assert refusal(caught)[0] == "PL-S004"
        held.release()
        copying.join()
        assert store.owner() is None
    assert names(f"sqlite:///{path}", clock) == ["shop"]


# meanwhile


class Held:
    """A lock in a database: until ``release``, a copy that comes to it waits."""

    def __init__(self, url: str, statement: str) -> None:
        self._db = psycopg.connect(url)
        self._db.execute(statement)

    @classmethod
    def requests_of(cls, url: str) -> "Held":
        """A lock of the table of requests, to which a copy of the database comes after many other tables."""
        return cls(url, "lock table request in access exclusive mode")

    @classmethod
    def target(cls, url: str) -> "Held":
        """The lock that a copy into the database takes first, when it has begun to read the source."""
        return cls(url, TAKE_LOCK)

    def until_awaited(self) -> None:
        pid = self._db.info.backend_pid
        waiting = "select count(*) from pg_stat_activity where %s = any(pg_blocking_pids(pid))"
        with psycopg.connect(server(), autocommit=True) as db:
            until(lambda: db.execute(waiting, (pid,)).fetchone() != (0,))

    def release(self) -> None:
        self._db.close()


@pytest.mark.parametrize("is_file", [True, False])
def test_st12_a_command_that_is_killed_in_the_middle_leaves_no_store_and_can_be_repeated(
    database: str, tmp_path: Path, clock: a.FakeClock, *, is_file: bool
) -> None:
    target = f"sqlite:///{tmp_path}/new.db" if is_file else new_schema()
    with closing(open_store(database, clock)) as store:
        a.installed(store)
    command = [sys.executable, "-m", "phaseline", "store", "copy", database, target]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    held = Held.requests_of(database)
    with Process(command, env=environment, text=True) as copying:
        held.until_awaited()
        copying.kill()
    held.release()
    for part in tmp_path.glob("new.db.copying"):
        with pytest.raises(ProblemsError) as caught:
            open_store(f"sqlite:///{part}", clock)
        assert refusal(caught)[0] == "PL-S001"
    with pytest.raises(ProblemsError) as caught:
        open_store(target, clock, makes=False)
    assert refusal(caught)[0] == "PL-S007"
    code, text = refused(database, target, clock)
    assert (code, transfer.COMMAND in text) == ("PL-S004", True), "for the 4 s of the lease of the killed command"
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("update lease set until = clock_timestamp()")
    transfer.copy(database, target, clock, print)
    assert names(target, clock) == ["shop"]
    assert not list(tmp_path.glob("new.db.copying*"))


@pytest.mark.parametrize("is_file", [True, False])
def test_st12_a_change_of_the_source_while_it_is_copied_is_not_lost_but_told(
    file: str, database: str, clock: a.FakeClock, *, is_file: bool
) -> None:
    """The copy of a file waits for the target's lock, that of a database for the source's table."""
    source, target = (file, new_schema()) if is_file else (database, f"{file}.new")
    found: list[tuple[str, str]] = []
    copying = threading.Thread(target=lambda: found.append(refused(source, target, clock)), daemon=True)
    with closing(open_store(source, clock)) as store:
        if not is_file:
            a.installed(store)
        held = Held.target(target) if is_file else Held.requests_of(source)
        copying.start()
        held.until_awaited()
        store.know_phases({"meanwhile": "{}"})
        held.release()
        copying.join()
    assert found[0][0] == "PL-S017"
    assert "changed it meanwhile" in found[0][1]
    transfer.copy(source, target, clock, print)
    with closing(open_store(target, clock)) as store:
        assert list(store.known_phases()) == ["meanwhile"]


# rows


def test_st12_a_text_with_nul_is_the_same_there_and_back(
    file: str, database: str, tmp_path: Path, clock: a.FakeClock
) -> None:
    text = "a\x00b\ufdd0\ufdd1\x00"
    with closing(open_store(file, clock)) as store, store.own("test"):
        store.commit(a.turn(payload=TurnPayload(logs=[LogLine(1, 1, "info", text)])))
    back = f"sqlite:///{tmp_path}/back.db"
    transfer.copy(file, database, clock, print)
    transfer.copy(database, back, clock, print)
    for url in (file, database, back):
        with closing(open_store(url, clock)) as store:
            assert [line.text for line in store.logs(1)] == [text]


def test_st12_each_copy_begins_another_incarnation_with_the_identity_of_the_source(
    file: str, database: str, tmp_path: Path, clock: a.FakeClock
) -> None:
    back = f"sqlite:///{tmp_path}/back.db"
    transfer.copy(file, database, clock, print)
    transfer.copy(database, back, clock, print)
    identities, lives = set(), []
    for url in (file, database, back):
        with closing(open_store(url, clock)) as store:
            assert store.notices == ()
            identities.add(store.identity())
            lives.append([one.name for one in store.incarnations.all()])
    assert len(identities) == 1
    assert [len(each) for each in lives] == [0, 1, 2]
    assert lives[2][0] == lives[1][0]


def test_st12_a_backup_can_be_copied_and_stays_a_backup(
    file: str, database: str, tmp_path: Path, clock: a.FakeClock
) -> None:
    backup = tmp_path / "backup.db"
    with closing(open_store(file, clock)) as store:
        store.backup(str(backup))
    transfer.copy(f"sqlite:///{backup}", database, clock, print)
    assert names(database, clock) == ["shop"]
    with closing(open_store(f"sqlite:///{backup}", clock)) as store:
        assert "it is a backup" in store.notices[0]


def test_st12_an_older_store_is_upgraded_before_it_is_copied(database: str, tmp_path: Path, clock: a.FakeClock) -> None:
    old = tmp_path / "old.db"
    old.write_bytes((Path(__file__).parent / "data" / "store-v1.db").read_bytes())
    told: list[str] = []
    transfer.copy(f"sqlite:///{old}", database, clock, told.append)
    assert "was brought from schema 1" in told[0]
    assert names(database, clock) == ["late", "old", "shop"]


PEAK = """if True:
    import json, resource, sys
    from tests.store.builders import FakeClock
    from phaseline.store import transfer
    from phaseline.store.postgres import copied_store, store
    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    before = peak()
    done = transfer.copy(sys.argv[1], sys.argv[2], FakeClock(), print)
    print(json.dumps([done.rows, peak() - before]))
"""


@pytest.fixture
def large(path: Path, clock: a.FakeClock) -> str:
    """A store with 100,000 instances, of which each has nine entries and runtime properties of 700 bytes."""
    import sqlite3

    with closing(open_store(f"sqlite:///{path}", clock)) as store:
        number, run = a.installed(store, hosts=LARGE, apps=0)
        with store.own("test"):
            store.commit(a.turn(graphs=(a.added(1, run, a.graph(LARGE, 9)),)))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        body = json.dumps({"text": "x" * 700})
        rows = ((number, at, 1, body) for at in range(LARGE))
        db.execute("begin")
        db.executemany("insert into document values (?, ?, ?, ?)", rows)
        db.execute("commit")
    return f"sqlite:///{path}"


def test_st12_a_large_store_is_copied_row_by_row_in_bounded_memory(
    large: str, database: str, tmp_path: Path, clock: a.FakeClock
) -> None:
    size = Path(large.removeprefix("sqlite:///")).stat().st_size
    assert size > 1.5 * MEMORY_MIB * 1024**2
    for source, target in ((large, database), (database, f"sqlite:///{tmp_path}/back.db")):
        with python(PEAK, source, target) as copying:
            assert copying.stdout is not None
            rows, mib = json.loads(copying.stdout.read())
        assert rows > LARGE
        assert mib < MEMORY_MIB, (source, mib)
    assert names(f"sqlite:///{tmp_path}/back.db", clock) == ["shop"]
