"""Rare ways of writing and of going wrong: each has its answer, and each answer its place."""

import pytest
from tests.dsl.readers import MAIN, Texts, codes, problems, read, whole

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope, StaticScope
from phaseline.dsl.grammar.shape_check import ShapeCheck
from phaseline.dsl.grammar.tables import BLUEPRINT
from phaseline.dsl.imports.builtin_types import bundled_name
from phaseline.dsl.imports.importer import MAX_FILES, read_files
from phaseline.dsl.reader import read_blueprint
from phaseline.dsl.text.document import Document, read_document
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import closest, quoted_list
from phaseline.model.problems.problem import Problem, ProblemsError

SETS = ["types.yaml", "types_1_3.yaml", "types_1_4.yaml", "types_3_2.yaml", "types_3_3.yaml", "types_3_4.yaml"]
MINORS = {
    "types.yaml": 5,
    "types_1_4.yaml": 4,
    "types_1_3.yaml": 3,
    "types_3_4.yaml": 3,
    "types_3_3.yaml": 2,
    "types_3_2.yaml": 1,
}


def node_types_of(name: str) -> set[str]:
    """The node types of a built-in set."""
    roots = [document.root for document in documents_of(name)]
    sections = [root.get("node_types") for root in roots if isinstance(root, dict)]
    return {kind for section in sections if isinstance(section, dict) for kind in section}


def documents_of(name: str) -> list[Document]:
    text = f"tosca_definitions_version: cloudify_dsl_1_5\nimports: [cloudify/types/{name}]\n"
    return read_files(MAIN, Texts({MAIN: text}), ProblemReport()).documents[1:]


@pytest.mark.parametrize("name", SETS)
def test_built_in_types_keep_to_the_grammar_of_their_version(name: str) -> None:
    report = ProblemReport()
    for document in documents_of(name):
        check = ShapeCheck(report, MINORS[name])
        check.check(BLUEPRINT, document.root, ElementPath(document, ()))
    # from the first set on, some properties may be missing, which the language could say only from 1_2 on
    assert [found for found in report.problems() if "'required'" not in found.message or MINORS[name] >= 2] == []


@pytest.mark.parametrize("name", SETS)
def test_every_built_in_type_can_be_resolved_and_its_defaults_fit(name: str) -> None:
    kinds = node_types_of(name)
    nodes = "\n".join(f"  n{number}: {{type: {kind}}}" for number, kind in enumerate(sorted(kinds)))
    found = problems(
        f"tosca_definitions_version: cloudify_dsl_1_5\nimports: [cloudify/types/{name}]\nnode_templates:\n{nodes}\n"
    )
    codes = {problem.code for problem in found if "FileSystem" not in problem.place.text}  # which needs a host (B34)
    assert codes <= {"PL-B036"}, found


def test_section_7_types_are_there() -> None:
    names = [
        "Root",
        "Compute",
        "Container",
        "Tier",
        "Volume",
        "ObjectStorage",
        "Network",
        "Subnet",
        "Port",
        "Router",
        "LoadBalancer",
        "VirtualIP",
        "SecurityGroup",
        "SoftwareComponent",
        "Database",
        "ApplicationModule",
        "FileSystem",
        "DBMS",
        "ApplicationServer",
        "MessageBusServer",
        "WebServer",
        "CloudifyManager",
        "Component",
        "ServiceComponent",
        "SharedResource",
        "Blueprint",
        "PasswordSecret",
    ]
    kinds = node_types_of("types.yaml")
    assert kinds == {f"cloudify.nodes.{name}" for name in names}


def test_section_7_6_workflows_have_their_parameters() -> None:
    found = read("", minor=5).workflows
    assert set(found["uninstall"].parameters) == {
        "ignore_failure",
        "type_names",
        "node_ids",
        "node_instance_ids",
        "recursive",
    }
    assert found["heal"].parameters["diagnose_value"].default == "Not provided"
    assert found["scale"].parameters["scalable_entity_name"].required
    assert found["install"].mapping == "cloudify.plugins.workflows.install"
    assert set(found) == {
        "install",
        "uninstall",
        "reinstall",
        "start",
        "stop",
        "restart",
        "execute_operation",
        "heal",
        "scale",
        "install_new_agents",
        "validate_agents",
        "check_status",
        "check_drift",
        "rollback",
        "pull",
    }


def test_a_release_that_is_no_number_is_taken_for_a_new_one() -> None:
    assert bundled_name("https://cloudify.co/spec/cloudify/latest/types.yaml", 5) == "types.yaml"


@pytest.mark.parametrize("text", ["{a: &x 1, b: &x 2}", "{a: &x [1], b: &x {}}", "{a: &x [&x 1]}"])
def test_an_anchor_given_twice_is_told(text: str) -> None:
    (found,) = problems(f"metadata: {text}\n")
    assert (found.code, found.message) == ("PL-B004", "not valid YAML: the anchor '&x' is given twice")


def test_a_value_that_is_an_alias_is_told_where_it_is_used() -> None:
    (found,) = problems("metadata: {kind: &kind nothing}\nnode_templates:\n  web:\n    type: *kind\n")
    assert (found.code, found.place.line, found.place.column) == ("PL-B030", 6, 5)


def test_problems_beside_a_key_that_is_no_text_have_their_places() -> None:
    found = problems("node_templates:\n  ? [a]\n  : {}\n  web: {type: nothing}\n")
    assert [(problem.code, problem.place.line) for problem in found] == [("PL-B006", 4), ("PL-B030", 6)]


def test_the_node_of_a_function_may_be_a_function() -> None:
    text = "inputs: {n: {default: web}}\nnode_templates: {web: {type: cloudify.nodes.WebServer}}\noutputs: {o: {value: {get_property: [{get_input: n}, port]}}}"
    assert codes(text) == []


def test_a_plugin_with_a_null_executor_lacks_it() -> None:
    assert codes("plugins: {p: {executor: ~, install: false}}") == ["PL-B016"]


def test_too_many_files_are_told_once() -> None:
    files = {f"f{number}.yaml": f"imports: [f{number + 1}.yaml]" for number in range(MAX_FILES + 5)}
    source = Texts({MAIN: whole("imports: [f0.yaml]"), **files})
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(MAIN, source)
    assert [problem.code for problem in caught.value.problems] == ["PL-B026"]


def test_an_imported_file_that_is_a_list_is_told_at_its_own_place() -> None:
    (found,) = problems("imports: [a.yaml]", others={"a.yaml": "- 1\n"})
    assert (found.code, found.place.file) == ("PL-B015", "a.yaml")


def test_a_built_in_set_that_does_not_exist_is_not_found() -> None:
    assert codes("imports: [cloudify/types/types_1_9.yaml]") == ["PL-B020"]


def test_built_in_types_named_twice_in_two_spellings_are_read_once() -> None:
    text = "imports: [cloudify/types/types.yaml, 'https://cloudify.co/spec/cloudify/6.3.0/types.yaml']\nnode_templates: {web: {type: cloudify.nodes.Root}}"
    assert codes(text) == []


class Vanishing(Texts):
    """A source whose files go away between finding and reading."""

    def read(self, path: str) -> str | None:
        return None if path == "gone.yaml" else super().read(path)


def test_a_file_that_goes_away_is_not_found() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(MAIN, Vanishing({MAIN: whole("imports: [gone.yaml]"), "gone.yaml": ""}))
    assert [problem.code for problem in caught.value.problems] == ["PL-B020"]


class Refusing(Texts):
    """A source that refuses the main file."""

    def read(self, path: str) -> str | None:
        raise ProblemsError([Problem("PL-B003", "Too large.", "Split it.")])


def test_what_the_source_says_about_the_main_file_is_passed_on() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(MAIN, Refusing({}))
    assert [problem.code for problem in caught.value.problems] == ["PL-B003"]


def test_an_empty_imported_file_adds_nothing() -> None:
    assert codes("imports: [a.yaml]", others={"a.yaml": ""}) == []


def test_a_template_of_only_relationships_needs_another_file_with_its_type() -> None:
    (found,) = problems("node_templates: {web: {relationships: []}}")
    assert (found.code, found.message) == ("PL-B016", "'type' is missing in a node template")


@pytest.mark.parametrize(
    ("text", "value"), [("1:30.5", 90.5), ("! 80", "80"), (".5", 0.5), ("+3", 3), ("-0x10", -16), ("0o7", "0o7")]
)
def test_rare_scalars(text: str, value: object) -> None:
    assert read(f"metadata: {{key: {text}}}").metadata["key"] == value


@pytest.mark.parametrize(
    "text", ["!!int a", "!!float a", "!!bool maybe", "!!float 1e999", "9" * 5000, "!!set {a}", "!!omap []"]
)
def test_scalars_and_tags_without_meaning_are_told(text: str) -> None:
    assert codes(f"metadata:\n  key: {text}\n") == ["PL-B008"]


@pytest.mark.parametrize("text", ["a: &a {<<: 5}", "a: {<<: [1]}", "a: *nothing", "? [a]\n  : 1", "a: &a [*a]"])
def test_merges_aliases_and_keys_without_meaning_are_told(text: str) -> None:
    assert codes(f"metadata:\n  {text}\n")[0] in {"PL-B004", "PL-B006"}


def test_a_second_document_is_told() -> None:
    (found,) = problems("metadata: {}\n---\nmetadata: {}\n")
    assert (found.code, found.place.line) == ("PL-B004", 4)


def test_characters_that_yaml_forbids_are_told_with_their_place() -> None:
    (found,) = problems("metadata:\n  a: b\x07c\n")
    assert (found.code, found.place.line, found.place.column) == ("PL-B004", 4, 7)


def test_the_place_in_a_merged_mapping_is_that_of_the_merge() -> None:
    text = """
    dsl_definitions:
      first: &first {prot: 1}
      loop: &second {<<: *first, 'q': 2}
    node_templates:
      web:
        type: cloudify.nodes.WebServer
        properties:
          <<: [*second]
    """
    assert [(found.code, found.place.line) for found in problems(text)] == [("PL-B035", 4), ("PL-B035", 5)]


def test_an_empty_value_is_told_at_its_key() -> None:
    (found,) = problems(
        "node_templates:\n  web:\n    type: cloudify.nodes.Root\noutputs:\n  url:\n    value: {get_input: }\n"
    )
    assert (found.code, found.place.line) == ("PL-B070", 8)


def test_too_many_instances_of_one_node_are_refused() -> None:
    assert codes("node_templates: {n: {type: cloudify.nodes.Root, instances: {deploy: 99999999999}}}") == ["PL-B050"]


def test_least_and_most_must_fit_where_the_default_is_not_known_yet() -> None:
    text = "inputs: {n: {default: 1}}\nnode_templates: {n: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: {get_input: n}, min_instances: 5, max_instances: 3}}}}}"
    assert codes(text) == ["PL-B050"]


def test_empty_sections_are_empty() -> None:
    assert read("inputs:\nnode_templates:\noutputs:\nplugins:\n").nodes == {}


def test_a_null_relationship_list_is_empty() -> None:
    assert (
        read("node_templates: {n: {type: cloudify.nodes.Root, relationships: ~, interfaces: ~, properties: ~}}")
        .nodes["n"]
        .relationships
        == ()
    )


def test_a_null_input_of_a_type_is_let_through_where_it_is_not_required() -> None:
    blueprint = read("inputs: {n: {type: integer, required: false}}")
    assert complete_inputs(blueprint, {"n": None}) == {"n": None}
    assert complete_inputs(blueprint, {"n": 5}, auto_correct=True) == {"n": 5}


def test_functions_met_at_run_time_that_cannot_be_evaluated() -> None:
    static = StaticScope({"a": 1}, {"n": {"x": {"get_input": "a"}}})
    for value, code in (
        ({"get_property": ["n", "y"]}, "PL-B074"),
        ({"concat": {"get_input": "a"}}, "PL-B074"),
    ):
        with pytest.raises(ProblemsError, match=code):
            evaluate(value, static)  # type: ignore[arg-type]  # plain mappings


def test_a_running_scope_knows_inputs_and_refuses_unknown_nodes() -> None:
    class Nobody:
        def instances_of(self, node: str) -> list[int]:
            return []

        def node_of(self, instance: int) -> str:
            return "n"

        def targets_of(self, instance: int, node: str) -> list[int]:
            return []

        def id_of(self, instance: int) -> str:
            return "n_1"

        def index_of(self, instance: int) -> int:
            return 1

        def runtime_properties(self, instance: int) -> dict[str, object]:
            return {}

    scope = RuntimeScope({"a": 1}, {"n": {"x": {"get_property": ["SELF", "y"]}, "y": 2}}, Nobody())  # type: ignore[arg-type]  # enough of it
    assert evaluate({"get_input": "a"}, scope) == 1
    assert evaluate({"get_property": ["n", "x"]}, scope) == 2
    for value in ({"get_property": ["x", "y"]}, {"get_attribute": ["x", "y"]}, {"get_property": ["SELF", "y"]}):
        with pytest.raises(ProblemsError, match=r"PL-B07[23]"):
            evaluate(value, scope)  # type: ignore[arg-type]  # plain mappings


def test_suggestions_look_at_letters_not_at_their_case() -> None:
    assert closest("WEB", ["db", "web"]) == "web"
    assert closest("webserver", ["cloudify.nodes.WebServer"]) == "cloudify.nodes.WebServer"
    assert closest("xyz", ["web"]) is None
    assert quoted_list([str(number) for number in range(12)]).endswith("and 4 more")


def test_one_mistake_at_one_place_is_told_once() -> None:
    report = ProblemReport()
    document = read_document("x.yaml", "a: 1\n", report)
    assert document is not None
    for _ in range(2):
        report.add("PL-B014", "Same.", "Mend.", ElementPath(document, ("a",)))
    assert len(report.problems()) == 1


def test_real_files_and_real_types_are_read_by_the_same_source() -> None:
    assert BlueprintFiles("x.yaml").bundled("parts/root.yaml") is not None
