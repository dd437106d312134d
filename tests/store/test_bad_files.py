"""What is no store, is damaged, read-only, locked or too small is told as a Problem; nothing stored is lost."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store import builders as a
from tests.store.files import python, refusal, stored

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.codec.limits import PAGE_BYTES
from phaseline.store.sqlite.store import SqliteStore


@pytest.mark.parametrize("content", [b"hello\n", b"hello world, this is no database\n" * 400], ids=["short", "long"])
def test_a_file_of_something_else_is_refused_and_left_alone(path: Path, clock: a.FakeClock, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ProblemsError) as caught:
        SqliteStore.open(path, clock)
    assert refusal(caught)[0] == "PL-S001"
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path, clock: a.FakeClock) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table theirs (x)")
    before = path.read_bytes()
    with pytest.raises(ProblemsError) as caught:
        SqliteStore.open(path, clock)
    assert refusal(caught)[0] == "PL-S001"
    assert path.read_bytes() == before


def test_a_folder_is_refused(tmp_path: Path, clock: a.FakeClock) -> None:
    with pytest.raises(ProblemsError) as caught:
        SqliteStore.open(tmp_path, clock)
    assert refusal(caught)[0] == "PL-S001"


def test_a_path_below_a_file_is_refused(tmp_path: Path, clock: a.FakeClock) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ProblemsError) as caught:
        SqliteStore.open(tmp_path / "file" / "store.db", clock)
    assert refusal(caught)[0] == "PL-S001"


def test_damaged_pages_are_reported(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    with path.open("r+b") as handle:
        handle.seek(PAGE_BYTES)
        handle.write(os.urandom(path.stat().st_size - PAGE_BYTES))
    with closing(SqliteStore.open(path, clock)) as store, pytest.raises(ProblemsError) as caught:
        store.deployments()
    assert refusal(caught)[0] == "PL-S003"


@pytest.mark.parametrize(
    ("table", "column"), [("topology", "node"), ("topology", "links"), ("blueprint", "inputs"), ("blueprint", "body")]
)
def test_damaged_values_are_reported(path: Path, clock: a.FakeClock, table: str, column: str) -> None:
    stored(path, clock)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"update {table} set {column} = cast(substr({column}, 1, length({column}) - 1) as blob)")
    with closing(SqliteStore.open(path, clock)) as store, pytest.raises(ProblemsError) as caught:
        store.inputs(1) if column == "inputs" else store.topology(1)
    assert refusal(caught)[0] == "PL-S003"


def test_a_file_cut_short_is_reported(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    whole = path.read_bytes()
    for share in range(1, 10):
        path.write_bytes(whole[: len(whole) * share // 10])
        with pytest.raises(ProblemsError) as caught:
            written_and_read(path, clock)
        assert refusal(caught)[0] in {"PL-S001", "PL-S003"}


def written_and_read(path: Path, clock: a.FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store:
        store.create_deployment(a.deployment("other"))
        store.topology(1)


def test_a_file_locked_by_another_program_is_reported(path: Path, clock: a.FakeClock) -> None:
    store = SqliteStore.open(path, clock)
    with closing(store), closing(sqlite3.connect(path, isolation_level=None)) as other, store.own("test"):
        store.connections.patience_s = 0.01
        other.execute("begin immediate")
        with pytest.raises(ProblemsError) as caught:
            store.commit(a.turn())
        other.execute("rollback")
        store.commit(a.turn())
    assert refusal(caught)[0] == "PL-S005"


READ_ONLY = """if True:
    import ctypes, os, struct, sys
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.store.sqlite.store import SqliteStore
    from tests.store.builders import FakeClock, deployment
    if os.geteuid() == 0:  # permissions do not bind root, as long as it may do everything
        version_3 = struct.pack("Ii", 0x20080522, 0)
        assert ctypes.CDLL(None).capset(version_3, bytes(24)) == 0
    store = SqliteStore.open(sys.argv[1], FakeClock())
    print(store.deployment("shop").name)
    try:
        store.create_deployment(deployment("other"))
    except ProblemsError as error:
        print(*(problem.code for problem in error.problems))
"""


def test_a_read_only_file_is_read_and_a_write_is_refused(path: Path, clock: a.FakeClock) -> None:
    stored(path, clock)
    path.chmod(0o444)
    with python(READ_ONLY, path) as process:
        assert process.communicate()[0].split() == ["shop", "PL-S005"]


DISK_FULL = """if True:
    import resource, signal, sys
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.store import open_store
    from tests.store import builders as a
    store = open_store(sys.argv[1], a.FakeClock())
    number, run = store.create_deployment(a.deployment(hosts=10, apps=1_000), a.execution())
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with store.own("test"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
        done = -1
        try:
            for at in range(1_000):
                instances = range(at * 10, at * 10 + 10)
                changes = [a.DocumentChange(number, each, {("x",): "y" * 1_000}) for each in instances]
                store.commit(a.turn(states=(a.entered(number, (3,), *instances),), payload=a.TurnPayload(documents=changes)))
                done = at
        except ProblemsError as error:
            print(done, *(problem.code for problem in error.problems), flush=True)
        seen = len(store.documents(number))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        store.commit(a.turn(states=(a.entered(number, (5,), 9_999),)))
        print(seen, int((store.states(number) == 3).sum()), int(store.states(number)[9_999]))
"""


def test_a_full_disk_is_reported_and_nothing_committed_is_lost(path: Path, clock: a.FakeClock) -> None:
    with python(DISK_FULL, f"sqlite:///{path}") as process:
        said = process.communicate()[0].split()
    done = int(said[0])
    count = (done + 1) * 10
    assert said[1:] == ["PL-S005", str(count), str(count), "5"]
    assert done > 0
    with closing(SqliteStore.open(path, clock)) as store:
        assert len(store.documents(1)) == count
        assert int((store.states(1) == 3).sum()) == count


ENGINE_ON_A_FULL_DISK = """if True:
    import os, resource, signal, sys
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.store.sqlite.store import SqliteStore
    from phaseline.testing.clock import VirtualClock
    from tests.store.engines import deployed, engine, turn
    clock = VirtualClock(1_000)
    store = SqliteStore.open(sys.argv[1], clock)
    deployed(store, "shop", 1_000)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with engine(store, clock) as (going, executor):
            going.recover()
            turn(going, executor, 3)
            resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(sys.argv[1] + "-wal"), resource.RLIM_INFINITY))
            turn(going, executor)
    except ProblemsError as error:
        print(*(problem.code for problem in error.problems))
    print(store.executions()[0].status.value, len(store.batches()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with engine(store, clock) as (going, executor):
        going.recover()
        turn(going, executor)
    print(store.executions()[0].status.value, len(store.check()))
"""


def test_an_engine_on_a_full_disk_is_told_so_and_the_next_goes_on_when_there_is_room(path: Path) -> None:
    with python(ENGINE_ON_A_FULL_DISK, path) as process:
        code, status, batches, ended, findings = process.communicate()[0].split()
    assert (code, status) == ("PL-S005", "running")
    assert int(batches) > 0, "it failed in the middle"
    assert (ended, findings) == ("completed", "0")


REPEATED = """if True:
    import os, resource, signal, sys
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.rows import LogLine
    from phaseline.store import open_store
    from tests.store import builders as a
    store = open_store(f"sqlite:///{sys.argv[1]}", a.FakeClock())
    number, run = a.installed(store)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    lines = [LogLine(run, 1, "info", "x" * 500) for _ in range(100)]
    changed = a.turn(states=(a.entered(number, (3,), 1),), payload=a.TurnPayload(logs=lines))
    with store.own("test"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(sys.argv[1] + "-wal") + 9_000, resource.RLIM_INFINITY))
        for _ in range(2):
            try:
                store.commit(changed)
            except ProblemsError as error:
                print(*(problem.code for problem in error.problems), len(store.logs(run)), int(store.states(number)[1]))
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(*(line.sequence for line in store.logs(run)[-1:]), int(store.states(number)[1]))
"""


def test_the_very_turn_that_found_the_disk_full_may_be_committed_again(path: Path) -> None:
    with python(REPEATED, path) as process:
        assert process.communicate()[0].splitlines() == ["PL-S005 0 0", "100 3"]
