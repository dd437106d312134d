"""A deployment whose folder was moved or removed: told before anything is called, with the folder and what mends it."""

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal

SCRIPTS = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  door:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {stop: close.sh}}
"""


@pytest.mark.parametrize(
    "command", ["uninstall -d shop", "plan uninstall -d shop", "executions start uninstall -d shop"]
)
def test_a_workflow_that_needs_the_folder_is_refused_before_anything_is_called(
    terminal: Terminal, command: str
) -> None:
    terminal.run("install", terminal.write(), "-d", "shop")
    calls = terminal.calls()
    terminal.folder.rename(terminal.folder.with_name("moved"))
    code, found = terminal.ask(*command.split())
    (problem,) = found["problems"]
    assert (code, problem["code"]) == (1, "PL-C024")
    assert str(terminal.folder) in problem["message"]
    assert f"ln -s NEW_FOLDER {terminal.folder}" in problem["mend"]
    assert terminal.ask("executions", "list")[1]["total"] == 1
    terminal.folder.symlink_to(terminal.folder.with_name("moved"))
    assert terminal.run(*command.split()).exit_code == 0
    assert len(terminal.calls()) >= len(calls)


def test_a_retry_is_refused_as_well(terminal: Terminal) -> None:
    file = terminal.write()
    terminal.trouble("top")
    terminal.run("install", file, "-d", "shop")
    terminal.folder.rename(terminal.folder.with_name("moved"))
    assert terminal.ask("executions", "retry", "-d", "shop")[1]["problems"][0]["code"] == "PL-C024"


def test_scripts_need_their_folder_too(terminal: Terminal) -> None:
    file = terminal.write(SCRIPTS)
    (terminal.folder / "close.sh").write_text("#!/bin/sh\n")
    terminal.run("install", file, "-d", "shop")
    terminal.folder.rename(terminal.folder.with_name("moved"))
    assert terminal.ask("uninstall", "-d", "shop")[1]["problems"][0]["code"] == "PL-C024"


def test_the_folder_of_plugins_is_named_if_it_is_that_one(terminal: Terminal) -> None:
    file = terminal.write()
    elsewhere = terminal.folder.with_name("elsewhere")
    (terminal.folder / "plugins").rename(elsewhere)
    terminal.run("install", file, "-d", "shop", "--plugins", str(elsewhere))
    elsewhere.rename(elsewhere.with_name("moved"))
    (problem,) = terminal.ask("uninstall", "-d", "shop")[1]["problems"]
    assert (problem["code"], str(elsewhere) in problem["message"]) == ("PL-C024", True)


def test_what_needs_nothing_of_the_folder_goes_on_without_it(terminal: Terminal) -> None:
    file = terminal.write(SCRIPTS.replace("{stop: close.sh}", "{}"))
    terminal.run("install", file, "-d", "shop")
    terminal.folder.rename(terminal.folder.with_name("moved"))
    assert terminal.run("uninstall", "-d", "shop").exit_code == 0


def test_the_folder_is_shown(terminal: Terminal) -> None:
    terminal.run("deployments", "create", terminal.write(BLUEPRINT), "-d", "shop")
    assert terminal.ask("deployments", "show", "shop")[1]["folder"] == str(terminal.folder)
    assert f"folder      {terminal.folder}\n" in terminal.run("deployments", "show", "shop").stdout
    terminal.folder.rename(terminal.folder.with_name("moved"))
    assert terminal.ask("deployments", "show", "shop")[1]["folder_is_there"] is False
    assert f"{terminal.folder} (removed)" in terminal.run("deployments", "show", "shop").stdout
