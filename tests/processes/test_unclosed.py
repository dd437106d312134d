"""No command leaves a file, a socket, a process or a database for Python to close."""

import os
import subprocess
import sys
from pathlib import Path

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins:
  made: {executor: central_deployment_agent, install: false}
node_types:
  Thing:
    derived_from: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: made.made.create
        start: hello.sh
        configure: {implementation: made.made.slow, timeout: 20}
node_templates:
  one: {type: Thing}
"""
PLUGIN = """\
from cloudify import ctx
from phaseline import operation


@operation(repeatable=True)
def create(item):
    item.log.info("made")


def slow(**_):
    ctx.logger.info("in a process of its own")
"""
COMMANDS = (
    "blueprints validate blueprint.yaml",
    "plan install blueprint.yaml",
    "install blueprint.yaml -d one",
    "install blueprint.yaml -d two --detach",
    "executions follow -d two",
    "deployments list",
    "instances list -d one",
    "executions logs -d one",
    "executions events -d one",
    "status",
    "doctor",
    "store check",
    "store backup copy.db",
    "uninstall -d one",
    "engine stop",
)


def test_no_command_leaves_anything_unclosed(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "hello.sh").write_text("#!/bin/sh\nctx logger info hello\n")
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PHASELINE_")},
        "PHASELINE_STORE_URL": f"sqlite:///{tmp_path}/store.db",
        "XDG_CONFIG_HOME": str(tmp_path / ".config"),
        "PYTHONWARNINGS": "always::ResourceWarning",  # inherited by engines in the background and by workers
    }
    told = {}
    for command in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "phaseline", *command.split()],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0 or command == "engine stop", f"{command}\n{done.stdout}{done.stderr}"
        told[command] = done.stderr
    told["log of the engine"] = (tmp_path / "store.db.log").read_text("utf-8")
    assert {command: text for command, text in told.items() if "ResourceWarning" in text} == {}
