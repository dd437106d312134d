"""What a blueprint says of states and phases (decision 15): the version gate, inheritance, and every mistake with its place."""

from __future__ import annotations

import pytest
from tests.dsl.readers import Texts

from phaseline.dsl.documents.json_codec import blueprint_from_json, blueprint_to_json
from phaseline.dsl.reader import read_blueprint
from phaseline.model.problems.problem import ProblemsError

OURS = "tosca_definitions_version: phaseline_dsl_1_0\n"


def read(text: str):
    return read_blueprint("blueprint.yaml", Texts({"blueprint.yaml": text}))


def problems(text: str):
    with pytest.raises(ProblemsError) as raised:
        read(text)
    return [(problem.code, problem.place.line) for problem in raised.value.problems]


def test_decision15_node_types_say_what_resources_their_nodes_are_and_those_below_inherit_it():
    found = read(
        OURS
        + """
node_types:
  Base: {}
  Server: {derived_from: Base, resource_type: Cloud.Node, target_state: Started}
  Big: {derived_from: Server}
node_templates:
  small: {type: Server}
  big: {type: Big}
  plain: {type: Base}
state_paths:
  Server:
    Started: [Allocation, Started]
"""
    )
    assert set(found.on_path) == {"Server", "Big"}
    assert found.on_path["Big"].line == ("Big", "Server", "Base", "Cloud.Node")
    assert found.on_path["Big"].target == "Started"
    assert (found.on_path["Big"].place.line, found.on_path["Big"].place.path) == (5, "node_types.Server.resource_type")
    (path,) = found.state_paths
    assert (path.resource_type, path.target, path.states) == ("Server", "Started", ("Allocation", "Started"))
    assert blueprint_from_json(blueprint_to_json(found)) == found
    assert found.version == "phaseline_dsl_1_0"


def test_decision15_a_node_type_may_be_of_the_kind_of_another_one():
    found = read(
        OURS
        + """
node_types:
  Base: {}
  Disk: {derived_from: Base, resource_type: Cloud.Node, target_state: Ready}
  Fast: {resource_type: Disk}
node_templates: {one: {type: Fast}}
"""
    )
    assert found.on_path["Fast"].line == ("Fast", "Disk", "Base", "Cloud.Node")
    assert found.on_path["Fast"].target == ""


@pytest.mark.parametrize("version", ["cloudify_dsl_1_0", "cloudify_dsl_1_5"])
def test_decision15_the_ancestors_language_has_none_of_it(version):
    text = f"""tosca_definitions_version: {version}
node_types:
  Server:
    resource_type: Cloud.Node
    target_state: Started
state_paths:
  Server: {{Started: [Allocation, Started]}}
"""
    assert problems(text) == [("PL-B013", 4), ("PL-B013", 5), ("PL-B013", 6)]
    with pytest.raises(ProblemsError, match="added in phaseline_dsl_1_0"):
        read(text)


def test_decision15_our_language_has_all_of_the_ancestors_newest():
    found = read(
        OURS
        + """
node_types: {Server: {runtime_properties: {}, properties: {port: {display_label: Port}}}}
inputs: {one: {display_label: One}}
workflows: {}
"""
    )
    assert found.nodes == {}


@pytest.mark.parametrize("version", ["phaseline_dsl_1_1", "phaseline_dsl_2", "phaselin_dsl_1_0"])
def test_decision15_other_versions_of_ours_are_unknown(version):
    assert problems(f"tosca_definitions_version: {version}\n") == [("PL-B011", 1)]


@pytest.mark.parametrize(
    ("text", "code", "line", "said"),
    [
        ("node_types:\n  A: {resourcetype: Cloud.Node}\n", "PL-B014", 3, "did you mean 'resource_type'"),
        ("node_types:\n  A: {resource_type: [x]}\n", "PL-B015", 3, "expected text"),
        ("node_types:\n  A: {target_state: Started}\n", "PL-B112", 3, "no resource_type"),
        ("node_types:\n  A: {resource_type: A}\n", "PL-B110", 3, "A → A"),
        ("state_path: {}\n", "PL-B014", 2, "did you mean 'state_paths'"),
        ("state_paths: {Cloud.Node: {Up: []}}\n", "PL-B113", 2, "is empty"),
        ("state_paths:\n  Cloud.Node:\n    Up: [Allocation]\n", "PL-B113", 4, "ends in 'Allocation'"),
        ("state_paths: {Cloud.Node: {Up: [Up, A, Up]}}\n", "PL-B113", 2, "in a circle: 'Up'"),
        ("state_paths: {Cloud.Node: {Up: ['', Up]}}\n", "PL-B113", 2, "has no name"),
        ("state_paths: {Cloud.Node: {Up: {a: b}}}\n", "PL-B015", 2, "expected a list"),
        ("state_paths:\n  Cloud.Nod: {Up: [Up]}\n", "PL-B114", 3, "did you mean 'Cloud.Node'"),
    ],
)
def test_decision15_each_mistake_is_told_with_its_place(text, code, line, said):
    with pytest.raises(ProblemsError) as raised:
        read(OURS + text)
    (problem,) = raised.value.problems
    assert (problem.code, problem.place.line) == (code, line)
    assert said in problem.message + problem.mend


def test_decision15_a_circle_of_types_is_told_and_ends():
    text = (
        OURS
        + """
node_types:
  A: {resource_type: B}
  B: {resource_type: C}
  C: {resource_type: A}
node_templates: {one: {type: A}}
"""
    )
    assert [code for code, _ in problems(text)] == ["PL-B110"]
