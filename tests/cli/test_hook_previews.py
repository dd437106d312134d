"""What hooks say beforehand, on the command line (H36)."""

import json

import pytest
from tests.cli.terminal import Terminal

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {web: {type: cloudify.nodes.Root}}
"""
SETTINGS = """
[[hooks.classes]]
name = "no"
class = "phaseline.policies.rules:Rule"
options = {{ when = "{when}", message = "not now" }}
"""


@pytest.mark.parametrize(
    ("when", "code", "line", "says"),
    [("false", 0, "    no  agrees", "agrees"), ("true", 1, "    no  would be refused: not now", "refuses")],
)
def test_h36_the_exit_status_says_whether_it_would_be_refused(terminal: Terminal, when, code, line, says) -> None:
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    (terminal.folder / "phaseline.toml").write_text(SETTINGS.format(when=when))
    shown = terminal.run("plan", "install", "blueprint.yaml")
    assert (shown.exit_code, shown.stdout.splitlines()[:2]) == (code, ["hooks:", line])
    told = terminal.run("plan", "install", "blueprint.yaml", "--json")
    assert (told.exit_code, json.loads(told.stdout)["around"]["hooks"][0]["says"]) == (code, says)
    assert not (terminal.folder.parent / "store.db").exists(), "a plan makes no store"
    begun = terminal.run("install", "blueprint.yaml", "-d", "shop")
    assert begun.exit_code == code
