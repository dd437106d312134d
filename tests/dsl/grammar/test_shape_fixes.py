"""How a wrong form is mended: what the author probably meant, in words that can be copied."""

import pytest
from tests.dsl.readers import problems


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("inputs: {port: true}", "write '{default: true}' here"),
        ("inputs: {port: [80]}", "write '{default: [80]}' here"),
        ("inputs: {key: 'one two three four five six seven eight nine ten'}", "write '{default: one two three four five six seven eight…}' here"),
        ("groups: {g: web}", "write a mapping, such as '{members: …}'"),
        ("groups: {g: [web]}", "write 'name: value' lines without the leading dashes"),
        ("groups: {g: {members: web}}", "write a list: '[web]'"),
        ("groups: {g: {members: {web: 1}}}", "write each as an item of a list, with a dash before it"),
        ("labels: {owner: {values: me}}", "write a list: '[me]'"),
        ("workflows: {w: 5}", "write a mapping, such as '{mapping: …}'"),
        ("workflows: {w: [a.b.c]}", "write the one value without brackets"),
        ("workflows: {w: [a, b]}", "write 'name: value' lines without the leading dashes"),
        ("description: [one]", "write the one value without brackets"),
        ("description: [one, two]", "write text here"),
        ("description: 5", "put the value into quotes"),
        ("metadata: [one]", "write 'name: value' lines without the leading dashes"),
        ("metadata: one", "write a mapping here"),
        ("node_templates: 5", "write a mapping here"),
        ("node_templates: {a: {type: cloudify.nodes.Root, relationships: {}}}", "put a dash before the first key: '- : …'"),
        ("node_templates: {a: {type: cloudify.nodes.Root, properties: {get_input: x}}}", "a function is the value of a property: 'PROPERTY: {get_input: …}'"),
        ("node_templates: {a: {type: {get_input: x}}}", "write the text itself: functions are not evaluated here"),
        ("capabilities: {a: {valuex: 1}}", "did you mean 'value'?"),
    ],
)  # fmt: skip
def test_a_wrong_form_is_mended(text: str, mend: str) -> None:
    assert problems(text)[0].mend == mend


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("inputs:\n  a: b: c\n", "put a text with ': ' in it into quotes"),
        ("inputs\nnode_templates:\n  a: b\n", "perhaps line 3 lacks a colon: 'inputs:'"),
        ("inputs: {a: [", "close the bracket that is opened above, or write the missing value here"),
        ("inputs: {a: 1\n", "close the bracket that is opened in line 3, column 9"),
        ("inputs: {a: b]\n", "close the bracket that is opened in line 3, column 9"),
        ("inputs:\n\ta: b\n", "indent with spaces, not with tabs"),
        ("inputs: @a\n", "correct the YAML here or just above"),
        ("a: 'b'\n: c: d\n", "correct the YAML here or just above"),
    ],
)
def test_broken_yaml_is_mended_where_that_can_be_told(text: str, mend: str) -> None:
    assert problems(text)[0].mend == mend


def test_a_list_that_another_file_adds_to_keeps_its_places() -> None:
    text = """
    node_templates:
      web:
        type: cloudify.nodes.Root
        relationships: [{target: web}, {type: cloudify.relationships.depends_on, target: wbe}]
    """
    assert [problem.place.column for problem in problems(text)] == [21, 86]


def test_what_is_right_beside_something_wrong_is_kept() -> None:
    text = """
    node_templates:
      web:
        type: cloudify.nodes.Root
        colour: red
        relationships:
        interfaces: {own: {stop: "true\\n", start: "true\\n", wrong: 5}}
    """
    assert [problem.code for problem in problems(text)] == ["PL-B014", "PL-B015"]
