"""An instance that is ready, and waits because a bulk call of another deployment runs, names the execution of that call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.shells import Shell

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins: {made: {executor: central_deployment_agent, install: false}}
node_templates:
  first:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: made.made.create}}
"""
PLUGIN = """\
import os
from pathlib import Path

from phaseline import operation


@operation(bulk=True, repeatable=True)
def create(batch):
    here = Path(os.environ["HERE"])
    (here / "begun").write_text("begun\\n")
    (here / "go").read_text()
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    for name in ("begun", "go"):
        os.mkfifo(tmp_path / name)
    started = Shell(tmp_path)
    try:
        yield started
    finally:
        started.end_all()


def test_what_waits_for_a_bulk_call_of_another_deployment_names_its_execution(shell: Shell) -> None:
    shell.run("install", "blueprint.yaml", "-d", "one", "--detach")
    shell.await_first()
    shell.run("install", "blueprint.yaml", "-d", "two", "--detach")
    shell.until(lambda: shell.ask("executions", "show", "install-2")["counts"])
    (waiting,) = shell.ask("instances", "list", "-d", "two")["instances"]
    (reason,) = shell.ask("instances", "why", waiting["id"])["reasons"]
    assert reason["kind"] == "slot"
    assert reason["text"].endswith("create is ready and waits for the running call of install-1 of 'one'")
    assert "phaseline executions follow install-1" in reason["mend"]
    (running,) = shell.ask("instances", "list", "-d", "one")["instances"]
    assert shell.ask("instances", "why", running["id"])["reasons"][0]["kind"] == "running"
    text = shell.run("instances", "why", "-d", "two").stdout
    assert "waits for the running call of install-1 of 'one'" in text
    assert "phaseline executions follow install-1" in text
    assert shell.run("instances", "why", "-d", "one").stdout == "Nothing is stuck.\n"
