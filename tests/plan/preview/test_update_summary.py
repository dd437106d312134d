"""W60: why a plan of an update reinstalls nodes, and what it warns of."""

from __future__ import annotations

import numpy as np

from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request
from phaseline.model.execution.stored_plans import Aim
from phaseline.plan.preview.update_summary import UpdatePlan, summarise_update
from phaseline.plan.preview.update_text import update_text
from phaseline.plan.rounds.round_preview import foresee
from phaseline.plan.topology.revision import revise
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import CONTAINED_IN, LIFECYCLE, blueprint, host, node, relationship, topology

UPDATES = {f"{LIFECYCLE}.update": "p.u"}


def planned(old: Blueprint, new: Blueprint, **parameters: object) -> UpdatePlan:
    made = topology(old)
    request = Request("update", parameters)
    aim = Aim(new, {}, CodeLocation("."), suffixes=7)
    history = History(np.full(len(made), State.STARTED, np.uint8), aim=lambda: aim)
    foreseen = foresee(PLANNERS["update"], made, request, history, lambda _: Declaration())
    revision = revise(made, new, suffixes=7)
    return summarise_update(("shop", "shop.yaml"), revision, (), old, request, foreseen, (), ())


def reasons(plan: UpdatePlan) -> dict[str, tuple[str, str]]:
    return {one.name: (one.sign, one.reason) for one in plan.nodes}


def sized(size: int) -> Blueprint:
    return blueprint(node("vm", properties={"size": size}, **UPDATES), node("db"))


def test_w61_a_node_whose_reinstall_is_forced_or_asked_for_says_so():
    assert reasons(planned(sized(1), sized(2), force_reinstall=True)) == {"vm": ("-/+", "a reinstall is forced")}
    named = reasons(planned(sized(1), sized(1), reinstall_list=["db_1"]))
    assert named == {"db": ("-/+", "it is on the list of those to reinstall, or in what is")}


def test_w60_instances_that_go_without_being_uninstalled_are_warned_of():
    smaller = blueprint(node("vm", properties={"size": 1}, **UPDATES))
    assert [one.code for one in planned(sized(1), smaller, skip_uninstall=True).warnings] == ["PL-P046"]
    assert planned(sized(1), smaller).warnings == ()


def test_what_lies_in_hosts_that_come_or_go_is_installed_or_uninstalled_with_them():
    few, many = (
        blueprint(node("vm", instances=count), node("web", relationship("vm", CONTAINED_IN))) for count in (1, 3)
    )
    for old, new, sign, action, come, go in ((few, many, "+", "install", 2, 0), (many, few, "-", "uninstall", 0, 2)):
        (told,) = [one for one in planned(old, new).nodes if one.name == "web"]
        assert (told.sign, told.action, told.added, told.removed) == (sign, action, come, go)


PLAIN = {f"{LIFECYCLE}.create": "p.c", f"{LIFECYCLE}.delete": "p.d"}


def actions(plan: UpdatePlan) -> dict[str, tuple[str, str, int]]:
    return {one.name: (one.sign, one.action, one.again) for one in plan.nodes}


def test_wd18_a_plan_tells_replace_and_reinstall_apart():
    """``web`` loses its container, ``vm`` has a new size and no update operation: only the first needs --allow-replace."""

    def house(size: int, on: str | None) -> Blueprint:
        vm = node("vm", instances=2, properties={"size": size}, **PLAIN)
        return blueprint(
            host("rack"), vm, node("web", on=on, **PLAIN), node("new", **PLAIN) if on is None else node("old")
        )

    found = planned(house(1, "rack"), house(2, None), allow_replace=True)
    assert actions(found) == {
        "vm": ("-/+", "reinstall", 2),
        "web": ("-/+", "replace", 1),
        "old": ("-", "uninstall", 0),
        "new": ("+", "install", 0),
    }
    assert dict(found.replaced) == {"web": "its container changes from rack to none"}
    assert dict(found.reinstalled) == {"vm": "it has none of the operations update, update_config and update_apply"}
    text = update_text(found)
    assert "nodes: 1 to install, 1 to replace, 1 to reinstall, 1 to uninstall" in text
    assert "    replaced, only with --allow-replace, because its container changes from rack to none" in text
    assert "    reinstalled because it has none of the operations update" in text


def test_wd18_what_lies_in_a_replaced_node_is_shown_as_replaced_though_it_changes_too():
    def house(size: int, *types: str) -> Blueprint:
        box = node("box", types=types or ("cloudify.nodes.Root",), **PLAIN)
        inner = node("inner", on="box", **PLAIN)
        return blueprint(box, inner, node("app", on="inner", properties={"size": size}, **UPDATES))

    found = planned(house(1), house(2, "cloudify.nodes.Root", "my.Box"), allow_replace=True)
    assert actions(found) == dict.fromkeys(("box", "inner", "app"), ("-/+", "replace", 1))
    assert reasons(found)["app"][1] == "what contains it is replaced"
    assert found.reinstalled == {}


def test_w61_how_many_instances_of_a_node_are_reinstalled_is_said():
    three = blueprint(node("db", instances=3, **PLAIN))
    found = planned(three, three, reinstall_list=["db_1"])
    assert actions(found) == {"db": ("-/+", "reinstall", 1)}
    assert "reinstalled (1 of 3 instances) because it is on the list" in update_text(found)


def test_w61_nodes_of_which_a_check_or_an_update_decides_are_named_before():
    checked = {f"{LIFECYCLE}.check_drift": "p.look"}

    def house(size: int) -> Blueprint:
        return blueprint(
            node("asked", **PLAIN, **checked),
            node("both", **UPDATES, **checked),
            node("changed", properties={"size": size}, **UPDATES),
            node("still", **PLAIN),
        )

    found = planned(house(1), house(2))
    assert dict(found.may_be_reinstalled) == {
        "asked": "check_drift finds that it has drifted, or fails",
        "both": "check_drift fails, or it cannot be updated",
        "changed": "it cannot be updated",
    }
    text = update_text(found)
    assert "may be reinstalled, with what they contain (--skip-reinstall keeps them):" in text
    assert "    asked: if check_drift finds that it has drifted, or fails" in text
    kept = planned(house(1), house(2), skip_reinstall=True)
    assert kept.may_be_reinstalled == {}
    assert "may be reinstalled" not in update_text(kept)


def test_w61_many_nodes_that_may_be_reinstalled_are_counted():
    many = blueprint(*(node(f"n{at}", **{f"{LIFECYCLE}.check_drift": "p.look"}) for at in range(7)))
    found = planned(many, many)
    assert len(found.may_be_reinstalled) == 7
    assert "    n0, n1, n2, n3, n4 and 2 more: if check_drift finds" in update_text(found)
