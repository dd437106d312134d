"""B16-B19, B22-B24: types, relationships, templates, instances, plugins, workflows, outputs."""

import pytest
from tests.dsl.readers import codes, numbers, problems, read

LIFE = "cloudify.interfaces.lifecycle"


def test_b16_the_hierarchy_goes_from_the_root_to_the_type() -> None:
    found = read("node_templates: {n: {type: cloudify.nodes.Container}}").nodes["n"]
    assert found.type_hierarchy == ("cloudify.nodes.Root", "cloudify.nodes.Compute", "cloudify.nodes.Container")
    assert found.is_host


def test_b16_interfaces_merge_by_operation() -> None:
    text = """
    plugins: {p: {executor: central_deployment_agent, install: false}}
    node_types:
      parent: {interfaces: {i: {a: p.m.parent_a, b: p.m.parent_b}}}
      child: {derived_from: parent, interfaces: {i: {b: p.m.child_b, c: p.m.child_c}}}
    node_templates: {n: {type: child}}
    """
    found = read(text).nodes["n"].operations
    assert {name: operation.implementation for name, operation in found.items()} == {
        "i.a": "m.parent_a",
        "i.b": "m.child_b",
        "i.c": "m.child_c",
    }


def test_b16_a_thousand_types_may_derive_from_one_another() -> None:
    types = "\n".join(f"  t{n}: {{derived_from: t{n - 1}}}" for n in range(1, 1000))
    found = read(f"node_types:\n  t0: {{}}\n{types}\nnode_templates: {{n: {{type: t999}}}}\n").nodes["n"]
    assert len(found.type_hierarchy) == 1000


def test_b16_types_in_a_circle_are_100() -> None:
    assert numbers("node_types: {a: {derived_from: b}, b: {derived_from: a}}") == [100]


def test_b17_relationship_types_inherit_properties_and_operations_of_both_ends() -> None:
    text = """
    plugins: {p: {executor: central_deployment_agent, install: false}}
    relationships:
      mine:
        derived_from: cloudify.relationships.connected_to
        properties: {speed: {default: 5}}
        source_interfaces: {cloudify.interfaces.relationship_lifecycle: {establish: p.m.here}}
        target_interfaces: {cloudify.interfaces.relationship_lifecycle: {establish: p.m.there}}
    node_templates:
      a: {type: cloudify.nodes.Root}
      b:
        type: cloudify.nodes.Root
        relationships: [{type: mine, target: a, properties: {speed: 6}}]
    """
    (found,) = read(text).nodes["b"].relationships
    name = "cloudify.interfaces.relationship_lifecycle.establish"
    assert found.source_operations[name].implementation == "m.here"
    assert found.target_operations[name].implementation == "m.there"
    assert found.properties == {"connection_type": "all_to_all", "speed": 6}
    assert found.type_hierarchy[0] == "cloudify.relationships.depends_on"


def test_b17_a_relationship_without_known_root_is_unsupported() -> None:
    text = "relationships: {mine: {}}\nnode_templates: {a: {type: cloudify.nodes.Root}, b: {type: cloudify.nodes.Root, relationships: [{type: mine, target: a}]}}"
    assert [found.cloudify_class for found in problems(text)] == ["UnsupportedRelationship"]


@pytest.mark.parametrize(
    ("relationship", "number"),
    [
        ("{type: cloudify.relationships.nothing, target: a}", 26),
        ("{type: cloudify.relationships.connected_to, target: nothing}", 25),
        ("{type: cloudify.relationships.connected_to, target: b}", 23),
        ("{type: cloudify.relationships.depends_on_lifecycle_operation, target: a}", 215),
        (
            "{type: cloudify.relationships.depends_on_lifecycle_operation, target: a, properties: {operation: create}}",
            216,
        ),
    ],
)
def test_b18_wrong_relationships_have_the_ancestors_numbers(relationship: str, number: int) -> None:
    text = f"node_templates: {{a: {{type: cloudify.nodes.Root}}, b: {{type: cloudify.nodes.Root, relationships: [{relationship}]}}}}"
    assert numbers(text) == [number]


def test_b18_an_unknown_type_is_7() -> None:
    assert numbers("node_templates: {a: {type: nothing}}") == [7]


def test_b18_waiting_for_an_operation_that_the_targets_template_defines() -> None:
    text = f"""
    node_templates:
      a: {{type: cloudify.nodes.Root, interfaces: {{{LIFE}: {{create: {{}}}}}}}}
      b:
        type: cloudify.nodes.Root
        relationships:
          - type: cloudify.relationships.depends_on_lifecycle_operation
            target: a
            properties: {{operation: create}}
    """
    assert read(text).nodes["b"].relationships[0].lifecycle_operation == "create"


def test_b18_two_containers_are_112() -> None:
    both = "{type: cloudify.relationships.contained_in, target: %s}"
    text = f"node_templates: {{a: {{type: cloudify.nodes.Root}}, b: {{type: cloudify.nodes.Root}}, c: {{type: cloudify.nodes.Root, relationships: [{both % 'a'}, {both % 'b'}]}}}}"
    assert numbers(text) == [112]


def test_b18_containment_circles_are_100_at_any_length() -> None:
    nodes = "\n".join(
        f"  n{n}: {{type: cloudify.nodes.Root, relationships: [{{type: cloudify.relationships.contained_in, target: n{(n + 1) % 3000}}}]}}"
        for n in range(3000)
    )
    assert numbers(f"node_templates:\n{nodes}\n") == [100]


def test_b18_order_of_relationships_is_kept() -> None:
    targets = ["c", "a", "b"]
    items = ", ".join(f"{{type: cloudify.relationships.connected_to, target: {name}}}" for name in targets)
    text = f"node_templates: {{a: {{type: cloudify.nodes.Root}}, b: {{type: cloudify.nodes.Root}}, c: {{type: cloudify.nodes.Root}}, d: {{type: cloudify.nodes.Root, relationships: [{items}]}}}}"
    assert [item.target for item in read(text).nodes["d"].relationships] == targets


def test_b18_the_host_is_the_nearest_compute_up_the_containment_chain() -> None:
    text = """
    node_templates:
      module: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.contained_in, target: server}]}
      server: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.contained_in, target: inner}]}
      inner: {type: cloudify.nodes.Container, relationships: [{type: cloudify.relationships.contained_in, target: outer}]}
      outer: {type: cloudify.nodes.Compute}
      alone: {type: cloudify.nodes.Root}
    """
    hosts = {name: node.host for name, node in read(text).nodes.items()}
    assert hosts == {"module": "inner", "server": "inner", "inner": "inner", "outer": "outer", "alone": None}


def instances(text: str) -> tuple[object, object, object]:
    node = read(f"node_templates: {{n: {{type: cloudify.nodes.Root, {text}}}}}").nodes["n"]
    return (node.default_instances, node.min_instances, node.max_instances)


def test_b19_instances_deploy_sets_the_default_only() -> None:
    assert instances("instances: {deploy: 3}") == (3, 0, -1)
    assert instances("instances: {deploy: 0}") == (0, 0, -1)


def test_b19_scalable_sets_default_least_and_most() -> None:
    assert instances(
        "capabilities: {scalable: {properties: {default_instances: 2, min_instances: 1, max_instances: 5}}}"
    ) == (2, 1, 5)
    assert instances("capabilities: {scalable: {properties: {max_instances: UNBOUNDED}}}") == (1, 0, -1)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("instances: {deploy: 1}, capabilities: {scalable: {}}", 209),
        ("instances: {deploy: -1}", 207),
        ("instances: {deploy: true}", 207),
        ("instances: {deploy: 1.5}", 207),
        ("instances: {deploy: many}", 208),
        ("capabilities: {scalable: {properties: {default_instances: 0, min_instances: 1}}}", 207),
        ("capabilities: {scalable: {properties: {default_instances: 9, max_instances: 8}}}", 207),
        ("capabilities: {scalable: {properties: {max_instances: 0}}}", 207),
        ("capabilities: {scalable: {properties: {max_instances: endless}}}", 208),
        ("capabilities: {scalable: {properties: {default_instances: {a: 1}}}}", 210),
    ],
)
def test_b19_wrong_numbers_of_instances_have_the_ancestors_numbers(text: str, number: int) -> None:
    assert numbers(f"node_templates: {{n: {{type: cloudify.nodes.Root, {text}}}}}") == [number]


def test_b19_capabilities_need_1_3() -> None:
    assert codes("node_templates: {n: {type: cloudify.nodes.Root, capabilities: {scalable: {}}}}", minor=2) == [
        "PL-B013"
    ]


@pytest.mark.parametrize(
    ("plugin", "number"),
    [("{executor: nowhere, install: false}", 18), ("{install: false}", 1), ("{executor: host_agent}", 50)],
)
def test_b22_wrong_plugins_have_the_ancestors_numbers(plugin: str, number: int) -> None:
    assert numbers(f"plugins: {{p: {plugin}}}") == [number]


def test_b22_plugins_are_kept() -> None:
    found = read("plugins: {p: {executor: host_agent, package_name: pack, package_version: '1.0'}}").plugins["p"]
    assert (found.executor, found.install, found.package_name, found.package_version) == (
        "host_agent",
        True,
        "pack",
        "1.0",
    )


def test_b23_a_workflow_that_leads_nowhere_is_21() -> None:
    assert numbers("workflows: {go: nothing.to.find}") == [21]


def test_b24_outputs_and_capabilities_are_kept_and_need_a_value() -> None:
    found = read(
        "outputs: {url: {value: a, description: d}}\ncapabilities: {c: {value: {get_attribute: [n, x]}}}\nnode_templates: {n: {type: cloudify.nodes.Root}}"
    )
    assert (found.outputs["url"].value, found.outputs["url"].description) == ("a", "d")
    assert found.capabilities["c"].value == {"get_attribute": ["n", "x"]}
    assert numbers("outputs: {url: {}}") == [1]


def test_nodes_that_wait_for_one_another_in_a_circle_are_told() -> None:
    text = """
    node_templates:
      a: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.connected_to, target: b}]}
      b: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.depends_on, target: a}]}
    """
    (found,) = problems(text)
    assert found.message == "nodes wait for one another in a circle: a → b → a"


def test_every_node_knows_its_place() -> None:
    found = read("node_templates:\n  n:\n    type: cloudify.nodes.Root\n").nodes["n"].place
    assert (str(found), found.path) == ("blueprint.yaml:4:3", "node_templates.n")
