"""A plan names who comes and who goes, the first of them, and says how many there are then."""

from __future__ import annotations

import numpy as np
import pytest

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request
from phaseline.plan.preview.count_changes import resized
from phaseline.plan.preview.plan_summary import in_rounds, summarise
from phaseline.plan.preview.plan_text import plan_text, rounds_text
from phaseline.plan.rounds.round_preview import foresee
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, host, node, scaled, topology


def foreseen(*parts, workflow="scale", **parameters):
    built = topology(blueprint(*parts))
    history = History(np.full(len(built), State.STARTED, np.uint8))
    return foresee(PLANNERS[workflow], built, Request(workflow, parameters), history, lambda _: Declaration())


def text_of(found):
    changes = resized(found.before, found.topology)
    rounds = tuple(summarise(shape, graph, slots={"threads": 4}) for shape, graph in found.graphs)
    if len(rounds) == 1:
        return plan_text(altered(rounds[0], resized=changes))
    return rounds_text(in_rounds("scale", rounds, (), changes))


def test_w44_a_plan_names_those_who_go():
    found = foreseen(node("web", instances=4, delete="p.d"), scalable_entity_name="web", delta=-2)
    (change,) = resized(found.before, found.topology)
    assert (change.before, change.after, change.comes, change.goes) == (4, 2, 0, 2)
    assert change.removed == ("web_3", "web_4")
    assert text_of(found).splitlines()[1] == "    web: 4 -> 2; web_3, web_4 go"


def test_w44_of_many_who_come_the_first_are_named_and_all_are_counted():
    found = foreseen(host("vm"), node("web", on="vm", create="p.c"), scalable_entity_name="vm", delta=12)
    lines = text_of(found).splitlines()[1:3]
    assert lines[0].startswith("    vm: 1 -> 13; vm_")
    assert lines[0].endswith(" and 7 more come")
    assert lines[1].startswith("    web: 1 -> 13; web_")
    assert [len(change.added) for change in resized(found.before, found.topology)] == [12, 12]


def test_w44_a_plan_that_changes_no_count_says_nothing_of_it():
    found = foreseen(node("web", delete="p.d"), workflow="reinstall")
    assert resized(found.before, found.topology) == ()
    assert "->" not in text_of(found)


@pytest.mark.parametrize("count", [0, 1, 40])
def test_ids_of_very_many_are_not_kept(count):
    built = topology(blueprint(node("web", instances=2)))
    changes = resized(built, scaled(built, web=2 + count))
    assert [(change.comes, len(change.added)) for change in changes] == ([(count, min(count, 20))] if count else [])
