"""B20, B21: groups, the policies in them, policies over groups, and the scaling groups that follow."""

import pytest
from tests.dsl.readers import codes, numbers, problems, read

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.documents.json_codec import blueprint_from_json, blueprint_to_json
from phaseline.model.blueprint.groups import GroupPolicy, Trigger

NODES = """
node_templates:
  h1: {type: cloudify.nodes.Compute}
  h2: {type: cloudify.nodes.Compute}
  web: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.contained_in, target: h1}]}
  app: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.contained_in, target: web}]}
  db: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.contained_in, target: h2}]}
  cache: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.contained_in, target: h1}]}
  net: {type: cloudify.nodes.Root}
"""


def scaled(groups: str, *targets: str, properties: str = "{}") -> str:
    policy = f"{{type: cloudify.policies.scaling, targets: [{', '.join(targets)}], properties: {properties}}}"
    return f"{NODES}groups: {groups}\npolicies: {{p: {policy}}}\n"


def members(groups: str, *targets: str) -> dict[str, tuple[str, ...]]:
    return {name: group.members for name, group in read(scaled(groups, *targets)).scaling_groups.items()}


def test_b20_members_are_nodes_and_groups_each_once() -> None:
    found = read(f"{NODES}groups: {{a: {{members: [net, h1, net]}}, b: {{members: [a]}}}}")
    assert found.groups["a"].members == ("net", "h1")
    assert found.groups["b"].members == ("a",)
    assert found.scaling_groups == {}


def test_b20_a_group_has_at_least_one_member() -> None:
    (found,) = problems(f"{NODES}groups: {{a: {{members: []}}}}")
    assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B015", 1, "DSLParsingFormatException")
    assert codes(f"{NODES}groups: {{a: {{}}}}") == ["PL-B016"]


def test_b20_an_unknown_member_is_told_with_a_guess() -> None:
    (found,) = problems(f"{NODES}groups: {{a: {{members: [nte]}}}}")
    assert (found.code, found.cloudify_code, found.mend) == ("PL-B151", 40, "did you mean 'net'?")


def test_b20_a_group_cannot_have_the_name_of_a_node() -> None:
    assert numbers(f"{NODES}groups: {{net: {{members: [h1]}}}}") == [211]


IN_GROUP = """
policy_types:
  watch: {source: watch.clj, properties: {every: {type: integer, default: 5}, what: {}}}
policy_triggers:
  run: {source: run.clj, parameters: {workflow: {}, force: {type: boolean, default: false}}}
"""


def policy(text: str) -> str:
    return f"{NODES}{IN_GROUP}groups: {{a: {{members: [net], policies: {{q: {text}}}}}}}"


def test_b20_policies_of_groups_are_completed_checked_and_without_effect() -> None:
    found = read(
        policy("{type: watch, properties: {what: cpu}, triggers: {t: {type: run, parameters: {workflow: heal}}}}")
    )
    wanted = GroupPolicy(
        "watch", {"every": 5, "what": "cpu"}, {"t": Trigger("run", {"workflow": "heal", "force": False})}
    )
    assert found.groups["a"].policies == {"q": wanted}
    assert [warning.code for warning in found.warnings] == ["PL-B018"]


@pytest.mark.parametrize(
    ("text", "code", "number"),
    [
        ("{type: wach}", "PL-B152", 41),
        ("{type: watch, properties: {what: cpu}, triggers: {t: {type: rnu}}}", "PL-B152", 42),
        ("{type: watch}", "PL-B036", 107),
        ("{type: watch, properties: {what: cpu, every: often}}", "PL-B034", 105),
        ("{type: watch, properties: {what: cpu, evry: 5}}", "PL-B035", 106),
        ("{type: watch, properties: {what: cpu}, triggers: {t: {type: run}}}", "PL-B036", 107),
        ("{type: watch, properties: {what: {get_input: nothing}}}", "PL-B071", None),
        ("{}", "PL-B016", 1),
    ],
)
def test_b20_what_is_wrong_in_a_policy_of_a_group_is_told(text: str, code: str, number: int | None) -> None:
    (found,) = problems(policy(text))
    assert (found.code, found.cloudify_code) == (code, number)


def test_b20_the_ancestors_policy_types_are_known() -> None:
    text = f"{NODES}groups: {{a: {{members: [net], policies: {{q: {{type: cloudify.policies.types.host_failure, properties: {{service: [x]}}}}}}}}}}"
    assert codes(text) == []


def test_b21_a_policy_scales_its_targets() -> None:
    properties = "{default_instances: 2, min_instances: 1, max_instances: UNBOUNDED}"
    found = read(
        scaled("{a: {members: [net]}, b: {members: [h1]}, c: {members: [h2]}}", "b", "a", properties=properties)
    )
    assert list(found.scaling_groups) == ["a", "b"]
    group = found.scaling_groups["a"]
    assert (group.default_instances, group.min_instances, group.max_instances) == (2, 1, -1)
    assert found.policies["p"].targets == ("b", "a")


@pytest.mark.parametrize(
    ("policy", "number"),
    [
        ("{type: cloudify.policies.scalng, targets: [a]}", 204),
        ("{type: cloudify.policies.scaling, targets: []}", 206),
        ("{type: cloudify.policies.scaling, targets: [net]}", 205),
        ("{type: cloudify.policies.scaling}", 1),
        ("{type: cloudify.policies.scaling, targets: [a], properties: {default_instances: 1, min_instances: 2}}", 207),
        ("{type: cloudify.policies.scaling, targets: [a], properties: {max_instances: many}}", 208),
        ("{type: cloudify.policies.scaling, targets: [a], properties: {default_instances: {a: b}}}", 210),
        ("{type: cloudify.policies.scaling, targets: [a], properties: {instances: 2}}", 106),
    ],
)
def test_b21_what_is_wrong_in_a_policy_is_told_with_the_ancestors_number(policy: str, number: int) -> None:
    assert numbers(f"{NODES}groups: {{a: {{members: [net]}}}}\npolicies: {{p: {policy}}}") == [number]


def test_b21_policies_came_with_1_3() -> None:
    assert codes(scaled("{a: {members: [net]}}", "a"), minor=2) == ["PL-B013"]


def test_b21_of_two_policies_over_a_group_the_later_one_counts() -> None:
    text = f"{NODES}groups: {{a: {{members: [net]}}}}\npolicies:\n" + "\n".join(
        f"  {name}: {{type: cloudify.policies.scaling, targets: [a], properties: {{default_instances: {count}}}}}"
        for name, count in (("p", 2), ("q", 3))
    )
    found = read(text)
    assert found.scaling_groups["a"].default_instances == 3
    assert [warning.code for warning in found.warnings] == ["PL-B018"]


def test_b21_groups_in_a_circle_are_told() -> None:
    (found,) = problems(scaled("{a: {members: [b]}, b: {members: [c]}, c: {members: [a]}}", "a", "b", "c"))
    assert (found.code, found.cloudify_code, "a → b → c → a" in found.message) == ("PL-B155", 200, True)
    assert codes(f"{NODES}groups: {{a: {{members: [b]}}, b: {{members: [a]}}}}") == []


def test_b21_a_member_belongs_to_one_scaling_group() -> None:
    (found,) = problems(scaled("{a: {members: [net, h1]}, b: {members: [h2, net]}}", "a", "b"))
    assert (found.code, found.cloudify_code, "'net'" in found.message) == ("PL-B156", 201, True)
    assert codes(scaled("{a: {members: [net, h1]}, b: {members: [h2, net]}}", "a")) == []


@pytest.mark.parametrize("together", ["[net, web]", "[web, db]", "[cache, db]", "[web, h2]", "[h1, db]"])
def test_b21_members_must_share_a_container_or_go_with_their_own(together: str) -> None:
    (found,) = problems(scaled(f"{{a: {{members: {together}}}}}", "a"))
    assert (found.code, found.cloudify_code) == ("PL-B157", 202)


@pytest.mark.parametrize("together", ["[web, cache]", "[h1, h2, net]", "[h1, web, h2, db, net]", "[app, web]"])
def test_b21_members_that_share_a_container_or_go_with_it_are_fine(together: str) -> None:
    assert codes(scaled(f"{{a: {{members: {together}}}}}", "a")) == []


def test_b21_members_in_one_outer_container_but_in_different_inner_ones_cannot_be_multiplied() -> None:
    (found,) = problems(scaled("{a: {members: [app, cache]}}", "a"))
    assert (found.code, "cannot be multiplied in both" in found.message) == ("PL-B157", True)


@pytest.mark.parametrize(
    ("groups", "targets", "wanted"),
    [
        ("{a: {members: [h1, web, app, net]}}", ("a",), {"a": ("h1", "net")}),
        ("{a: {members: [b, h1]}, b: {members: [web]}}", ("a", "b"), {"a": ("h1",), "b": ("web",)}),
        ("{a: {members: [b]}, b: {members: [h1, web]}}", ("a", "b"), {"a": ("b",), "b": ("h1",)}),
        ("{a: {members: [b, net]}, b: {members: [h1]}}", ("a",), {"a": ("h1", "net")}),
        ("{a: {members: [h1]}, b: {members: [web]}}", ("a", "b"), {"a": ("h1",), "b": ("web",)}),
    ],
)
def test_b21_what_a_container_of_the_same_group_carries_is_no_member_of_its_own(
    groups: str, targets: tuple[str, ...], wanted: dict[str, tuple[str, ...]]
) -> None:
    assert members(groups, *targets) == wanted


def test_b21_scaling_groups_nest_to_a_bound() -> None:
    names = [f"g{number}" for number in range(120)]
    groups = ", ".join(
        f"{name}: {{members: [{inner}]}}" for name, inner in zip(names, [*names[1:], "net"], strict=True)
    )
    assert numbers(scaled(f"{{{groups}}}", *names)) == [200]


def test_b21_thousands_of_members_are_checked_in_a_moment() -> None:
    nodes = "\n".join(f"  n{number}: {{type: cloudify.nodes.Root}}" for number in range(1500))
    names = ", ".join(f"n{number}" for number in range(1500))
    text = f"node_templates:\n{nodes}\ngroups: {{a: {{members: [{names}]}}}}\n"
    text += "policies: {p: {type: cloudify.policies.scaling, targets: [a]}}"
    assert len(read(text).scaling_groups["a"].members) == 1500


def test_b21_counts_of_groups_may_be_functions_and_are_numbers_when_inputs_are_known() -> None:
    text = "inputs: {n: {default: 3}}\n" + scaled(
        "{a: {members: [net]}}", "a", properties="{default_instances: {get_input: n}}"
    )
    found = with_inputs(read(text), {"n": 3})
    assert found.scaling_groups["a"].default_instances == 3


def test_b21_groups_are_stored_with_their_blueprint() -> None:
    text = scaled("{a: {members: [b]}, b: {members: [net]}}", "a", "b") + IN_GROUP
    found = read(text)
    again = blueprint_from_json(blueprint_to_json(found))
    assert (again.groups, again.policies, again.scaling_groups) == (found.groups, found.policies, found.scaling_groups)
    assert again.policy_types == found.policy_types
