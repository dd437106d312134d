"""Source document 2 and the system it describes: suspend, resume and check of a deployment (decision 24, H25)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plan.naive import World

from phaseline.model.blueprint.blueprint import Node
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.explain.cloudify_events import narrate
from phaseline.plan.requests.request_validation import check
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, node, topology

FREEZE = "cloudify.interfaces.freeze"
CHECK = "cloudify.interfaces.validation.check_status"
BOTH = {"start": "p.start", "stop": "p.stop"}
FROZEN = {f"{FREEZE}.suspend": "p.suspend", f"{FREEZE}.resume": "p.resume", **BOTH}


def stack() -> tuple[Node, ...]:
    """A server that can be frozen, on a database that cannot, and a wire with nothing to call."""
    return node("web", to=["db", "wire"], **FROZEN), node("db", **BOTH), node("wire")


def world(*nodes: Node, state: State = State.STARTED) -> World:
    return World.fresh(topology(blueprint(*nodes)), state)


def test_d24_suspend_freezes_who_can_be_frozen_and_stops_the_others_dependents_first() -> None:
    here = world(*stack())
    verdict = here.run("suspend")
    assert verdict.status is ExecutionStatus.COMPLETED
    assert here.calls == ["freeze.suspend web_1", "stop db_1"]
    assert {here.state(id) for id in here.topology.ids} == {"suspended"}


def test_d24_resume_goes_the_other_way_and_everybody_is_started_again() -> None:
    here = world(*stack(), state=State.SUSPENDED)
    here.run("resume")
    assert here.calls == ["start db_1", "freeze.resume web_1"]
    assert {here.state(id) for id in here.topology.ids} == {"started"}


@pytest.mark.parametrize(("workflow", "state"), [("suspend", State.SUSPENDED), ("resume", State.STARTED)])
@pytest.mark.parametrize("again", ["as it is", "nothing there"])
def test_h25_what_is_so_already_is_no_action_and_calls_nothing(workflow: str, state: State, again: str) -> None:
    here = world(*stack(), state=state if again == "as it is" else State.UNINITIALIZED)
    verdict = here.run(workflow)
    assert (verdict.status, verdict.is_idle, here.calls) == (ExecutionStatus.COMPLETED, True, [])


def test_h25_a_first_suspend_is_an_action() -> None:
    assert not world(*stack()).run("suspend").is_idle


def test_d24_a_suspend_that_failed_half_way_is_finished_by_the_next_one() -> None:
    here = world(*stack())
    failed = here.run("suspend", fails=lambda line: line == "stop db_1")
    assert failed.status is ExecutionStatus.FAILED
    assert (here.state("web_1"), here.state("db_1")) == ("suspended", "started")
    here.lines.clear()
    here.run("suspend")
    assert here.calls == ["stop db_1"]


def test_d24_only_what_is_started_is_suspended() -> None:
    here = world(*stack())
    here.states[here.topology.number_of["db_1"]] = State.CREATED
    here.run("suspend")
    assert here.calls == ["freeze.suspend web_1"]
    assert here.state("db_1") == "created"


def test_d24_a_canceled_suspend_begins_nothing() -> None:
    here = world(*stack())
    history = History(here.states, canceled=True)
    answer = PLANNERS["suspend"](here.topology, Request("suspend"), history, lambda _: Declaration())
    assert answer == Verdict(ExecutionStatus.CANCELED)


def test_d24_filters_choose_who_is_suspended() -> None:
    here = world(*stack())
    here.run("suspend", node_ids=["web"])
    assert here.calls == ["freeze.suspend web_1"]
    assert check(here.topology, Request("suspend", {"node_ids": ["wbe"]}))[0].code == "PL-P001"


def test_d24_install_leaves_suspended_instances_alone() -> None:
    here = world(*stack(), state=State.SUSPENDED)
    here.run("install")
    assert (here.calls, here.state("web_1")) == ([], "suspended")


def test_d24_uninstall_of_what_is_suspended_deletes_without_another_stop() -> None:
    here = world(node("web", prestop="p.prestop", delete="p.delete", **FROZEN), state=State.SUSPENDED)
    here.run("uninstall")
    assert here.calls == ["prestop web_1", "delete web_1"]


def test_d24_suspend_and_resume_are_told_in_their_own_words() -> None:
    here = world(*stack())
    here.run("suspend")
    assert here.last is not None
    statuses = np.array([status for _, status in sorted(here.status.items())], np.uint8)
    told = narrate(here.topology, here.last, statuses, here.topology.number_of["web_1"], workflow="suspend")
    assert next(line.text for line in told if not line.text.startswith("Task")) == "Suspending node instance"
    assert told[-1].text == "Node instance suspended"


# -- check -----------------------------------------------------------------------------------------------------------


def test_h25_check_asks_everybody_who_is_there_and_gathers_all_errors() -> None:
    nodes = node("web", to=["db"], **{CHECK: "p.check"}), node("db", **{CHECK: "p.check"})
    here = world(*nodes)
    verdict = here.run("check", fails=lambda _: True)
    assert sorted(here.calls) == ["validation.check_status db_1", "validation.check_status web_1"]
    assert (verdict.status, verdict.reason) == (ExecutionStatus.FAILED, "2 operations failed")


def test_h25_check_says_what_it_could_not_check() -> None:
    here = world(node("web", **{CHECK: "p.check"}), node("db"), node("wire"))
    verdict = here.run("check")
    assert verdict.status is ExecutionStatus.COMPLETED
    assert verdict.reason == "check is not fully supported: 'db', 'wire' have no check_status"
    failed = here.run("check", fails=lambda _: True)
    assert failed.reason.startswith("1 operation failed; check is not fully supported: 'db', 'wire'")


def test_h25_check_of_nothing_is_nothing_to_check() -> None:
    verdict = world(node("web", **{CHECK: "p.check"}), state=State.UNINITIALIZED).run("check")
    assert verdict.status is ExecutionStatus.COMPLETED
    assert "nothing to check" in verdict.reason
