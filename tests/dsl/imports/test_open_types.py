"""Blueprints without the definition files they import: open types (decision 25), and imports that have replacements (B6)."""

from collections.abc import Sequence
from textwrap import dedent

from tests.dsl.readers import MAIN, Texts, whole

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.reader import read_blueprint
from phaseline.model.blueprint.blueprint import Blueprint

HEAD = "imports: [cloudify/types/types.yaml, 'plugin:acme']\n"


def read_open(text: str) -> Blueprint:
    """A blueprint whose plugin is not at hand."""
    return read_blueprint(MAIN, Texts({MAIN: whole(HEAD + dedent(text))}), open_types=True)


def warned(text: str) -> list[str]:
    """What is taken as open."""
    return [each.message.split("'")[1] for each in read_open(text).warnings if each.code == "PL-B125"]


def test_everything_that_a_blueprint_names_and_nobody_declares_is_open_once() -> None:
    text = """
    node_types:
      Mine: {derived_from: acme.Box, properties: {size: {type: acme.Size}, other: {type: acme.Size, required: false}, word: {type: string, default: a}}}
    relationships: {linked: {derived_from: acme.connected_to_box}}
    node_templates:
      a: {type: Mine, properties: {anything: 1, size: {x: 2}}}
      b: {type: acme.Box, relationships: [{type: linked, target: a}, {type: acme.contained_in, target: a}]}
    workflows: {check: {mapping: acme.acme.work.check, availability_rules: {node_types_required: [acme.Pipe]}}}
    """
    assert warned(text) == ["acme.Box", "acme.Size", "acme.connected_to_box", "acme.contained_in", "acme.Pipe"]
    found = read_open(text)
    assert [item.type_hierarchy[0] for item in found.nodes["b"].relationships] == [
        "cloudify.relationships.depends_on"
    ] * 2
    assert found.nodes["b"].container == "a"
    assert found.workflows["check"].plugin == "acme"
    assert found.open_types == ("acme.Box", "acme.Pipe")


def test_a_function_that_asks_an_open_node_waits_for_run_time() -> None:
    text = """
    node_templates:
      a: {type: acme.Box, properties: {size: 2}}
      b: {type: cloudify.nodes.Root, properties: {resource_id: {get_property: [a, name]}}}
      c: {type: cloudify.nodes.Root, properties: {resource_id: {get_property: [a, size]}}}
    """
    found = with_inputs(read_open(text), {})
    assert found.nodes["b"].properties["resource_id"] == {"get_property": ["a", "name"]}
    assert found.nodes["c"].properties["resource_id"] == 2


def test_a_misspelled_built_in_type_is_suggested_and_one_of_another_family_is_not() -> None:
    mends = [
        each.mend
        for each in read_open("""
    node_templates: {a: {type: cloudify.nodes.Computer}, b: {type: cloudify.nodes.acme.Compute}}
    """).warnings
        if each.code == "PL-B125"
    ]
    assert mends[0] == "did you mean 'cloudify.nodes.Compute'?"
    assert mends[1].startswith("if the missing definition has it:")


def test_a_node_in_an_open_one_may_be_on_a_host() -> None:
    text = """
    plugins: {p: {executor: host_agent, install: false}}
    node_templates:
      a: {type: acme.Box}
      b:
        type: cloudify.nodes.Root
        interfaces: {cloudify.interfaces.lifecycle: {start: p.m.start}}
        relationships: [{type: cloudify.relationships.contained_in, target: a}]
    """
    assert read_open(text).nodes["b"].host is None


class Replaced(Texts):
    """A source in which every import is looked for elsewhere first."""

    def replacements(self, target: str, minor: int) -> Sequence[str]:
        """Somewhere it cannot be, then where it is."""
        return ("ftp://example.org/types.yaml", *super().replacements(target, minor))


def test_b06_what_cannot_be_had_elsewhere_is_taken_from_where_it_is() -> None:
    text = whole("imports: [cloudify/types/types.yaml, more.yaml]\n")
    more = "node_templates: {a: {type: cloudify.nodes.Root}}\n"
    assert list(read_blueprint(MAIN, Replaced({MAIN: text, "more.yaml": more})).nodes) == ["a"]
