"""``blueprints explain``, ``diff`` and ``schema``."""

from tests.cli.terminal import BLUEPRINT, Terminal


def test_the_schema_of_each_version_is_printed(terminal: Terminal) -> None:
    code, found = terminal.ask("blueprints", "schema")
    assert (code, found["title"]) == (0, "a blueprint in cloudify_dsl_1_5")
    code, found = terminal.ask("blueprints", "schema", "--version", "cloudify_dsl_1_0")
    assert (code, found["title"]) == (0, "a blueprint in cloudify_dsl_1_0")
    assert "data_types" not in found["properties"]
    code, found = terminal.ask("blueprints", "schema", "--version", "1_4")
    assert (code, found["problems"][0]["code"]) == (1, "PL-B011")


def test_a_node_is_explained_as_text_and_as_json(terminal: Terminal) -> None:
    terminal.write()
    text = terminal.run("blueprints", "explain", "blueprint.yaml", "top", "--only", "properties.word").stdout
    assert '  properties.word = {"get_input": "word"}\n      node type Thing  blueprint.yaml:12:34' in text
    code, found = terminal.ask("blueprints", "explain", "blueprint.yaml", "top")
    assert (code, found["type"], [each["name"] for each in found["types"]]) == (
        0,
        "Thing",
        ["Thing", "cloudify.nodes.Root"],
    )
    assert {"path", "value", "origin", "over"} == found["pieces"][0].keys()


def test_a_node_that_is_not_there_is_refused(terminal: Terminal) -> None:
    terminal.write()
    code, found = terminal.ask("blueprints", "explain", "blueprint.yaml", "bse")
    assert (code, found["problems"][0]["code"], found["problems"][0]["mend"]) == (1, "PL-B126", "did you mean 'base'?")


def test_a_difference_has_an_exit_code_of_its_own(terminal: Terminal) -> None:
    terminal.write()
    terminal.write(BLUEPRINT.replace("default: hello", "default: bye"), "new.yaml")
    result = terminal.run("blueprints", "diff", "blueprint.yaml", "new.yaml")
    assert (result.exit_code, result.stdout) == (3, "~ input inputs.word.default: hello -> bye\n\n1 changed\n")
    result = terminal.run("blueprints", "diff", "blueprint.yaml", "blueprint.yaml")
    assert (result.exit_code, result.stdout) == (0, "There are no differences.\n")
    code, found = terminal.ask("blueprints", "diff", "blueprint.yaml", "new.yaml")
    assert (code, found["changes"][0]["path"], found["renames"]) == (3, "inputs.word.default", [])
    assert terminal.ask("blueprints", "diff", "blueprint.yaml", "none.yaml")[0] == 1
