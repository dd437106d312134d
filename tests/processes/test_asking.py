"""Real processes at one store: many ask while one owns, none is told that the database is locked."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from tests.processes.shells import PATIENCE_S
from tests.started import Process
from tests.store import builders as a
from tests.store.files import python

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import LogLine, RequestAnswer, RequestKind, TurnPayload
from phaseline.store.sqlite.database_file import TURN_PATIENCE_S
from phaseline.store.sqlite.store import SqliteStore

WRITERS = 8
ASKED_BY_EACH = 25
TURNS = 1_000

WRITER = """if True:
    import json, sys, time
    from phaseline.model.rows.rows import Actor, RequestKind
    from phaseline.store import open_store
    from tests.store import builders as a
    url, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    store = open_store(url, a.FakeClock())
    print("ready", flush=True)
    sys.stdin.readline()
    asked, slowest = [], 0.0
    for number in range(count):
        began = time.perf_counter()
        asked.append(store.ask(RequestKind.WAKE, 1, {"by": name, "number": number}, Actor(name)))
        slowest = max(slowest, time.perf_counter() - began)
    _, row = store.create_deployment(a.deployment(name), a.execution())
    open_now = {one: None for one in asked}
    while None in open_now.values():
        for one, answer in open_now.items():
            if answer is None:
                open_now[one] = store.answer_of(one)
    answers = [open_now[one] for one in asked]
    print(json.dumps({"asked": asked, "answers": answers, "slowest": slowest, "execution": row.number}))
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(tmp_path / "store.db", a.FakeClock())) as opened:
        opened.create_deployment(a.deployment("first"), a.execution(), asks=False)
        yield opened


def owner_turns(store: SqliteStore, needed: int) -> tuple[list[int], float]:
    """Commit turns as fast as they go and answer what is asked; (numbers answered, the slowest turn in s)."""
    answered: list[int] = []
    slowest, turns, seen = 0.0, 0, 0
    deadline = time.monotonic() + 4 * PATIENCE_S  # each turn is on the disk when it is done, and disks differ
    while turns < TURNS or len(answered) < needed:
        turns += 1
        asked = store.requests(seen)
        seen = asked[-1].number if asked else seen
        answered.extend(row.number for row in asked)
        answers = [RequestAnswer(row.number, {"turn": turns, **row.body}) for row in asked]
        began = time.perf_counter()
        store.commit(a.turn(payload=TurnPayload(logs=[LogLine(1, turns, "info", str(turns))], answers=answers)))
        slowest = max(slowest, time.perf_counter() - began)
        assert time.monotonic() < deadline, f"{len(answered)} of {needed} have asked"
    return answered, slowest


def all_asked(store: SqliteStore, writers: Sequence[Process]) -> tuple[list[int], list[dict[str, Any]]]:
    """All writers ask while this process owns the store: (numbers answered, what each was told)."""
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    with store.own("the owner"):
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        answered, _ = owner_turns(store, WRITERS * (ASKED_BY_EACH + 1))
    return answered, [json.loads(writer.communicate()[0]) for writer in writers]


def test_many_ask_while_one_owns_and_each_is_answered_once(store: SqliteStore) -> None:
    url = f"sqlite:///{store.path}"
    with ExitStack() as started:
        writers = [started.enter_context(python(WRITER, url, f"w{number}", ASKED_BY_EACH)) for number in range(WRITERS)]
        answered, told = all_asked(store, writers)
    starts = [row for each in told for row in store.requests_of(each["execution"])]
    assert [row.kind for row in starts] == [RequestKind.START] * WRITERS
    asked = [number for each in told for number in each["asked"]]
    assert sorted(answered) == sorted(asked + [row.number for row in starts])
    assert len(set(answered)) == len(answered)
    for number, each in enumerate(told):
        assert [(one["by"], one["number"]) for one in each["answers"]] == [
            (f"w{number}", at) for at in range(ASKED_BY_EACH)
        ]
        assert each["slowest"] < TURN_PATIENCE_S
    assert list(store.requests()) == []
    assert [line.text for line in store.logs(1, limit=10**6)] == [
        str(at + 1) for at in range(len(store.logs(1, limit=10**6)))
    ]
    assert list(store.check()) == []


WAITER = """if True:
    import sys
    from phaseline.store import open_store
    from tests.store import builders as a
    store = open_store(sys.argv[1], a.FakeClock())
    with store.waiting():
        print("waiting", flush=True)
        sys.stdin.readline()
    print("gone", flush=True)
    sys.stdin.readline()
"""


def test_an_owner_sees_who_waits_until_it_leaves_or_dies(store: SqliteStore) -> None:
    url = f"sqlite:///{store.path}"
    with store.waiting(), store.own("test"):
        assert not store.somebody_waits()
        with python(WAITER, url) as leaves, python(WAITER, url) as dies:
            for each in (leaves, dies):
                assert each.stdout is not None
                assert each.stdout.readline() == "waiting\n"
            assert store.somebody_waits()
            assert leaves.stdin is not None
            assert leaves.stdout is not None
            leaves.stdin.write("go\n")
            leaves.stdin.flush()
            assert leaves.stdout.readline() == "gone\n"
            assert store.somebody_waits()
            dies.kill()
            dies.wait()
            assert not store.somebody_waits()
            leaves.kill()
    assert not store.somebody_waits()


def test_a_child_that_a_waiting_process_left_behind_does_not_wait(store: SqliteStore) -> None:
    child = (
        'import os; told, tell = os.pipe(); os.fork() or (os.write(tell, b"."), sys.stdin.readline(), os._exit(0)); '
        'os.read(told, 1); print("waiting", flush=True)'  # once the child has let go of what it inherited
    )
    with python(WAITER.replace('print("waiting", flush=True)', child), f"sqlite:///{store.path}") as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "waiting\n"
        assert store.somebody_waits()
        parent.kill()
        parent.wait()
        assert not store.somebody_waits()
        assert parent.stdin is not None
        parent.stdin.close()  # the child reads the end and goes


BEGINNER = """if True:
    import sys
    from dataclasses import replace
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.store import open_store
    from tests.store import builders as a
    store = open_store(sys.argv[1], a.FakeClock())
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(store.create_execution(a.execution(1, replace(a.REQUEST, workflow="uninstall"))).id)
    except ProblemsError as error:
        print(*(problem.code for problem in error.problems))
"""


def test_of_several_that_begin_at_once_one_does_and_the_others_are_told_which(store: SqliteStore) -> None:
    a.end(store, 1, ExecutionStatus.COMPLETED)
    beginners = [python(BEGINNER, f"sqlite:///{store.path}") for _ in range(4)]
    for each in beginners:
        assert each.stdout is not None
        each.stdout.readline()
    for each in beginners:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    said = sorted(each.communicate()[0].strip() for each in beginners)
    assert said == ["PL-C016", "PL-C016", "PL-C016", "uninstall-2"]
    assert [row.id for row in store.executions(only_open=True)] == ["uninstall-2"]
    assert len(store.requests()) == 1


RETRIER = BEGINNER.replace(
    'print(store.create_execution(a.execution(1, replace(a.REQUEST, workflow="uninstall"))).id)',
    "print('retry', store.ask(RequestKind.RETRY, 1, {}, Actor('bob')) > 0)",
).replace("    from dataclasses import replace\n", "    from phaseline.model.rows.rows import Actor, RequestKind\n")


def test_a_retry_and_a_beginning_at_once_are_not_both_accepted(store: SqliteStore) -> None:
    a.end(store, 1, ExecutionStatus.FAILED)
    ones = [python(code, f"sqlite:///{store.path}") for code in (BEGINNER, RETRIER, BEGINNER, RETRIER)]
    for each in ones:
        assert each.stdout is not None
        each.stdout.readline()
    for each in ones:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    said = [each.communicate()[0].strip() for each in ones]
    begun, retried = {said[0], said[2]} - {"PL-C016"}, {said[1], said[3]} - {"PL-C016"}
    assert (begun, retried) in [({"uninstall-2"}, set()), (set(), {"retry True"})]
    assert len(store.executions(only_open=True)) == len(begun)
