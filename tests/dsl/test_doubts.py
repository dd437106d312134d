"""What is hardly meant and is no error: operations and functions of a name that nobody knows."""

from pathlib import Path

import pytest
import yaml
from tests.dsl.readers import read

from phaseline.dsl.type_system.known_operations import KNOWN
from phaseline.model.problems.problem import ProblemsError

TYPES = Path(__file__).parents[2] / "src/phaseline/dsl/types"
NODE = """
node_templates:
  web:
    type: cloudify.nodes.Root
    interfaces: {%s}
"""
LIFECYCLE = "cloudify.interfaces.lifecycle"


def doubts(text: str) -> list[tuple[str, str]]:
    """(code, mend) of every warning."""
    return [(warning.code, warning.mend) for warning in read(text).warnings]


@pytest.mark.parametrize(
    ("interface", "operation", "meant"),
    [
        (LIFECYCLE, "satrt", "start"),
        (LIFECYCLE, "craete", "create"),
        ("cloudify.interfaces.validation", "dleete", "delete"),
        ("cloudify.interfaces.lifecyclee", "start", LIFECYCLE),
    ],
)
def test_m2_a_mistyped_operation_of_a_built_in_interface_is_warned_of(
    interface: str, operation: str, meant: str
) -> None:
    text = NODE % f"{interface}: {{{operation}: {{}}}}"
    (warning,) = read(text).warnings
    assert (warning.code, warning.mend) == ("PL-B084", f"did you mean '{meant}'?")
    assert warning.place.text.strip() == f"interfaces: {{{interface}: {{{operation}: {{}}}}}}"


def test_m2_what_is_odd_is_told_beside_what_is_wrong() -> None:
    text = """
    node_types: {Thing: {derived_from: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycle: {craete: {}}}}}
    node_templates: {web: {type: Thingg}}
    """
    with pytest.raises(ProblemsError) as caught:
        read(text)
    found = [(problem.code, problem.severity) for problem in caught.value.problems]
    assert found[-1] == ("PL-B084", "warning")
    assert {severity for _, severity in found[:-1]} == {"error"}


def test_m2_an_operation_for_execute_operation_alone_may_stay() -> None:
    ((code, mend),) = doubts(NODE % f"{LIFECYCLE}: {{backup: {{}}}}")
    assert (code, "execute_operation" in mend) == ("PL-B084", True)


@pytest.mark.parametrize("interface", ["mine", "cloudify.interfaces.snapshot", "shop.lifecycle"])
def test_interfaces_of_ones_own_may_have_any_operation(interface: str) -> None:
    assert doubts(NODE % f"{interface}: {{satrt: {{}}}}") == []


def test_m2_types_and_relationships_are_looked_at_and_what_they_declare_is_told_once() -> None:
    text = """
    node_types:
      Thing:
        derived_from: cloudify.nodes.Root
        interfaces: {cloudify.interfaces.lifecycle: {satrt: {}}}
    relationships:
      near:
        derived_from: cloudify.relationships.depends_on
        source_interfaces: {cloudify.interfaces.relationship_lifecycle: {estalbish: {}}}
    node_templates:
      a: {type: Thing, interfaces: {cloudify.interfaces.lifecycle: {satrt: {}}}}
      b: {type: Thing, relationships: [{type: near, target: a}]}
    """
    assert sorted(mend for _, mend in doubts(text)) == ["did you mean 'establish'?", "did you mean 'start'?"]


def test_the_table_of_operations_has_all_of_the_built_in_types() -> None:
    found: dict[str, set[str]] = {}
    for file in TYPES.rglob("*.yaml"):
        content = yaml.safe_load(file.read_text("utf-8"))
        for section in ("node_types", "relationships"):
            for declared in (content.get(section) or {}).values():
                for key in ("interfaces", "source_interfaces", "target_interfaces"):
                    for interface, operations in (declared.get(key) or {}).items():
                        found.setdefault(interface, set()).update(operations or {})
    assert found == {interface: set(names) for interface, names in KNOWN.items()}


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("{get_propety: [web, port]}", "get_property"),
        ("{get_inptu: port}", "get_input"),
        ("{Get_Input: port}", "get_input"),
        ("{concta: [a, b]}", "concat"),
        ("{string_fnid: [a, b]}", "string_find"),
        ("[{deep: {get_atribute: [web, ip]}}]", "get_attribute"),
    ],
)
def test_m2_what_looks_like_a_function_and_is_none_is_warned_of(value: str, meant: str) -> None:
    text = f"outputs: {{x: {{value: {value}}}}}\n" + NODE % ""
    assert doubts(text) == [("PL-B085", f"did you mean '{meant}'?")]


def test_m2_a_function_that_is_like_none_is_warned_of_with_those_that_there_are() -> None:
    ((code, mend),) = doubts("outputs: {x: {value: {get_rich: quick}}}\n" + NODE % "")
    assert (code, "'get_input'" in mend) == ("PL-B085", True)


@pytest.mark.parametrize(
    "value",
    [
        "{port: 80}",
        "{contact: [a, b]}",
        "{gets: 3}",
        "{concta: a}",
        "{strings: [a]}",
        "{get_rich: quick, b: 1}",
        "{generic: 1}",
    ],
)
def test_other_mappings_stand_for_themselves(value: str) -> None:
    assert doubts(f"outputs: {{x: {{value: {value}}}}}\n" + NODE % "") == []
