"""The store in memory removes as many executions in a slice as it is told, at most."""

from dataclasses import replace

from tests.store import builders as a

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.maintenance import PurgeRules
from phaseline.model.rows.rows import LogLine, RequestAnswer, TurnPayload
from phaseline.store.memory.purge import MemoryPurge
from phaseline.store.memory.store import MemoryStore


def filled(count: int) -> MemoryStore:
    """A store with an install and ``count`` other executions, of which each has three log lines."""
    store = MemoryStore(a.FakeClock())
    number, run = a.installed(store)
    a.end(store, run)
    request = replace(a.REQUEST, workflow="heal")
    with store.own("test"):
        for _ in range(count):
            run = store.create_execution(a.execution(number, request)).number
            store.commit(a.turn(payload=TurnPayload(logs=[LogLine(run, 1, "info", "x")] * 3)))
            store.commit(a.turn(executions=(a.status(run, ExecutionStatus.COMPLETED),)))
        answers = [RequestAnswer(row.number) for row in store.requests()]
        store.commit(a.turn(payload=TurnPayload(answers=answers)))
    return store


def slices(store: MemoryStore, rules: PurgeRules) -> list[tuple[int, int]]:
    """Executions and lines that each slice removes."""
    purging = MemoryPurge(store._changing, rules, store._own, store._forget_gone, removed_together=2)
    found = []
    while not purging.is_over:
        removed = purging.slice()
        found.append((removed.executions, removed.logs))
    return found


def test_executions_go_two_at_a_time() -> None:
    store = filled(5)
    assert slices(store, PurgeRules(executions_before=10**9)) == [(2, 6), (2, 6), (1, 3), (0, 0)]
    assert [row.id for row in store.executions()] == ["install-1"]


def test_lines_of_executions_go_two_at_a_time() -> None:
    store = filled(5)
    assert slices(store, PurgeRules(lines_before=10**9)) == [(0, 4), (0, 4), (0, 2)]
    assert len(store.executions()) == 6
