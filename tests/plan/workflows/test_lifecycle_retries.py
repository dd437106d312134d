"""W5: instances whose life cycle has failed go through it again; and an uninstall that ends what is under way."""

from __future__ import annotations

import numpy as np
import pytest

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, RetryPolicy, Round, Verdict
from phaseline.model.graph.graph import Graph
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.rehearsal import Stage, completes, fails, rehearse
from phaseline.testing.scripted_executor import CallScript

FULL = {"create": "x.create", "start": "x.start", "stop": "x.stop", "delete": "x.delete"}
CHAIN = blueprint(node("db", **FULL), node("web", to=["db"], **FULL), node("app", to=["web"], **FULL))


def test_w5_an_instance_whose_life_cycle_failed_is_taken_away_and_goes_through_it_again():
    said = {"web.start": [fails("no"), completes()]}
    plain = rehearse(CHAIN, outcomes=said)
    assert (plain.status, plain.states["app_1"]) == ("failed", "uninitialized")
    found = rehearse(CHAIN, outcomes=said, subgraph_retries=1)
    assert (found.status, set(found.states.values())) == ("completed", {"started"})
    assert found.order == [
        *("create db_1", "start db_1", "create web_1", "start web_1"),
        *("stop web_1", "delete web_1"),
        *("create web_1", "start web_1", "create app_1", "start app_1"),
    ]


ALL_STEPS = ("create", "configure", "start", "stop", "delete")


@pytest.mark.parametrize(
    ("failing", "taken_away"),
    [
        ("create", ["stop", "delete"]),
        ("configure", ["stop", "delete"]),
        ("start", ["stop", "delete"]),
    ],
)
def test_w5_w23_what_is_half_made_is_stopped_before_it_goes_again(failing, taken_away):
    app = blueprint(node("web", **{step: f"x.{step}" for step in ALL_STEPS}))
    found = rehearse(app, outcomes={f"web.{failing}": [fails("no"), completes()]}, subgraph_retries=1)
    before = ALL_STEPS[: ALL_STEPS.index(failing) + 1]
    assert (found.status, found.states["web_1"]) == ("completed", "started")
    assert found.order == [f"{step} web_1" for step in (*before, *taken_away, "create", "configure", "start")]


@pytest.mark.parametrize(
    ("retries", "fails_so_often", "status"), [(1, 2, "failed"), (2, 2, "completed"), (-1, 7, "completed")]
)
def test_w5_it_goes_again_as_often_as_is_said_and_minus_one_is_without_end(retries, fails_so_often, status):
    said = {"web.create": [*(fails("no"),) * fails_so_often, completes()]}
    found = rehearse(CHAIN, outcomes=said, subgraph_retries=retries)
    assert (found.status, found.order.count("create web_1")) == (status, min(retries % 10, fails_so_often) + 1)
    assert found.order.count("create db_1") == 1, "who is started has nothing to do"


def test_w5_of_an_uninstall_the_uninstall_goes_again_and_what_failed_first_is_no_failure_of_the_whole():
    found = rehearse(CHAIN, "uninstall", outcomes={"web.stop": [fails("held"), completes()]}, subgraph_retries=1)
    assert (found.status, set(found.states.values())) == ("completed", {"deleted"})
    assert found.order.count("delete app_1") == 1


def test_w5_workflows_made_of_both_decide_about_a_failure_when_no_retry_is_left():
    said = {"web.create": [fails("no"), completes()]}
    assert rehearse(CHAIN, "reinstall", outcomes=said, subgraph_retries=1).status == "completed"
    grows = {"scalable_entity_name": "web"}
    found = rehearse(CHAIN, "scale", outcomes=said, parameters=grows, subgraph_retries=1)
    assert (found.status, found.states["web_2"]) == ("completed", "started")
    lost = rehearse(CHAIN, "scale", outcomes={"web.create": [fails("no")] * 2}, parameters=grows, subgraph_retries=1)
    assert (lost.status, "web_2" in lost.states, lost.order.count("create web_2")) == ("failed", False, 2)


@pytest.mark.parametrize("call", range(1, 11))
def test_w5_survives_a_crash_in_any_call(call):
    said = {"web.start": [fails("no"), completes()]}
    found = rehearse(CHAIN, outcomes=said, subgraph_retries=1, crash_in=[call])
    assert (found.status, set(found.states.values())) == ("completed", {"started"})


def test_w5_a_cancel_or_an_unsure_call_is_not_gone_over_again():
    found = rehearse(CHAIN, outcomes={}, subgraph_retries=5, repeatable=False, crash_in=[3])
    assert (found.status, found.order.count("create web_1")) == ("attention", 1)


def test_issue_6_an_uninstall_ends_a_modification_that_is_under_way():
    grows = {"scalable_entity_name": "web", "rollback_if_failed": False}
    stage = Stage(topology(CHAIN), {}, lambda _: Declaration(repeatable=True))
    says = lambda **table: CallScript({key.replace("_", "."): (one,) for key, one in table.items()}, frozenset(), 0)  # noqa: E731
    stage.play(Request("install"), says())
    assert stage.play(Request("scale", grows, RetryPolicy(0)), says(web_create=fails("no"))).status == "failed"
    assert stage.store.topology(1).started is not None
    assert stage.play(Request("uninstall", {"node_ids": ["db"]}), says()).status == "completed"
    assert stage.store.topology(1).started is not None, "something is left that it could go on with"
    assert stage.play(Request("uninstall"), says()).status == "completed"
    after = stage.store.topology(1)
    assert (after.started, int(after.is_there.sum())) == (None, 3)
    assert stage.play(Request("install"), says()).status == "completed"


def answer(*rounds: Round, called: np.ndarray | None = None, started: bool = False) -> str:
    """What an install of one node with a retry of its life cycle does after these rounds: the name of a graph, or a status."""
    web = topology(blueprint(node("web", **FULL)))
    states = np.full(len(web), State.STARTED if started else State.CREATING, np.uint8)
    history = History(states, rounds, called=lambda _: called)
    request = Request("install", retries=RetryPolicy(subgraph_retries=1))
    found = PLANNERS["install"](web, request, history, lambda _: Declaration())
    return found.name if isinstance(found, Graph) else found.status.value if isinstance(found, Verdict) else ""


@pytest.mark.parametrize("word", ["unsure", "canceled"])
def test_w5_what_is_not_known_of_everybody_does_not_go_again(word):
    assert answer(Round("install", 0, {"failed": 1, word: 1}), called=np.ones(1, bool)) != "again install"
    assert answer(Round("install", 0, {"failed": 1}), called=np.ones(1, bool)) == "again install"


@pytest.mark.parametrize(("called", "started"), [(None, False), (np.zeros(1, bool), False), (np.ones(1, bool), True)])
def test_w5_an_install_that_has_left_nothing_half_made_does_not_go_again(called, started):
    assert answer(Round("install", 0, {"failed": 1}), called=called, started=started) == "failed"
