"""DP5: the functions of a blueprint that read other deployments, each with the place that has it."""

from __future__ import annotations

import pytest
from tests.dsl.readers import read

from phaseline.dsl.deployment.other_reads import dependencies_of, has_functions_elsewhere
from phaseline.model.problems.problem import ProblemsError

EVERYWHERE = """
    node_types: {T: {derived_from: cloudify.nodes.Root, properties: {p: {default: {concat: [a, {get_capability: [type, x]}]}}}}}
    node_templates:
      a:
        type: T
        interfaces: {cloudify.interfaces.lifecycle: {start: {implementation: a.b, inputs: {k: [{get_capability: [operation, x]}]}}}}
      b: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.connected_to, target: a,
           target_interfaces: {cloudify.interfaces.relationship_lifecycle: {establish: {implementation: a.b, inputs: {k: {get_capability: [relationship, x]}}}}}}]}
    workflows: {w: {mapping: a.b.c, parameters: {p: {default: {get_capability: [workflow, x]}}}}}
    plugins: {a: {executor: central_deployment_agent, install: false}}
    outputs: {o: {value: {get_capability: [{get_secret: s}, x]}}, e: {value: {get_environment_capability: x}}}
    capabilities: {c: {value: {get_group_capability: [group, x]}}, n: {value: {get_consumers: count}}}
    resource_tags: {t: {get_capability: [tag, x]}}
"""


def test_dp5_every_function_makes_a_record_with_its_place() -> None:
    found = {(one.kind, one.creator, one.provider) for one in dependencies_of(read(EVERYWHERE))}
    assert found == {
        ("capability", "nodes.a.properties.p", "type"),
        ("capability", "nodes.a.operations.cloudify.interfaces.lifecycle.start.inputs.k", "operation"),
        (
            "capability",
            "nodes.b.relationships.a.target_operations.cloudify.interfaces.relationship_lifecycle.establish.inputs.k",
            "relationship",
        ),
        ("capability", "workflows.w.parameters.p", "workflow"),
        ("capability", "outputs.o", ""),
        ("environment", "outputs.e", ""),
        ("group", "capabilities.c", ""),
        ("capability", "resource_tags.t", "tag"),
    }


def test_a24_a_record_has_the_name_of_a_secret() -> None:
    (found,) = [one for one in dependencies_of(read(EVERYWHERE)) if one.creator == "outputs.o"]
    assert found.function == '{"get_capability":[{"get_secret":"s"},"x"]}'


@pytest.mark.parametrize(
    ("value", "is_found"), [("{get_consumers: ids}", True), ("{get_attribute: [a, x]}", False), ("plain", False)]
)
def test_dp1_a_blueprint_knows_whether_it_reads_others(value: str, is_found: bool) -> None:
    text = f"""
    node_templates: {{a: {{type: cloudify.nodes.Root}}}}
    outputs: {{o: {{value: {value}}}}}
    """
    assert has_functions_elsewhere(read(text)) is is_found


@pytest.mark.parametrize(
    "function",
    [
        "get_capability: [dep]",
        "get_capability: {}",
        "get_capability: [1, x]",
        "get_capability: dep",
        "get_group_capability: [group]",
        "get_environment_capability: {}",
        "get_environment_capability: []",
        "get_consumers: foo",
    ],
)
def test_dp1_wrong_arguments_are_refused_when_the_blueprint_is_read(function: str) -> None:
    with pytest.raises(ProblemsError, match="PL-B070"):
        read(f"outputs: {{o: {{value: {{{function}}}}}}}\nnode_templates: {{a: {{type: cloudify.nodes.Root}}}}")
