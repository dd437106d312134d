"""W60: what two blueprints say differently, step by step."""

from __future__ import annotations

from typing import Any

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, PropertySchema
from phaseline.plan.topology.blueprint_diff import steps
from phaseline.testing.builders import blueprint, node, relationship


def told(old: Blueprint, new: Blueprint) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in steps(old, new)]


def test_inputs_that_are_declared_and_no_longer_declared_are_steps() -> None:
    old, new = (
        altered(blueprint(node("web")), inputs={name: PropertySchema(type="string")}) for name in ("size", "zone")
    )
    assert told(old, new) == [("added", "inputs.zone"), ("removed", "inputs.size")]


def test_a_name_that_a_property_has_no_more_is_a_step() -> None:
    old = blueprint(node("web", properties={"limits": {"cpu": 2, "memory": 4}}))
    new = blueprint(node("web", properties={"limits": {"cpu": 2}}))
    assert told(old, new) == [("removed", "nodes.web.properties.limits.memory")]


def test_the_second_relationship_of_a_kind_to_the_same_node_is_told_from_the_first() -> None:
    tie: Any = relationship("db", source={"establish": "p.e"})
    changed = relationship("db", source={"establish": "p.other"})
    old, new = (blueprint(node("db"), node("web", tie, again)) for again in (tie, changed))
    ((kind, path),) = told(old, new)
    assert kind == "changed"
    assert path.startswith("nodes.web.relationships.cloudify.relationships.connected_to -> db (again).")


def test_operations_that_both_relationships_share_are_no_step() -> None:
    old = relationship("db", source={"establish": "p.e"}, to={"establish": "p.t"})
    new = altered(old, properties={**old.properties, "port": 80})
    found = told(*(blueprint(node("db"), node("web", tie)) for tie in (old, new)))
    assert found == [("added", "nodes.web.relationships.cloudify.relationships.connected_to -> db.properties.port")]
