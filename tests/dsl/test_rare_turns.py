"""Turns of the reading that hardly any blueprint takes."""

import pytest
from tests.dsl.readers import MAIN, Texts, codes, problems, read, whole

from phaseline.dsl.documents import Document
from phaseline.dsl.json_text import read_json
from phaseline.dsl.reader import read_blueprint
from phaseline.dsl.report import MAX_PROBLEMS, Report, Spot
from phaseline.model.problem import ProblemsError

NODE = "node_templates: {n: {type: cloudify.nodes.Root}}\n"


def test_b06_an_address_is_no_main_file_and_the_mend_says_what_to_do() -> None:
    with pytest.raises(ProblemsError) as found:
        read_blueprint("https://example.org/blueprint.yaml", Texts({}))
    (problem,) = found.value.problems
    assert (problem.code, problem.cloudify_code) == ("PL-B001", 30)
    assert problem.mend.startswith("Save it as a file")


def test_b20_a_policy_of_a_broken_type_is_told_of_once() -> None:
    text = f"""
    policy_types: {{p: 5}}
    {NODE}
    groups: {{g: {{members: [n], policies: {{one: {{type: p}}}}}}}}
    """
    assert [(one.code, one.place.path) for one in problems(text)] == [("PL-B015", "policy_types.p")]


def test_b21_a_node_that_two_groups_of_a_group_name_is_there_once() -> None:
    text = f"""
    {NODE}
    groups:
      a: {{members: [n]}}
      b: {{members: [n]}}
      both: {{members: [a, b]}}
    policies: {{p: {{type: cloudify.policies.scaling, targets: [both]}}}}
    """
    assert codes(text) == []


def test_b08_what_is_neither_text_nor_mapping_in_a_namespace_is_told_of_as_everywhere() -> None:
    others = {"more.yaml": "node_templates: {n: {type: cloudify.nodes.Root, relationships: 5, interfaces: 7}}"}
    found = problems("imports: [cloudify/types/types.yaml, ns--more.yaml]", others=others)
    assert [(one.code, one.place.file, one.place.path) for one in found] == [
        ("PL-B015", "more.yaml", "node_templates.n.relationships"),
        ("PL-B015", "more.yaml", "node_templates.n.interfaces"),
    ]


def test_b32_an_operation_in_an_interface_of_a_name_like_a_built_in_one_is_doubted() -> None:
    text = """
    plugins: {p: {executor: central_deployment_agent, install: false}}
    node_templates: {n: {type: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycel: {create: p.m.f}}}}
    """
    (warning,) = read(text).warnings
    assert warning.mend == "Did you mean 'cloudify.interfaces.lifecycle'?"
    assert read(text.replace("lifecycel", "backup_of_shops")).warnings == ()


def test_a_key_in_json_may_be_written_with_escapes() -> None:
    text = '{"inputs": {"caf\\u00e9": {"default": {"a\\tb": 1}}}, "metadata": {"caf\\u00e9": 2}}'
    assert read_json(text, 100)[0]["metadata"] == {"café": 2}


def test_many_brackets_beside_one_another_are_not_deep() -> None:
    wide = ", ".join(["[]"] * 50)
    assert read_json(f'{{"metadata": {{"a": [{wide}]}}}}', 10)[0] == {"metadata": {"a": [[]] * 50}}


def test_b26_a_schedule_without_an_end_begins() -> None:
    text = "deployment_settings: {default_schedules: {s: {workflow: install, since: '+1 d'}}}"
    assert codes(text) == []


@pytest.mark.parametrize("number", ["0" * 4_000, "1" * 4_000 + ".5", "0x" + "f" * 4_000])
def test_a_number_of_thousands_of_digits_is_no_number(number: str) -> None:
    (found,) = problems(f"metadata: {{a: {number}}}")
    assert (found.code, found.message.endswith("not a number")) == ("PL-B008", True)


def test_what_is_wrong_is_kept_up_to_a_bound_and_counted_beyond_it() -> None:
    report = Report()
    spot = Spot(Document(MAIN, whole("")), ("inputs",))
    for _ in range(MAX_PROBLEMS + 1):
        report.add("PL-B014", "wrong", "mend it", spot)
    assert report.errors_count == MAX_PROBLEMS + 1
