"""W12: the sentences about executions that users of the ancestor know."""

import pytest
from tests.run.engines import Station

from phaseline.plan.explain.cloudify_sentences import SENTENCES, execution_event
from phaseline.testing.builders import node


@pytest.mark.parametrize("kind", SENTENCES)
def test_w12_each_sentence_names_the_workflow_and_who_began_it(kind: str) -> None:
    station = Station()
    row = station.stored(station.deployment(node("vm")), "uninstall")
    event = execution_event(row, kind, 9, "1 operation failed")
    assert "'uninstall' workflow execution" in event.message
    assert ("1 operation failed" in event.message) == (kind == "workflow_failed")
    assert (event.execution, event.at, event.type, event.actor) == (row.number, 9, kind, "ann")
