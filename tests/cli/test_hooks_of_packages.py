"""Hook classes that a plugin package brings are called for the deployments it is enabled for, and for no other (H42)."""

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal

METADATA = """\
name: guard
title: Guard
version: 1.0.0
description: Looks on
package_version: 10.0.0
python: {paths: [python]}
is_hotpluggable: true
hooks:
- class: guarding:Guard
  name: guard
  optional: true
  options: {log: 'LOG', url: 'URL'}
"""
CODE = """\
from pathlib import Path
import phaseline

class Guard(phaseline.LifecycleHook):
    def __init__(self, log, url):
        self.log, self.url = log, url

    def say(self, *words):
        with Path(self.log).open("a") as file:
            print(*words, file=file)

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        self.say("pre", stack.name, action)
        if action == "DELETE":
            with phaseline.open(self.url) as store:
                store.hooks.disable("guard", deployment=stack.name)

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        self.say("post", stack.name, action)
"""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {one: {type: cloudify.nodes.Root}}
"""


@pytest.fixture
def guarded(terminal: Terminal) -> Terminal:
    """A terminal with the package, enabled for one of two deployments."""
    folder = terminal.folder
    (folder / "guard/python").mkdir(parents=True)
    url = terminal.environment["PHASELINE_STORE_URL"]
    (folder / "guard/metadata.yaml").write_text(METADATA.replace("LOG", str(folder / "log")).replace("URL", url))
    (folder / "guard/python/guarding.py").write_text(CODE)
    (folder / "blueprint.yaml").write_text(BLUEPRINT)
    ok(terminal, "plugins", "install", str(folder / "guard"))
    for name in ("watched", "other"):
        ok(terminal, "deployments", "create", "blueprint.yaml", "-d", name)
    ok(terminal, "deployments", "plugins", "enable", "watched", "guard")
    return terminal


def ok(terminal: Terminal, *words: str) -> str:
    result = terminal.run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_broken_class_of_a_package_is_found_and_switched_off_as_its_problem_says(guarded: Terminal) -> None:
    log = guarded.folder / "log"
    ok(guarded, "hooks", "disable", "guard", "-d", "watched")
    ok(guarded, "hooks", "enable", "guard", "-d", "watched")
    code = guarded.folder / "guard/python/guarding.py"
    code.write_text(
        "raise OSError('no licence file')\n\nclass Guard:\n    pass\n"
    )  # it names the class, which is all that is looked at
    metadata = guarded.folder / "guard/metadata.yaml"
    metadata.write_text(metadata.read_text().replace("1.0.0", "1.0.1"))
    ok(guarded, "plugins", "update", str(guarded.folder / "guard"))
    refused = guarded.run("executions", "start", "install", "-d", "watched")
    assert refused.exit_code == 1
    assert "PL-H001" in refused.stderr
    assert "phaseline hooks disable guard" in refused.stderr
    assert "guard: OSError: no licence file" in ok(guarded, "hooks", "list")
    assert "OSError: no licence file" in ok(guarded, "hooks", "show", "guard")
    assert "guard==1.0.1" in ok(guarded, "hooks", "show", "guard", "-d", "watched")
    assert guarded.run("hooks", "show", "guard", "-d", "other").exit_code == 1, "it has no such class"
    for where in (["-d", "watched"], []):
        ok(guarded, "hooks", "disable", "guard", *where)
        ok(guarded, "executions", "start", "install" if where else "uninstall", "-d", "watched")
        ok(guarded, "hooks", "enable", "guard", *where)
    assert not log.exists()


def calls(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_h42_it_is_called_where_the_package_is_enabled_and_told_the_end_of_what_it_agreed_to(guarded: Terminal) -> None:
    for name in ("watched", "other"):
        ok(guarded, "executions", "start", "install", "-d", name)
    assert calls(guarded.folder) == ["pre watched CREATE", "post watched CREATE"]
    (shown,) = guarded.ask("hooks", "list", "-d", "watched")[1]["hooks"]
    assert (shown["name"], shown["group"], shown["distribution"]) == ("guard", "package", "guard==1.0.0")
    assert guarded.ask("hooks", "list", "-d", "other")[1]["hooks"] == []
    for name in ("watched", "other"):
        ok(guarded, "uninstall", "-d", name)
    assert calls(guarded.folder)[2:] == ["pre watched DELETE", "post watched DELETE"], "switched off meanwhile"
    ok(guarded, "executions", "start", "install", "-d", "watched")
    assert len(calls(guarded.folder)) == 4, "switched off"
