"""A new execution of the store in memory is queued, and is refused where it would collide."""

import pytest
from tests.store import builders as a
from tests.store.files import refusal

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.store.memory.requests import add_execution
from phaseline.store.memory.store import MemoryStore


def test_a_new_execution_is_queued_and_asks_to_be_started() -> None:
    store = MemoryStore(a.FakeClock())
    number, _ = store.create_deployment(a.deployment())
    row = add_execution(store._held, a.execution(), number, asks=True, beside=None)
    assert (row.id, row.status, row.deployment_name) == ("install-1", ExecutionStatus.QUEUED, "shop")
    assert [asked.execution for asked in store.requests()] == [row.number]
    with pytest.raises(ProblemsError) as caught:
        add_execution(store._held, a.execution(), number, asks=True, beside=None)
    assert refusal(caught)[0] == "PL-C016"
