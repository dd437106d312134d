"""Looking after a file while an engine works on it: check, copy, compact."""

import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.files import refusal

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.maintenance import StoreFinding
from phaseline.model.rows.rows import DocumentChange, LogLine, TurnPayload
from phaseline.store.memory.store import MemoryStore
from phaseline.store.sqlite import compaction as compacting
from phaseline.store.sqlite.store import SqliteStore


@pytest.fixture
def store(path: Path, clock: a.FakeClock) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(path, clock)) as opened:
        filled(opened)
        yield opened


def filled(store: SqliteStore) -> None:
    """A deployment whose execution has a graph, pages, notes, batches, documents and lines."""
    number, run = a.installed(store)
    documents = [DocumentChange(number, at, {("x",): "y" * 50}) for at in range(8)]
    with store.own("test"):
        store.commit(
            a.turn(
                graphs=(a.added(1, run, a.graph(500, 3)),),
                pages=(a.page(1, 0, 6), a.page(1, 1, 3, 500)),
                opened=(a.batch(1, run, a.numbers(1, 2)), a.batch(2, run, a.numbers(3))),
                states=(a.entered(number, (3,), 1),),
                payload=TurnPayload(documents=documents, logs=[LogLine(run, 1, "info", "x")]),
            )
        )
        store.commit(a.turn(closed=(a.closed(1, 1, 2),)))


# check


def test_a_sound_store_has_no_findings(store: SqliteStore) -> None:
    assert list(store.check()) == []


@pytest.mark.parametrize(
    ("damage", "where", "words"),
    [
        ("delete from blueprint", "deployment", "1 have no blueprint"),
        ("delete from topology", "deployment", "1 have no topology"),
        ("delete from graph", "page", "2 belong to no graph"),
        ("delete from graph", "batch", "members of a missing graph 1"),
        ("delete from deployment", "execution", "1 belong to no deployment (one is install-1)"),
        ("delete from deployment", "document", "8 belong to no instance"),
        ("delete from execution", "log", "1 belong to no execution"),
        ("delete from execution", "graph", "1 belong to no execution"),
        ("delete from execution", "request", "1 belong to no execution"),
        ("update batch set positions = x'00693400000000' where id = 2", "batch", "2: it has no members"),
        ("update batch set last_graph = 7 where id = 2", "batch", "2: its graphs are not those of its columns"),
        ("update graph set after_batch = 1 where id = 1", "batch", "1 are outside of the range of their execution"),
        ("update graph set entry_count = 2 where id = 1", "batch", "members that its graph does not have"),
        ("update page set statuses = x'0606' where number = 1", "page", "1 do not fit the number of entries (one is 1, page 1)"),
        ("update page set number = 7 where number = 1", "page", "1 do not fit the number of entries"),
        ("update graph set entry_count = 400", "page", "do not fit the number of entries"),
        ("update graph set entry_count = 400", "graph", "its columns are not those of 400 entries"),
        ("update page set statuses = randomblob(1000) where number = 0", "page", "an unknown status"),
        ("update state_page set states = x'01'", "state_page", "1 do not fit the number of instances"),
        ("update document set instance = 8 where instance = 7", "document", "1 belong to no instance"),
        ("update document set body = '{' where instance = 7", "document", "1 are no JSON"),
        ("update execution set status = 'lost'", "execution", "1 have an unknown status"),
        ("update execution set ended_at = 5", "execution", "1 are open but have an end"),
        ("update request set kind = 'dance'", "request", "1 are not understood"),
        ("update topology set node = substr(node, 1, 9)", "topology", "1 cannot be unpacked"),
        ("update deployment set instance_count = 9", "topology", "8 instances instead of 9"),
        ("update batch set positions = x'00' where id = 1", "batch", "a column without a head"),
        ("update batch set kinds = (select positions from batch where id = 2) where id = 1", "batch", "1 answers of 2 members"),
        ("drop table note", "note", "cannot be read: no such table"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_found(store: SqliteStore, path: Path, damage: str, where: str, words: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(damage)
    findings = store.check()
    assert [found for found in findings if found.where == where and words in found.message], findings


def test_an_execution_that_waits_for_another_one_of_its_deployment_is_sound(store: SqliteStore) -> None:
    store.create_execution(a.execution(1), beside=lambda _other: True)
    assert len(store.executions(only_open=True)) == 2
    assert list(store.check()) == []


@pytest.mark.parametrize("body", ['{"load":NaN}', '{"x":[Infinity,-Infinity]}'])
def test_a_number_that_json_does_not_know_was_stored_once_and_is_sound(
    store: SqliteStore, path: Path, tmp_path: Path, clock: a.FakeClock, body: str
) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("update document set body = ? where instance = 3", (body,))
    assert list(store.check()) == []
    store.backup(str(tmp_path / "copy.db"))
    with closing(SqliteStore.open(tmp_path / "copy.db", clock)) as copy:
        assert list(copy.check()) == []
        assert set(copy.documents(1)[3]) <= {"load", "x"}


def test_damaged_pages_of_the_file_are_found(store: SqliteStore, path: Path, clock: a.FakeClock) -> None:
    with store.own("test"):
        changes = [DocumentChange(1, at, {("x",): str(at) * 3_000}) for at in range(8)]
        store.commit(a.written(*changes))
    store.compact()
    store.close()
    with path.open("r+b") as handle:
        handle.seek(path.stat().st_size - 12_000)
        handle.write(b"\xff" * 12_000)
    with closing(SqliteStore.open(path, clock)) as again:
        findings = again.check()
    assert findings
    assert findings[0].where == "file"
    assert str(findings[0]).startswith("file: ")


def test_checking_changes_nothing(store: SqliteStore) -> None:
    look = store.changed()
    store.check()
    assert store.changed(look) == 0


# copy


def test_a_copy_is_a_store_of_its_own(store: SqliteStore, tmp_path: Path, clock: a.FakeClock) -> None:
    copy = tmp_path / "copies.db"
    size = store.backup(str(copy))
    assert size == copy.stat().st_size
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {each.name for each in tmp_path.iterdir() if each.name.startswith("copies")} == {"copies.db"}
    with closing(SqliteStore.open(copy, clock)) as opened:
        assert list(opened.check()) == []
        assert opened.identity() == store.identity()
        assert opened.statuses(1).tolist() == store.statuses(1).tolist()
        with opened.own("another place"):
            opened.commit(a.turn(states=(a.entered(1, (9,), 0),)))
    assert store.states(1).tolist()[0] == 0


@pytest.mark.parametrize("name", ["taken.db", "missing/copy.db", "."])
def test_a_copy_replaces_nothing_and_needs_its_folder(store: SqliteStore, tmp_path: Path, name: str) -> None:
    (tmp_path / "taken.db").write_text("precious")
    before = sorted(each.name for each in tmp_path.iterdir())
    with pytest.raises(ProblemsError) as caught:
        store.backup(str(tmp_path / name))
    assert refusal(caught)[0] == "PL-S006"
    assert sorted(each.name for each in tmp_path.iterdir()) == before
    assert (tmp_path / "taken.db").read_text() == "precious"


def test_a_store_in_memory_has_nothing_to_copy_or_compact(clock: a.FakeClock, tmp_path: Path) -> None:
    store = MemoryStore(clock)
    with pytest.raises(ProblemsError) as caught:
        store.backup(str(tmp_path / "copy.db"))
    assert refusal(caught)[0] == "PL-S006"
    assert (store.compact().before, store.compact().after) == (0, 0)


# compact


def grown_and_purged(store: SqliteStore) -> None:
    """Much was written and most of it removed."""
    number, _ = store.create_deployment(a.deployment("large", hosts=10, apps=400))
    for _ in range(3):
        row = store.create_execution(a.execution(number), asks=False)
        lines = [LogLine(row.number, 1, "info", "x" * 900) for _ in range(2_000)]
        with store.own("test"):
            store.commit(a.turn(payload=TurnPayload(logs=lines)))
        a.end(store, row.number)
    store.delete_deployment(number)
    a.purge(store, 10**9)


def test_what_is_free_is_given_back(store: SqliteStore, path: Path) -> None:
    grown_and_purged(store)
    done = store.compact()
    assert done.before > 5_000_000 > 500_000 > done.after == path.stat().st_size
    assert (done.left, done.reason) == (0, "")
    assert list(store.check()) == []
    again = store.compact()
    assert again.after <= again.before


def test_while_an_engine_runs_it_is_given_back_as_well(store: SqliteStore, path: Path, clock: a.FakeClock) -> None:
    grown_and_purged(store)
    with closing(SqliteStore.open(path, clock)) as other, store.own("an engine"):
        done = other.compact()
        store.commit(a.turn(states=(a.entered(1, (4,), 0),)))
    assert (done.left, done.reason) == (0, "")
    assert done.after < 500_000
    assert store.states(1).tolist()[0] == 4


def test_whoever_reads_keeps_the_log_but_is_not_waited_for(store: SqliteStore, path: Path) -> None:
    grown_and_purged(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from execution").fetchone()
        store.create_deployment(a.deployment("later"))
        assert store.compact().reason == compacting.READERS
    assert store.compact().reason == ""


def without_free_list(path: Path) -> None:
    """As a store of schema 1 was made: it cannot give back page by page."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma auto_vacuum = none")
        db.execute("vacuum")


def test_a_store_of_an_earlier_version_is_written_anew_when_nobody_owns_it(
    store: SqliteStore, path: Path, clock: a.FakeClock
) -> None:
    grown_and_purged(store)
    without_free_list(path)
    store.create_deployment(a.deployment("more", apps=3_000))
    store.delete_deployment(store.deployments()[0].number)
    a.purge(store, 10**9)
    with closing(SqliteStore.open(path, clock)) as other, store.own("an engine"):
        done = other.compact()
        assert done.reason == compacting.NOT_WHILE_OWNED
        assert done.left > 0
        assert store.compact().reason == compacting.NOT_WHILE_OWNED, "an owner is an engine at work too"
    assert store.compact().left == 0
    assert list(store.check()) == []
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("pragma auto_vacuum").fetchone() == (2,)


# all of it while an engine works


def test_upkeep_and_an_engine_do_not_stop_one_another(
    store: SqliteStore, path: Path, tmp_path: Path, clock: a.FakeClock
) -> None:
    grown_and_purged(store)
    trouble: list[object] = []

    def each(number: int, work: Callable[[SqliteStore], object]) -> None:
        with closing(SqliteStore.open(path, clock)) as other:
            for _ in range(number):
                found = work(other)
                if isinstance(found, list) and found:
                    trouble.append(found)

    copies = iter(range(100))
    works: list[tuple[int, Callable[[SqliteStore], object]]] = [
        (5, lambda other: other.backup(str(tmp_path / f"copy-{next(copies)}.db"))),
        (5, lambda other: other.compact()),
        (5, lambda other: list(other.check())),
        (20, lambda other: a.purge(other, 10**9)),
    ]
    threads = [threading.Thread(target=each, args=work) for work in works]
    with store.own("an engine"):
        for thread in threads:
            thread.start()
        turns = 0
        while any(thread.is_alive() for thread in threads) or turns < 50:
            turns += 1
            store.commit(a.turn(payload=TurnPayload(logs=[LogLine(1, turns, "info", "x" * 500)])))
        for thread in threads:
            thread.join()
    assert trouble == []
    assert len(store.logs(1, limit=10**6)) == turns + 1
    for number in range(5):
        with closing(SqliteStore.open(tmp_path / f"copy-{number}.db", clock)) as copy:
            assert list(copy.check()) == []


def test_a_finding_is_one_line() -> None:
    assert str(StoreFinding("page", "3 belong to no graph", 3)) == "page: 3 belong to no graph"
