"""A bulk call that hangs holds up whoever calls the same function, and nobody else (ADR 0033)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.shells import Shell

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins: {{slow: {{executor: central_deployment_agent, install: false}}, quick: {{executor: central_deployment_agent, install: false}}}}
node_templates:
"""
NODE = """\
  {name}:
    type: cloudify.nodes.Root
    interfaces: {{cloudify.interfaces.lifecycle: {{create: {create}.{create}.create}}}}
"""
SLOW = """\
import os
from pathlib import Path

from phaseline import operation


@operation(bulk=True, repeatable=True)
def create(batch):
    here = Path(os.environ["HERE"])
    (here / "begun").write_text("begun\\n")
    (here / "go").read_text()
"""
QUICK = """\
from phaseline import operation


@operation(bulk=True, repeatable=True)
def create(batch): ...
"""


def blueprint(**nodes: str) -> str:
    """{node: plugin that creates it}."""
    return BLUEPRINT.format() + "".join(NODE.format(name=name, create=plugin) for name, plugin in nodes.items())


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "plugins").mkdir()
    for name, text in {"slow": SLOW, "quick": QUICK}.items():
        (tmp_path / "plugins" / f"{name}.py").write_text(text)
    (tmp_path / "both.yaml").write_text(blueprint(first="slow", second="quick"))
    (tmp_path / "quick.yaml").write_text(blueprint(only="quick"))
    (tmp_path / "slow.yaml").write_text(blueprint(only="slow"))
    for name in ("begun", "go"):
        os.mkfifo(tmp_path / name)
    started = Shell(tmp_path)
    try:
        yield started
    finally:
        started.end_all()


def test_a_call_that_hangs_holds_up_its_own_function_alone(shell: Shell) -> None:
    shell.run("install", "both.yaml", "-d", "one", "--detach")
    shell.await_first()
    shell.until(lambda: shell.ask("instances", "list", "-d", "one", "--state", "started")["instances"])
    done = shell.run("install", "quick.yaml", "-d", "two")
    assert done.returncode == 0, "the same operation of another plugin, while the first call hangs"
    shell.run("install", "slow.yaml", "-d", "three", "--detach")
    shell.run("install", "quick.yaml", "-d", "four", "--detach")
    shell.until(lambda: shell.ask("executions", "show", "install-4")["status"] == "completed")
    (waiting,) = shell.ask("instances", "list", "-d", "three")["instances"]
    (reason,) = shell.ask("instances", "why", waiting["id"])["reasons"]
    assert reason["text"].endswith("create is ready and waits for the running call of install-1 of 'one'")
    assert "phaseline executions follow install-1" in reason["mend"]
    (there,) = shell.ask("instances", "list", "-d", "two")["instances"]
    assert there["state"] == "started"
