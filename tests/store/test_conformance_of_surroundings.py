"""What every store promises (ports.Store) of what surrounds an execution: stored with it, given back as it was, gone with it."""

from collections.abc import Callable

from tests.store import builders as a

from phaseline.model.execution.execution import Request
from phaseline.model.execution.pre_post import PinnedHookClass, PrePost
from phaseline.model.rows.rows import Actor, NewExecution
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
HOOK = PinnedHookClass(
    "quota", "house.hooks:Quota", "CREATE", key="phaseline.hooks:house:quota", ordinal=-2.5, critical=False,
    timeout_s=5.0, options={"most": 100, "of": ["machines"]},
)  # fmt: skip
AROUND = PrePost((HOOK,), (PinnedHookClass("quota", "house.hooks:Quota", "ROLLBACK"),))


def test_what_surrounds_an_execution_is_stored_with_it(reopen: Reopen) -> None:
    store = reopen()
    number, first = a.installed(store)
    a.end(store, first)
    new = NewExecution(number, Request("stop"), Actor("ada"), 5, AROUND)
    row = store.create_execution(new)
    assert row.request.is_surrounded
    assert store.around(row.number) == AROUND
    store = reopen()
    found = store.execution(row.id)
    assert found is not None
    assert found.request.is_surrounded
    assert store.around(row.number) == AROUND


def test_h8_an_execution_without_anything_round_it_says_so(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    assert not store.executions()[0].request.is_surrounded
    assert store.around(run) == PrePost()
