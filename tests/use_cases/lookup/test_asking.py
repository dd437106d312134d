"""An outer execution shows which inner ones ask for a decision (CO9)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from tests.store import builders as a

from phaseline.model.execution.events import Changes, ExecutionChanged
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.causes import AwaitChanges, AwaitRow
from phaseline.model.rows.rows import ExecutionRow, Turn, TurnPayload
from phaseline.store.memory.store import MemoryStore
from phaseline.use_cases.lookup.causes import asking


@pytest.fixture
def store() -> MemoryStore:
    """``app`` waits for ``db``, which waits for ``low``; ``net`` and ``other`` wait for nothing."""
    found = MemoryStore(a.FakeClock())
    rows = [found.create_deployment(a.deployment(name), a.execution())[1] for name in ("app", "db", "low", "net")]
    numbers = [row.number for row in rows]
    awaits = tuple(AwaitRow(outer, 5, 0, inner, 20) for outer, inner in pairwise(numbers[:3]))
    commit(found, TurnPayload(awaits=AwaitChanges(awaits)))
    return found


def commit(store: MemoryStore, payload: TurnPayload, executions: Sequence[ExecutionChanged] = ()) -> None:
    with store.own("an engine"):
        store.commit(Turn(30, Changes(executions=tuple(executions)), payload))


def row(store: MemoryStore, name: str) -> ExecutionRow:
    return next(one for one in store.executions() if one.deployment_name == name)


def attention(store: MemoryStore, *names: str) -> None:
    changes = [ExecutionChanged(row(store, name).number, ExecutionStatus.ATTENTION) for name in names]
    commit(store, TurnPayload(), changes)


def test_co9_nothing_asks_while_inner_executions_go_on(store: MemoryStore) -> None:
    attention(store, "net")
    assert asking(store.of("default_tenant"), row(store, "app")) == []


@pytest.mark.parametrize("outer", ["app", "db"])
def test_co9_the_innermost_that_asks_is_named_at_all_levels_above(store: MemoryStore, outer: str) -> None:
    attention(store, "low")
    (text,) = asking(store.of("default_tenant"), row(store, outer))
    assert text.startswith(f"attention: the inner {row(store, 'low').id} of 'low' asks for a decision")


def test_co9_an_execution_does_not_ask_itself(store: MemoryStore) -> None:
    attention(store, "app")
    assert asking(store.of("default_tenant"), row(store, "app")) == []
