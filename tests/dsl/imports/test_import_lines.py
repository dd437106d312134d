"""B6, B22: rules that lead imports elsewhere, and values for plugins on the lines that import them."""

from collections.abc import Mapping

import pytest
from tests.dsl.readers import MAIN, Texts, codes, numbers, problems, read, whole

from phaseline.dsl.reader import read_blueprint
from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.problems.problem import ProblemsError

PLUGIN = """
plugins:
  p:
    executor: central_deployment_agent
    install: false
    properties_description: how to reach it
    properties:
      region: {type: string, description: where, display_label: Region}
      tries: {type: integer}
      share: {type: float}
      loud: {type: boolean, value: true}
      zones: {type: list}
"""


def plugin(values: str, minor: int = 5) -> Mapping[str, Mapping[str, object]]:
    text = f"imports:\n  - p.yaml:\n      {values}\n"
    return read(text, minor=minor, others={"p.yaml": PLUGIN}).plugins["p"].properties


def refused(values: str) -> list[tuple[str, int | None, int]]:
    found = problems(f"imports:\n  - p.yaml: {{{values}}}\n", minor=5, others={"p.yaml": PLUGIN})
    return [(problem.code, problem.cloudify_code, problem.place.column) for problem in found]


def with_rules(rules: list[tuple[str, str]], imported: str, others: Mapping[str, str]) -> Blueprint:
    files = Texts({MAIN: whole(f"imports: ['{imported}']"), **others})
    files.rules = rules
    return read_blueprint(MAIN, files)


def test_b22_values_on_the_import_line_are_stored_as_value() -> None:
    found = plugin("{region: north, tries: 3, share: 1, loud: false, zones: [a, b]}")
    assert {name: fields["value"] for name, fields in found.items()} == {
        "region": "north",
        "tries": 3,
        "share": 1,
        "loud": False,
        "zones": ["a", "b"],
    }
    assert found["region"] == {"type": "string", "description": "where", "display_label": "Region", "value": "north"}


def test_b22_without_a_value_on_the_line_the_plugins_own_stays() -> None:
    found = plugin("{region: north}")
    assert found["loud"]["value"] is True
    assert "value" not in found["tries"]


def test_b22_a_function_is_no_mismatch() -> None:
    assert plugin("{tries: {get_secret: tries}}")["tries"]["value"] == {"get_secret": "tries"}


@pytest.mark.parametrize("value", ["tries: many", "tries: 1.5", "tries: true", "loud: 1", "zones: a", "region: [a]"])
def test_b22_a_value_of_another_type_is_221_at_its_place(value: str) -> None:
    assert refused(value) == [("PL-B090", 221, 14 + value.index(": ") + 2)]


def test_b22_a_value_for_no_property_is_221_with_what_was_meant() -> None:
    (found,) = problems("imports: [p.yaml: {regoin: a}]\n", minor=5, others={"p.yaml": PLUGIN})
    assert (found.cloudify_code, found.mend) == (221, "did you mean 'region'?")


def test_b22_a_file_whose_plugins_have_no_properties_takes_no_values() -> None:
    (found,) = problems("imports: [p.yaml: {a: 1}]\n", minor=5, others={"p.yaml": "inputs: {}"})
    assert (found.code, found.cloudify_code) == ("PL-B090", 221)


def test_b22_all_fields_of_a_plugin_are_kept() -> None:
    text = """
    plugins:
      p: {executor: host_agent, source: 'https://h/p.zip', install_arguments: -r x, package_name: p,
          package_version: '1.0', supported_platform: any, distribution: d, distribution_version: v,
          distribution_release: r}
    """
    found = read(text).plugins["p"]
    assert (found.executor, found.source, found.install) == ("host_agent", "https://h/p.zip", True)
    assert (found.install_arguments, found.package_name, found.package_version) == ("-r x", "p", "1.0")
    assert (found.supported_platform, found.distribution) == ("any", "d")
    assert (found.distribution_version, found.distribution_release) == ("v", "r")


def test_b22_a_plugin_property_of_an_unknown_type_is_103() -> None:
    text = "plugins: {p: {executor: host_agent, install: false, properties: {a: {type: strng}}}}"
    (found,) = problems(text, minor=5)
    assert (found.cloudify_code, found.mend) == (103, "did you mean 'string'?")


def test_b04_values_on_an_import_line_are_102_below_1_5() -> None:
    assert numbers(
        "imports: [p.yaml: {region: a}]\n", minor=4, others={"p.yaml": PLUGIN.replace("properties", "x")}
    ) == [102]


@pytest.mark.parametrize(
    "entry", ["5", "[a]", "{a.yaml: {}, b.yaml: {}}", "{}", "{p.yaml: 5}", "{p.yaml: {region: {a: 1}}}"]
)
def test_b06_what_is_no_name_with_plain_values_is_220(entry: str) -> None:
    assert numbers(f"imports: [{entry}]", minor=5, others={"p.yaml": PLUGIN}) == [220]


def test_b06_one_name_with_and_without_values_is_imported_twice() -> None:
    assert numbers("imports: [p.yaml, p.yaml: {region: a}]", minor=5, others={"p.yaml": PLUGIN}) == [2]


def test_b06_a_rule_replaces_the_beginning_of_an_import() -> None:
    found = with_rules([("http://old/", "mirror/")], "http://old/a.yaml", {"mirror/a.yaml": "inputs: {i: {}}"})
    assert set(found.inputs) == {"i"}


def test_b06_rules_are_tried_in_order_and_the_address_itself_last() -> None:
    rules = [("http://old/", "http://first/"), ("http://old/", "http://second/"), ("http://", "none/")]
    for there in ("http://second/a.yaml", "http://old/a.yaml"):
        assert set(with_rules(rules, "http://old/a.yaml", {there: "inputs: {i: {}}"}).inputs) == {"i"}


def test_b06_a_rule_may_lead_to_the_built_in_types() -> None:
    assert "install" in with_rules([("http://old/", "cloudify/types/")], "http://old/types.yaml", {}).workflows


def test_b06_where_no_rule_leads_anywhere_the_import_is_13_by_its_own_name() -> None:
    with pytest.raises(ProblemsError) as caught:
        with_rules([("http://old/", "none/")], "http://old/a.yaml", {})
    (found,) = caught.value.problems
    assert (found.cloudify_code, found.message) == (13, "there is no file 'http://old/a.yaml' to import")


def test_b06_a_broken_file_is_told_once_however_many_import_it() -> None:
    others = {"a.yaml": "imports: [b.yaml]", "b.yaml": "inputs: ["}
    assert codes("imports: [a.yaml, b.yaml, ns--b.yaml]", others=others) == ["PL-B004"]
