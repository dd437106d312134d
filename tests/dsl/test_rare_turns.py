"""Turns of the reading that hardly any blueprint takes."""

import pytest
from tests.dsl.readers import MAIN, Texts, codes, problems, read, whole

from phaseline.dsl.reader import read_blueprint
from phaseline.dsl.text.document import Document
from phaseline.dsl.text.file_source import RecordingSource
from phaseline.dsl.text.json_reader import read_json
from phaseline.dsl.text.positions import Positions
from phaseline.dsl.text.problem_report import MAX_PROBLEMS, ElementPath, ProblemReport
from phaseline.model.problems.problem import ProblemsError, problem_error

NODE = "node_templates: {n: {type: cloudify.nodes.Root}}\n"


def test_b06_an_address_is_no_main_file_and_the_mend_says_what_to_do() -> None:
    with pytest.raises(ProblemsError) as found:
        read_blueprint("https://example.org/blueprint.yaml", Texts({}))
    (problem,) = found.value.problems
    assert (problem.code, problem.cloudify_code) == ("PL-B001", 30)
    assert problem.mend.startswith("save it as a file")


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
    assert warning.mend == "did you mean 'cloudify.interfaces.lifecycle'?"
    assert read(text.replace("lifecycel", "backup_of_shops")).warnings == ()


def test_a_key_in_json_may_be_written_with_escapes() -> None:
    text = '{"inputs": {"\\u00e9\\u00e8": {"default": {"a\\tb": 1}}}, "metadata": {"\\u00e9\\u00e8": 2}}'
    assert read_json(text, 100)[0]["metadata"] == {"éè": 2}


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
    report = ProblemReport()
    spot = ElementPath(Document(MAIN, whole("")), ("inputs",))
    for _ in range(MAX_PROBLEMS + 1):
        report.add("PL-B014", "wrong", "mend it", spot)
    assert report.errors_count == MAX_PROBLEMS + 1


def test_a_state_path_without_states_is_an_empty_one() -> None:
    text = """
    tosca_definitions_version: phaseline_dsl_1_0
    state_paths: {Cloud.Node: {Started: }}
    """
    assert [one.place.path for one in problems(text)] == ["state_paths.Cloud.Node.Started"]


def test_a_mistake_below_what_text_says_stands_where_the_text_is() -> None:
    document = Document(MAIN, "inputs: {a: word}\n")
    place = Positions(document).place(("inputs", "a", "default", 0), "value")
    assert (place.line, place.column) == (1, 10)


def test_two_mistakes_in_a_large_mapping_have_their_own_places() -> None:
    lines = [f"      p{number}: {{type: {'nothing' if number in (3, 40) else 'string'}}}" for number in range(60)]
    found = problems("\n".join(["node_types:", "  t:", "    properties:", *lines]))
    assert [one.place.line for one in found] == [9, 46]


def test_a_relationship_of_a_broken_type_is_told_of_once() -> None:
    text = """
    relationships: {r: {derived_from: nowhere}}
    node_templates:
      a: {type: cloudify.nodes.Root}
      b: {type: cloudify.nodes.Root, relationships: [{type: r, target: a}]}
    """
    assert [one.place.path for one in problems(text)] == ["relationships.r.derived_from"]


def test_b18_the_operation_to_wait_for_may_be_a_function() -> None:
    text = """
    inputs: {which: {default: create}}
    node_templates:
      a: {type: cloudify.nodes.Root}
      b:
        type: cloudify.nodes.Root
        relationships:
          - type: cloudify.relationships.depends_on_lifecycle_operation
            target: a
            properties: {operation: {get_input: which}}
    """
    assert codes(text) == []


def test_inputs_of_an_operation_without_any_function_are_taken_as_they_are() -> None:
    text = """
    plugins: {p: {executor: central_deployment_agent, install: false}}
    node_templates:
      n: {type: cloudify.nodes.Root, interfaces: {i: {o: {implementation: p.m.f, inputs: {a: 1, b: x, c: true}}}}}
    """
    found = read(text).nodes["n"].operations["i.o"]
    assert (found.inputs, found.has_functions) == ({"a": 1, "b": "x", "c": True}, False)


def test_a_witness_agrees_with_who_says_the_same_and_with_nobody_else() -> None:
    files = {MAIN: "one", "b.yaml": "two"}
    witness = RecordingSource(Texts(files, scripts=("run.sh",)))
    assert witness.fetch("https://example.org/x.yaml") is None
    assert (witness.find("b.yaml", MAIN), witness.read(MAIN), witness.bundled("none.yaml")) == ("b.yaml", "one", None)
    assert (witness.exists("run.sh"), witness.uploaded("shop"), witness.plugin("p", "", "", 4)) == (True, None, None)
    assert witness.replacements("a.yaml", 4) == ("a.yaml",)
    assert witness.agrees(Texts(files, scripts=("run.sh",)))
    assert not witness.agrees(Texts(files))
    assert not witness.agrees(Texts({**files, MAIN: "other"}, scripts=("run.sh",)))


def test_a_witness_who_heard_a_refusal_agrees_with_nobody() -> None:
    class Refusing(Texts):
        def read(self, path: str) -> str | None:
            raise problem_error("PL-B001", f"no {path}", "none")

    witness = RecordingSource(Refusing({}))
    with pytest.raises(ProblemsError):
        witness.read(MAIN)
    assert not witness.agrees(Refusing({}))
    heard = RecordingSource(Texts({MAIN: "one"}))
    heard.read(MAIN)
    assert not heard.agrees(Refusing({}))


def test_b31_a_plugin_that_makes_the_built_in_workflows_ambiguous_is_91() -> None:
    text = "plugins: {default_workflows.cloudify: {executor: central_deployment_agent, install: false}}"
    assert {(one.cloudify_code, one.place.path.partition(".")[0]) for one in problems(text)} == {(91, "workflows")}


@pytest.mark.parametrize("merged", ["5", "[{properties: {}}, 5]"])
def test_a_mistake_beside_a_merge_of_what_is_no_mapping_has_its_place(merged: str) -> None:
    found = problems(f"node_templates:\n  n: {{type: cloudify.nodes.Root, <<: {merged}, propertiez: {{}}}}")
    assert [one.code for one in found] == ["PL-B004", "PL-B014"]
    assert found[1].place.column == 34 + len(f"<<: {merged}, ")
