"""Snapshots: a cancel before anything was done ends them, one after the update of a restore ends that alone."""

from __future__ import annotations

import pytest
from tests.plan.naive import ask

from phaseline.model.execution.execution import Request, Round, Verdict
from phaseline.model.execution.stored_plans import PLAN
from phaseline.plan.workflows.snapshot_restore import problems
from phaseline.plan.workflows.update import FINISHED
from phaseline.testing.builders import blueprint, node, topology

WEB = topology(blueprint(node("web", create="p.c")))


@pytest.mark.parametrize("workflow", ["snapshot", "delete_snapshot", "restore"])
def test_a_snapshot_that_is_canceled_before_its_first_call_is_canceled(workflow):
    found = ask(workflow, WEB, canceled=True, parameters={"snapshot_name": "monday", PLAN: 1})
    assert isinstance(found, Verdict)
    assert found.status.value == "canceled"


def test_a_restore_that_is_canceled_when_all_was_brought_back_calls_nothing_more():
    rounds = Round("new blueprint", 0, {}), Round(FINISHED, 0, {})
    found = ask("restore", WEB, *rounds, canceled=True, parameters={PLAN: 1, "was_up": ["web_1"]})
    assert isinstance(found, Verdict)
    assert found.status.value == "canceled"


def test_a_restore_without_a_snapshot_is_refused():
    assert [problem.code for problem in problems(WEB, Request("restore"))] == ["PL-P042"]
    assert not list(problems(WEB, Request("restore", {PLAN: 1})))
