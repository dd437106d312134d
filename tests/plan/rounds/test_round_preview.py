"""What a workflow will do if all goes well, round by round."""

from __future__ import annotations

import numpy as np

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Reshape
from phaseline.plan.graph import operation_names as op
from phaseline.plan.rounds.round_preview import foresee
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, node, topology

WEB = topology(blueprint(node("web", check_status="p.k", **{op.PREHEAL: "p.p", op.HEAL: "p.h"})))
STARTED = History(np.full(1, State.STARTED, np.uint8))


def test_of_a_planner_that_never_ends_no_verdict_is_foreseen():
    found = foresee(lambda *_: Reshape("once more", WEB), WEB, Request("mine"), STARTED, lambda _: Declaration())
    assert (found.verdict, found.graphs) == (None, ())


def test_what_comes_before_a_heal_says_nothing_of_whether_it_succeeds():
    request = Request("heal", {"check_status": False})
    found = foresee(PLANNERS["heal"], WEB, request, STARTED, lambda _: Declaration())
    assert [graph.name for _, graph in found.graphs] == ["heal"]
    assert found.verdict is not None
    assert found.verdict.status.value == "completed"
