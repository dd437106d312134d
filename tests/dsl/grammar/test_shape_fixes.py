"""How a wrong form is mended: what the author probably meant, in words that can be copied."""

import pytest
from tests.dsl.readers import problems


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("inputs: {port: true}", "Write '{default: true}' here."),
        ("inputs: {port: [80]}", "Write '{default: [80]}' here."),
        ("inputs: {key: 'one two three four five six seven eight nine ten'}", "Write '{default: one two three four five six seven eight…}' here."),
        ("groups: {g: web}", "Write a mapping, such as '{members: …}'."),
        ("groups: {g: [web]}", "Write 'name: value' lines without the leading dashes."),
        ("groups: {g: {members: web}}", "Write a list: '[web]'."),
        ("groups: {g: {members: {web: 1}}}", "Write each as an item of a list, with a dash before it."),
        ("labels: {owner: {values: me}}", "Write a list: '[me]'."),
        ("workflows: {w: 5}", "Write a mapping, such as '{mapping: …}'."),
        ("workflows: {w: [a.b.c]}", "Write the one value without brackets."),
        ("workflows: {w: [a, b]}", "Write 'name: value' lines without the leading dashes."),
        ("description: [one]", "Write the one value without brackets."),
        ("description: [one, two]", "Write text here."),
        ("description: 5", "Put the value into quotes."),
        ("metadata: [one]", "Write 'name: value' lines without the leading dashes."),
        ("metadata: one", "Write a mapping here."),
        ("node_templates: 5", "Write a mapping here."),
        ("node_templates: {a: {type: cloudify.nodes.Root, relationships: {}}}", "Put a dash before the first key: '- : …'."),
        ("node_templates: {a: {type: cloudify.nodes.Root, properties: {get_input: x}}}", "A function is the value of a property: 'PROPERTY: {get_input: …}'."),
        ("node_templates: {a: {type: {get_input: x}}}", "Write the text itself: functions are not evaluated here."),
        ("capabilities: {a: {valuex: 1}}", "Did you mean 'value'?"),
    ],
)  # fmt: skip
def test_a_wrong_form_is_mended(text: str, mend: str) -> None:
    assert problems(text)[0].mend == mend


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("inputs:\n  a: b: c\n", "Put a text with ': ' in it into quotes."),
        ("inputs\nnode_templates:\n  a: b\n", "Perhaps line 3 lacks a colon: 'inputs:'."),
        ("inputs: {a: [", "Close the bracket that is opened above, or write the missing value here."),
        ("inputs: {a: 1\n", "Close the bracket that is opened in line 3, column 9."),
        ("inputs: {a: b]\n", "Close the bracket that is opened in line 3, column 9."),
        ("inputs:\n\ta: b\n", "Indent with spaces, not with tabs."),
        ("inputs: @a\n", "Correct the YAML here or just above."),
        ("a: 'b'\n: c: d\n", "Correct the YAML here or just above."),
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
