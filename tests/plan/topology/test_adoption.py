"""A document of ours becomes a deployment again; one that no deployment can have is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.plan.topology.adoption import Adoption, same
from phaseline.plan.topology.stack_document import NATIVE, StackDocumentParts, document_of
from phaseline.testing.builders import blueprint, group, host, node, topology

SHOP = blueprint(host("vm", instances=2), node("web", on="vm"))
GROUPED = blueprint(node("a"), node("b"), group("inner", "a"), group("outer", "inner", "b"))


def written(source: Blueprint, **states: State) -> dict[str, Any]:
    """The document of a deployment of this in which all run but those named."""
    made = topology(source)
    column = np.array([states.get(id, State.STARTED) for id in made.ids], np.uint8)
    facts = StackDocumentParts("shop", "1", "CREATE", "COMPLETE", {}, {}, made, column, {}, CodeLocation("."))
    return document_of(facts)


def again(source: Blueprint, document: dict[str, Any]) -> Adoption:
    return same(document, source)


def rows(document: dict[str, Any], of: str = "instances") -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in document[NATIVE][of]}


def test_who_was_not_there_needs_no_id_outside():
    found = again(SHOP, written(SHOP, web_1=State.UNINITIALIZED))
    assert (found.problems, found.states) == ((), {"uninitialized": [[2, 1]]})
    assert [found.topology.ids[number] for number in found.documents] == ["vm_1", "vm_2", "web_2"]


def test_two_instances_cannot_have_one_id():
    document = written(SHOP)
    rows(document)["web_2"]["id"] = "web_1"
    with pytest.raises(ValueError, match="the same id"):
        again(SHOP, document)


def test_an_instance_lies_in_one_of_its_nodes_container():
    document = written(SHOP)
    rows(document)["web_2"]["container"] = "web_1"
    with pytest.raises(ValueError, match="does not contain its node"):
        again(SHOP, document)


def test_no_instance_of_a_scaling_group_lies_in_itself():
    document = written(GROUPED)
    for row in document[NATIVE]["groups"]:
        row["outer"] = row["id"]
    with pytest.raises(ValueError, match="contains itself"):
        again(GROUPED, document)


def test_groups_without_any_instance_come_back_as_they_were():
    none = blueprint(node("a"), group("inner", "a", instances=0))
    assert again(none, written(none)).topology.groups.names == ("inner",)
