"""Corners of the language that the tests of the rules do not come by."""

import pytest
from tests.dsl.readers import MAIN, Texts, codes, numbers, problems, read, whole

from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.documents.merged_plan import plan_document
from phaseline.dsl.imports.namespaces import Namespacing
from phaseline.dsl.reader import read_whole
from phaseline.dsl.text.json_reader import NotPlainJson, read_json
from phaseline.lang.regex import MAX_PATTERN, PatternError, compiled
from phaseline.model.problems.problem import ProblemsError


def test_b14_an_argument_that_is_known_at_run_time_only_cannot_be_tried() -> None:
    blueprint = read("inputs: {i: {constraints: [{length: {get_secret: s}}]}}")
    with pytest.raises(ProblemsError, match="its argument is not known yet"):
        complete_inputs(blueprint, {"i": "a"})


def test_b14_a_value_of_a_plain_type_is_not_looked_up() -> None:
    class Nothing:
        deployment = None

        def has(self, *_: object) -> bool:
            raise AssertionError

    blueprint = read("inputs: {i: {type: list, item_type: string, constraints: [{length: 1}]}, j: {type: secret_key}}")
    with pytest.raises(AssertionError):
        complete_inputs(blueprint, {"i": ["a"], "j": "b"}, lookup=Nothing())
    plain = read("inputs: {i: {type: list, item_type: string, constraints: [{length: 1}]}}")
    assert complete_inputs(plain, {"i": ["a"]}, lookup=Nothing()) == {"i": ["a"]}


def test_b13_a_function_is_let_through_for_an_input_without_constraints() -> None:
    assert complete_inputs(read("inputs: {i: {type: integer}}"), {"i": {"get_secret": "s"}}) == {
        "i": {"get_secret": "s"}
    }


def test_b13_items_of_object_types_came_with_theirs() -> None:
    assert numbers("inputs: {i: {type: list, item_type: operation_name}}", minor=4) == [102]
    assert numbers("inputs: {i: {type: list, item_type: operation_name}}", minor=5) == []


def test_b14_patterns_that_cannot_be_used() -> None:
    for pattern in ("a" * (MAX_PATTERN + 1), "(?=a", "^(?=(", "a(?=b)"):
        with pytest.raises(PatternError):
            compiled(pattern)


def test_json_without_a_comma_is_left_to_the_yaml_reader() -> None:
    with pytest.raises(NotPlainJson):
        read_json('{"a": 1 "b": 2}', 100)


def test_b08_what_is_empty_or_no_name_of_the_file_stays() -> None:
    named = Namespacing("ns", {"node_types": ["thing"]}, {})
    assert named.section("inputs", {"a": None}) == {"ns--a": None}
    template = {"type": "thing", "interfaces": {"i": {"o": "", "p": "https://h/a.sh", "q": "echo 1\necho 2"}}}
    assert named.section("node_templates", {"n": dict(template)}) == {"ns--n": template}


def test_b08_a_mapping_of_an_unknown_namespace_is_no_script() -> None:
    text = "node_templates: {n: {type: cloudify.nodes.Root, interfaces: {i: {o: other--a.sh}}}}"
    found = problems(f"imports: [cloudify/types/types.yaml, ns--a.yaml]\n{text}", others={"a.yaml": "inputs: {}"})
    assert [problem.code for problem in found] == ["PL-B067"]


def test_b22_a_property_without_type_takes_any_value() -> None:
    plugin = "plugins: {p: {executor: host_agent, install: false, properties: {a: {}}}}"
    found = read("imports: [p.yaml: {a: [1]}]", minor=5, others={"p.yaml": plugin})
    assert found.plugins["p"].properties["a"] == {"value": [1]}


def test_b12_a_function_stands_for_a_whole_data_type() -> None:
    text = """
    inputs: {i: {default: {}}}
    data_types: {d: {properties: {a: {}}}}
    node_types: {t: {properties: {p: {type: d}}}}
    node_templates: {n: {type: t, properties: {p: {get_input: i}}}}
    """
    assert read(text).nodes["n"].properties["p"] == {"get_input": "i"}


def test_a_mistake_beside_an_alias_of_something_outside_has_its_place() -> None:
    text = """
    dsl_definitions: {same: &same {type: cloudify.nodes.Root}}
    node_templates:
      a:
        <<: *same
        propertiez: {}
      b: *same
    """
    (found,) = problems(text)
    assert (found.code, found.place.line, found.place.column) == ("PL-B014", 7, 5)


@pytest.mark.parametrize(
    "sections",
    [
        "dsl_definitions: &all {a: {type: cloudify.nodes.Root, propertiez: {}}}\nnode_templates: *all",
        "dsl_definitions: &all {node_templates: {a: {type: cloudify.nodes.Root, propertiez: {}}}}\n<<: *all",
    ],
)
def test_a_whole_section_may_be_an_alias(sections: str) -> None:
    (found,) = problems(
        f"tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\n{sections}"
    )
    assert (found.code, found.place.line) == ("PL-B014", 3)


def test_a_whole_section_that_is_an_alias_is_read() -> None:
    text = "dsl_definitions: &all {a: {type: cloudify.nodes.Root}}\nnode_templates: *all"
    assert list(read(text).nodes) == ["a"]


def test_b50_a_node_of_an_open_type_says_so() -> None:
    text = whole("imports: [cloudify/types/types.yaml, 'plugin:x']\nnode_templates: {n: {type: x.Thing}}")
    document = plan_document(*read_whole(MAIN, Texts({MAIN: text}), open_types=True))
    assert [node["is_open"] for node in document["nodes"]] == [True]
    assert codes("node_templates: {n: {type: x.Thing}}") == ["PL-B030"]
