"""``phaseline hooks …``: what is registered, switched off and on, read anew and tried by hand; and what it does to an install."""

import json

import pytest
from tests.cli.terminal import Terminal

HOUSE = """
from phaseline import LifecycleHook

class Quota(LifecycleHook):
    actions = {"CREATE"}
    def __init__(self, most=2):
        self.most = most
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        cnxt.warn(f"{len(stack.resources)} of {self.most}")
        if len(stack.resources) > self.most:
            raise ValueError(f"more than {self.most} instances")

class Audit(LifecycleHook):
    optional = True
    def get_ordinal(self):
        return 7

class Broken(LifecycleHook):
    def __init__(self):
        raise OSError("no licence file")
"""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  n: {type: cloudify.nodes.Root, capabilities: {scalable: {properties: {default_instances: 3}}}}
"""


@pytest.fixture
def house(terminal: Terminal) -> Terminal:
    """A terminal whose settings name two classes of a module in a folder of plugins."""
    folder = terminal.folder / "code"
    folder.mkdir()
    (folder / "house.py").write_text(HOUSE)
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(folder)
    name(terminal, {"class": "house:Quota", "name": "quota"}, {"class": "house:Audit", "name": "audit"})
    return terminal


def name(terminal: Terminal, *classes: dict[str, object]) -> None:
    """Have the settings name these classes."""
    terminal.environment["PHASELINE_HOOKS_CLASSES"] = json.dumps(classes)


def test_where_there_are_none_it_says_where_they_are_looked_for(terminal: Terminal) -> None:
    result = terminal.run("hooks", "list")
    assert result.exit_code == 0
    assert "phaseline.hooks" in result.stdout


def test_they_are_listed_in_order_with_their_state(house: Terminal) -> None:
    lines = house.run("hooks", "list").stdout.splitlines()
    assert [line.split()[:4] for line in lines[1:]] == [
        ["audit", "ready", "7", "house:Audit"],
        ["quota", "ready", "100", "house:Quota"],
    ]
    code, found = house.ask("hooks", "show", "quota")
    assert code == 0
    assert (found[0]["actions"], found[0]["critical"], found[0]["timeout_s"]) == (["CREATE"], True, 60)


def test_h10_what_a_class_refuses_is_not_begun(house: Terminal) -> None:
    result = house.run("install", "blueprint.yaml", "-d", "three")
    assert result.exit_code == 1
    assert "pre hook quota: more than 2 instances" in result.stdout + result.stderr
    assert house.ask("deployments", "show", "three")[1]["states"] == {"uninitialized": 3}
    lines = house.ask("executions", "logs", "-d", "three")[1]["lines"]
    assert [(line["level"], line["text"]) for line in lines] == [
        ("warning", "3 of 2"),
        ("error", "ValueError: more than 2 instances"),
    ]
    lines = house.ask("executions", "logs", "-d", "three", "--level", "debug")[1]["lines"]
    closely = [line["text"] for line in lines if line["level"] == "debug"]
    frames = [text for text in closely if text.startswith("  File")]
    assert [text for text in closely if text.startswith("hook class=")]
    assert len(frames) == 1, frames
    assert "code/house.py" in frames[0], "from its own file on"


def test_h51_only_an_optional_class_is_switched_off_for_one_deployment(house: Terminal) -> None:
    name(
        house,
        {"class": "house:Quota", "name": "quota", "options": {"most": 3}},
        {"class": "house:Audit", "name": "audit"},
    )
    assert house.run("install", "blueprint.yaml", "-d", "three").exit_code == 0
    refused = house.run("hooks", "disable", "quota", "-d", "three")
    assert refused.exit_code == 1
    assert "PL-H003" in refused.stderr
    assert house.run("hooks", "disable", "audit", "-d", "three", "--reason", "too loud").exit_code == 0
    again = house.run("hooks", "disable", "audit", "-d", "three", "--reason", "ordered by bob").stdout
    assert "was disabled for 'three' before, by" in again
    assert "too loud. The reason is now: ordered by bob" in again
    assert "ordered by bob" in house.run("hooks", "show", "audit", "-d", "three").stdout
    assert "The reason is" not in house.run("hooks", "disable", "audit", "-d", "three").stdout
    states = {
        one["name"]: (one["state"], one["deployments"]) for one in house.ask("hooks", "list", "-d", "three")[1]["hooks"]
    }
    assert states == {"audit": ("off", ["three"]), "quota": ("ready", [])}
    assert {one["state"] for one in house.ask("hooks", "list")[1]["hooks"]} == {"ready"}
    assert house.run("hooks", "enable", "audit", "-d", "three").exit_code == 0
    assert "was enabled" in house.run("hooks", "enable", "audit", "-d", "three").stdout


def test_h7_a_broken_class_is_seen_and_nothing_is_done_without_it_unless_somebody_says_so(house: Terminal) -> None:
    name(house, {"class": "house:Broken", "name": "broken"}, {"class": "house:Audit", "name": "audit"})
    listed = house.run("hooks", "list").stdout
    assert "broken: OSError: no licence file" in listed
    refused = house.run("install", "blueprint.yaml", "-d", "one")
    assert refused.exit_code == 1
    assert "PL-H001" in refused.stderr
    assert "phaseline hooks disable broken" in refused.stderr
    assert "No deployments" in house.run("deployments", "list").stdout
    house.environment["PHASELINE_HOOKS_ON_BROKEN"] = "ignore"
    assert house.run("install", "blueprint.yaml", "-d", "one").exit_code == 0
    del house.environment["PHASELINE_HOOKS_ON_BROKEN"]
    assert house.run("hooks", "disable", "broken").exit_code == 0
    assert house.run("uninstall", "-d", "one").exit_code == 0


def test_a_class_is_tried_by_hand_before_anybody_names_it(house: Terminal) -> None:
    house.run("deployments", "create", "blueprint.yaml", "-d", "three")
    house.environment["PHASELINE_HOOKS_CLASSES"] = ""
    refused = house.run("hooks", "test", "house:Quota", "-d", "three")
    assert refused.exit_code == 1
    assert "do_pre_op for CREATE of 'three' refused" in refused.stdout
    assert "warned   3 of 2" in refused.stdout
    agreed = house.run("hooks", "test", "house:Audit", "-d", "three", "--method", "post", "--workflow", "uninstall")
    assert agreed.exit_code == 0
    assert "do_post_op for DELETE of 'three' agreed" in agreed.stdout
    assert "PL-H004" in house.run("hooks", "test", "house:Audit", "-d", "three", "--method", "preview").stderr


def test_a_name_that_is_not_there_gets_a_hint(house: Terminal) -> None:
    result = house.run("hooks", "show", "qouta")
    assert result.exit_code == 1
    assert "did you mean 'quota'?" in result.stderr


def test_they_are_read_anew(house: Terminal) -> None:
    (house.folder / "code" / "house.py").write_text(HOUSE.replace("return 7", "return 700"))
    result = house.run("hooks", "reload")
    assert result.exit_code == 0
    assert "2 hook classes, of which 0 cannot be used; no engine runs." in result.stdout
    assert [one["name"] for one in house.ask("hooks", "list")[1]["hooks"]] == ["quota", "audit"]


def test_18_hooks_are_no_steps_and_the_time_spent_in_them_is_shown(house: Terminal) -> None:
    code = "import time\n\n\nclass Slow:\n    def do_pre_op(self, *told):\n"
    code += "        until = time.monotonic() + 0.03\n        while time.monotonic() < until:\n            pass\n"
    (house.folder / "code" / "slow.py").write_text(code)
    name(house, {"class": "slow:Slow", "name": "slow"}, {"class": "house:Audit", "name": "audit"})
    lines = house.run("install", "blueprint.yaml", "-d", "three").stdout.splitlines()
    assert [line for line in lines if line.startswith("  ")] == ["  steps: 3 passed", "  hooks: 3 completed"]
    _, shown = house.ask("executions", "show", "install-1")
    assert (shown["counts"], shown["hook_counts"]) == ({"passed": 3}, {"completed": 3})
    assert shown["hook_ms"] >= 29
    assert "  hooks: 3 completed in " in house.run("executions", "show", "install-1").stdout
