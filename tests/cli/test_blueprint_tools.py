"""``blueprints explain``, ``diff`` and ``schema``."""

from tests.cli.terminal import Terminal


def test_the_schema_of_each_version_is_printed(terminal: Terminal) -> None:
    code, found = terminal.ask("blueprints", "schema")
    assert (code, found["title"]) == (0, "a blueprint in cloudify_dsl_1_5")
    code, found = terminal.ask("blueprints", "schema", "--version", "cloudify_dsl_1_0")
    assert (code, found["title"]) == (0, "a blueprint in cloudify_dsl_1_0")
    assert "data_types" not in found["properties"]
    code, found = terminal.ask("blueprints", "schema", "--version", "1_4")
    assert (code, found["problems"][0]["code"]) == (1, "PL-B011")
