"""Lane keys: equal values have equal numbers, others have others, and none breaks the loop."""

from dataclasses import replace

import numpy as np
import pytest
from tests.run.engines import Station

from phaseline.calls.deployments.lane_keys import LaneKeys, value_at
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.graph.graph import SubjectKind
from phaseline.testing.builders import node, relationship

INSTANCE, SOURCE = SubjectKind.INSTANCE, SubjectKind.SOURCE


def keys_of(
    station: Station, deployment: int, expression: str, *subjects: int, kind: SubjectKind = INSTANCE
) -> list[int]:
    keys = LaneKeys()
    numbers = np.array(subjects, np.int32)
    kinds = np.full(len(numbers), kind, np.uint8)
    positions = np.arange(len(numbers), dtype=np.int32)
    answer = keys.evaluate(1, positions, kinds, numbers, expression, station.deployments.loaded(deployment))
    assert (answer.graph, answer.what) == (1, "key")
    assert answer.positions is positions
    found: list[int] = answer.values.tolist()
    return found


@pytest.mark.parametrize(
    ("document", "path", "value"),
    [
        ({"a": {"b": 1}}, "a.b", 1),
        ({"a": {"b": 1}}, "a", {"b": 1}),
        ({"a": {"b": 1}}, "a.c", None),
        ({"a": [1]}, "a.0", None),
        (None, "a", None),
    ],
)
def test_a_value_lies_at_the_end_of_its_path(document: object, path: str, value: object) -> None:
    assert value_at(document, path) == value


def test_equal_properties_have_equal_keys() -> None:
    station = Station()
    deployment = station.deployment(
        node("a", properties={"at": {"region": "north"}}),
        node("b", properties={"at": {"region": "south"}}),
        node("c", properties={"at": {"region": "north"}}),
        node("d"),
    )
    north, south, also, none = keys_of(station, deployment, "properties.at.region", 0, 1, 2, 3)
    assert north == also
    assert len({north, south, none}) == 3


def test_runtime_properties_and_inputs_are_keys_too() -> None:
    station = Station()
    deployment = station.deployment(node("a", instances=2), inputs={"account": "blue"})
    station.deployments.loaded(deployment).apply(1, {("zone",): "z"}, ())
    first, second = keys_of(station, deployment, "runtime_properties.zone", 0, 1)
    assert first != second
    first, second = keys_of(station, deployment, "inputs.account", 0, 1)
    assert first == second


@pytest.mark.parametrize("expression", ["nothing.x", "properties", ""])
def test_an_expression_that_means_nothing_gives_all_the_same_key(expression: str) -> None:
    station = Station()
    deployment = station.deployment(node("a", properties={"x": 1}), node("b", properties={"x": 2}))
    assert len(set(keys_of(station, deployment, expression, 0, 1))) == 1


def test_relationship_entries_have_the_key_of_their_source() -> None:
    station = Station()
    linked = relationship("db", source={"establish": "each.establish"})
    deployment = station.deployment(
        node("db", properties={"region": "south"}),
        node("a", linked, properties={"region": "north"}),
        node("b", linked, properties={"region": "west"}),
    )
    first, second = keys_of(station, deployment, "properties.region", 0, 1, kind=SOURCE)
    assert first != second


def test_properties_with_functions_are_evaluated_for_each_instance() -> None:
    station = Station()
    asking = {"region": {"get_attribute": ["SELF", "where"]}}
    asker = replace(node("a", instances=3, properties=asking), has_functions=True)
    deployment = station.deployment(asker)
    loaded = station.deployments.loaded(deployment)
    for number, where in enumerate(["north", "south", "north"]):
        loaded.apply(number, {("where",): where}, ())
    first, second, third = keys_of(station, deployment, "properties.region", 0, 1, 2)
    assert first == third != second


def test_a_property_that_cannot_be_evaluated_does_not_break_the_loop() -> None:
    station = Station(declaring=lambda operation: Declaration(bulk=True, batch_key="properties.region"))
    broken = {"region": {"get_attribute": ["nobody", "ip"]}}
    asker = replace(node("a", properties=broken, create="cloud.create"), has_functions=True)
    row = station.install(asker, node("b", create="cloud.create"))
    assert len(station.called()) == 2
    station.complete_all()
    assert station.engine.has_ended(row.number)
