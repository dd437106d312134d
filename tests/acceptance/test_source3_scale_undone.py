"""What becomes of a scale that does not run through: taken back, aborted, canceled, retried (W7, W8, W41)."""

from __future__ import annotations

import numpy as np
from tests.acceptance.test_source3_scale import LIFE, called, codes, declare, failing, there, world_of

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Reshape, Round, Verdict
from phaseline.plan.requests.request_validation import check
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import node, relationship

# W41: abort_started


def left_half_made():
    """A scale of ``web`` by another execution, which failed and was not rolled back."""
    world = world_of(node("web", **LIFE), node("db", **LIFE))
    world.run(
        "scale", scalable_entity_name="web", delta=2, rollback_if_failed=False,
        fails=failing("start web_2", world=world),
    )  # fmt: skip
    world.topology = altered(world.topology, started=altered(world.topology.started, execution="scale-3"))
    world.lines.clear()
    return world


def test_w41_what_was_started_is_uninstalled_and_taken_back_first():
    world = left_half_made()
    verdict = world.run("scale", scalable_entity_name="db", abort_started=True)
    assert verdict.status.value == "completed"
    assert there(world) == ["db_1", "db_2", "web_1"]
    assert [done.name for done in world.rounds] == [
        "uninstall web of scale-3", "abort web of scale-3", "begin db", "install db", "finish db",
    ]  # fmt: skip
    order = called(world)
    assert max(order.index(f"delete web_{number}") for number in (2, 3)) < order.index("create db_2")
    assert dict(world.topology.counts) == {"db": 2}


def test_w41_a_scale_in_that_was_started_is_taken_back_without_a_call():
    world = world_of(node("web", instances=3, **LIFE))
    fails = failing("stop web_3", world=world)
    world.run("scale", scalable_entity_name="web", delta=-1, rollback_if_failed=False, fails=fails)
    world.topology = altered(world.topology, started=altered(world.topology.started, execution="scale-3"))
    world.lines.clear()
    world.run("scale", scalable_entity_name="web", delta=0, abort_started=True)
    assert [done.name for done in world.rounds] == ["abort web of scale-3"]
    assert world.calls == []
    assert there(world) == ["web_1", "web_2", "web_3"]


def test_w41_ids_of_what_was_taken_back_are_not_used_again():
    world = left_half_made()
    before = set(world.topology.ids)
    world.run("scale", scalable_entity_name="web", delta=2, abort_started=True)
    assert len(set(world.topology.ids)) == len(world.topology.ids)
    assert len(set(world.topology.ids) - before) == 2
    assert there(world) == ["db_1", "web_1", "web_4", "web_5"]


def test_w41_an_abort_that_fails_begins_nothing():
    world = left_half_made()
    verdict = world.run(
        "scale", scalable_entity_name="db", abort_started=True, fails=failing("delete web_3", world=world)
    )
    assert verdict.status.value == "failed"
    assert world.topology.started.execution == "scale-3"
    assert there(world) == ["db_1", "web_1", "web_2", "web_3"]


def test_w41_what_no_scale_has_begun_is_not_taken_back():
    world = left_half_made()
    world.topology = altered(world.topology, started=altered(world.topology.started, workflow="update"))
    request = Request("scale", {"scalable_entity_name": "db", "abort_started": True})
    assert codes(check(world.topology, request)) == ["PL-P043"]


# cancel, retry, resume


def begun(*parts, **parameters):
    """A world in which the execution ``scale-7`` has begun a modification, its request, and a way to ask on."""
    world = world_of(*parts)
    request = Request("scale", {"scalable_entity_name": "web", **parameters})
    answer = PLANNERS["scale"](world.topology, request, History(world.states, execution="scale-7"), declare)
    assert isinstance(answer, Reshape)
    world.reshape(answer)
    return world, request


def ask(world, request, *rounds, canceled=False, attempt=0):
    history = History(world.states.copy(), rounds, canceled, attempt, execution="scale-7")
    return PLANNERS["scale"](world.topology, request, history, declare)


BEGIN, LOST = Round("begin web", 0, {}), Round("install web", 0, {"completed": 1, "failed": 1})


def test_w7_canceled_before_anything_ran_it_is_taken_back():
    world, request = begun(node("web", **LIFE), delta=1)
    answer = ask(world, request, BEGIN, canceled=True)
    assert (type(answer), answer.name) == (Reshape, "take back web")
    world.reshape(answer)
    assert ask(world, request, *world.rounds, canceled=True).status.value == "canceled"


def test_w7_canceled_in_the_middle_it_is_rolled_back():
    world, request = begun(node("web", **LIFE), delta=2)
    world.states[1] = State.CREATING
    canceled = Round("install web", 0, {"completed": 1, "canceled": 9})
    assert ask(world, request, BEGIN, canceled, canceled=True).name == "rollback web"
    back = Round("rollback web", 0, {"completed": 1})
    world.states[1] = State.UNINITIALIZED
    answer = ask(world, request, BEGIN, canceled, back, canceled=True)
    assert answer.name == "take back web"
    world.reshape(answer)
    verdict = ask(world, request, BEGIN, canceled, back, Round("take back web", 0, {}), canceled=True)
    assert verdict.status.value == "canceled"


def test_w7_canceled_again_while_it_is_rolled_back_it_stays_under_way():
    world, request = begun(node("web", **LIFE), delta=1)
    world.states[1] = State.CREATING
    answer = ask(world, request, BEGIN, LOST, Round("rollback web", 0, {"canceled": 2}), canceled=True)
    assert (type(answer), answer.status.value) == (Verdict, "canceled")
    assert world.topology.started is not None


def test_w8_a_retry_goes_on_with_the_modification_that_it_has_begun():
    world, request = begun(node("web", **LIFE), delta=1, rollback_if_failed=False)
    world.states[1] = State.STARTED
    answer = ask(world, request, BEGIN, Round("install web", 1, {"completed": 7}), attempt=1)
    assert answer.name == "finish web"
    assert answer.topology.started is None


def test_w8_a_retry_of_what_was_taken_back_begins_anew():
    world, request = begun(node("web", **LIFE), delta=1)
    world.reshape(ask(world, request, BEGIN, LOST))
    assert there(world) == ["web_1"]
    rounds = (BEGIN, LOST, Round("take back web", 1, {}))
    answer = ask(world, request, *rounds, attempt=1)
    assert (type(answer), answer.name) == (Reshape, "begin web")
    assert len(answer.topology.started.added) == 1


def test_w8_a_retry_after_others_took_it_back_begins_anew():
    world, request = begun(node("web", **LIFE), delta=1, rollback_if_failed=False)
    world.topology = altered(world.topology, started=None, gone=np.array([False, True]))
    assert ask(world, request, BEGIN, LOST, attempt=1).name == "begin web"


def test_n7_w8_relationships_that_could_not_be_taken_up_keep_the_modification_under_way():
    to_one = relationship("db", connection_type="all_to_one", source={"establish": "p.3"})
    world = world_of(node("web", to_one, **LIFE), node("db", instances=2, **LIFE))
    fails = failing("establish web_1", world=world)
    verdict = world.run("scale", scalable_entity_name="db", delta=-1, include_instances="db_1", fails=fails)
    assert verdict.status.value == "failed"
    assert (there(world), world.topology.started.name) == (["db_2", "web_1"], "db")
    request = Request("scale", {"scalable_entity_name": "db", "delta": -1})
    history = History(world.states, tuple(world.rounds[:-1]), canceled=True)
    assert PLANNERS["scale"](world.topology, request, history, declare).status.value == "canceled"
    again = Round("establish db", 1, {"completed": 1})
    history = History(world.states, (*world.rounds, again), attempt=1)
    assert PLANNERS["scale"](world.topology, request, history, declare).name == "finish db"
