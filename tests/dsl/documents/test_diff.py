"""What ``diff`` says of two blueprints: every change once, in the words of the language, and nothing where nothing counts."""

import pytest
from tests.dsl.readers import MAIN, Texts, whole

from phaseline.dsl.documents.diff import compare
from phaseline.dsl.reader import read_whole
from phaseline.model.blueprint.diff import Differences

BASE = """
inputs: {port: {default: 80}, size: {type: integer, default: 1}}
plugins: {p: {executor: central_deployment_agent, install: false}}
node_types:
  Web:
    derived_from: cloudify.nodes.Root
    properties: {port: {default: {get_input: port}}, tags: {default: {a: 1, b: 2}}}
    interfaces: {cloudify.interfaces.lifecycle: {create: p.m.create}}
node_templates:
  db: {type: cloudify.nodes.Root, properties: {resource_id: x}}
  web: {type: Web, relationships: [{type: cloudify.relationships.depends_on, target: db}]}
outputs: {port: {value: {get_property: [web, port]}}}
"""


def differences(new: str, old: str = BASE) -> Differences:
    """Of two blueprints in memory."""
    one, other = (read_whole(MAIN, Texts({MAIN: whole(text)})) for text in (old, new))
    return compare(one, other)


def told(old: str, new: str) -> list[str]:
    """What a replacement in the base changes."""
    assert old in BASE
    return [f"{each.kind} {each.what} {each.path}" for each in differences(BASE.replace(old, new)).changes]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("size: {type: integer, default: 1}", "", ["removed input inputs.size"]),
        ("default: 80", "default: 81", ["changed input inputs.port.default"]),
        ("resource_id: x", "resource_id: y", ["changed property nodes.db.properties.resource_id"]),
        ("target: db}]", "target: db}], instances: {deploy: 2}", ["changed node nodes.web.instances.default"]),
        ("[web, port]", "[db, resource_id]", ["changed output outputs.port.value"]),
        (
            "depends_on, target",
            "connected_to, target",
            [
                "removed relationship nodes.web.relationships.cloudify.relationships.depends_on -> db",
                "added relationship nodes.web.relationships.cloudify.relationships.connected_to -> db",
            ],
        ),
        (
            "b: 2",
            "b: 3",
            [
                "changed property nodes.web.properties.tags.b",
                "changed node type node_types.Web.properties.tags.default.b",
            ],
        ),
        (
            "create: p.m.create",
            "create: {implementation: p.m.create, max_retries: 2}, start: p.m.start",
            [
                "added operation nodes.web.operations.cloudify.interfaces.lifecycle.create.max_retries",
                "added operation nodes.web.operations.cloudify.interfaces.lifecycle.start",
                "changed node type node_types.Web.interfaces.cloudify.interfaces.lifecycle.create",
                "added node type node_types.Web.interfaces.cloudify.interfaces.lifecycle.start",
            ],
        ),
    ],
)
def test_every_change_is_told_once(old: str, new: str, expected: list[str]) -> None:
    assert told(old, new) == expected


def test_order_comments_and_anchors_make_no_difference() -> None:
    other = BASE.replace(
        "{port: {default: 80}, size: {type: integer, default: 1}}",
        "\n  size: {default: 1, type: integer} # x\n  port: &p {default: 80}",
    )
    assert differences(other).is_same
    assert differences(BASE).is_same


def test_true_and_one_are_different() -> None:
    assert told("default: 80", "default: true") == ["changed input inputs.port.default"]
    assert differences(
        BASE.replace("resource_id: x", "resource_id: true"), BASE.replace("resource_id: x", "resource_id: 1")
    ).changes


def test_what_was_renamed_is_hinted() -> None:
    found = differences(BASE.replace("  web: {type: Web", "  www: {type: Web").replace("[web,", "[www,"))
    assert [(each.what, each.old, each.new, each.likeness) for each in found.renames] == [("node", "web", "www", 1.0)]
    found = differences(BASE.replace("  db:", "  store:").replace("target: db", "target: store"))
    assert [(each.old, each.new) for each in found.renames] == [("db", "store")]


def test_what_is_of_another_type_was_not_renamed() -> None:
    found = differences(
        BASE.replace("  db: {type: cloudify.nodes.Root", "  store: {type: cloudify.nodes.Tier").replace(
            "target: db", "target: store"
        )
    )
    assert found.renames == ()


def test_two_relationships_of_one_type_to_one_node_are_two() -> None:
    twice = BASE.replace("target: db}]", "target: db}, {type: cloudify.relationships.depends_on, target: db}]")
    (change,) = differences(twice).changes
    assert (change.kind, change.path) == (
        "added",
        "nodes.web.relationships.cloudify.relationships.depends_on -> db (again)",
    )


def test_another_version_of_the_language_is_a_change() -> None:
    new = "tosca_definitions_version: cloudify_dsl_1_5\nimports: [cloudify/types/types.yaml]\n" + BASE
    assert ("version", "version") in [(each.what, each.path) for each in differences(new).changes]
