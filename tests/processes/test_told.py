"""What is told of functions that print, fail and end the engine's process; by real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

PLUGIN = """\
import os
from pathlib import Path
def create(ctx, **_):
    print("hi", ctx.instance.id)
    if ctx.node.name == "b" and ctx.operation.retry_number == 0:
        {}["missing"]
def die(ctx, **_):
    os._exit(3)
def link(ctx, **_): pass
"""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins:
  plug: {executor: central_deployment_agent, install: false}
node_templates:
  a: {type: cloudify.nodes.Root, interfaces: {cloudify.interfaces.lifecycle: {create: plug.plug.create, start: plug.plug.die}}}
  b:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: plug.plug.create}}
    relationships:
      - type: cloudify.relationships.connected_to
        target: a
        source_interfaces: {cloudify.interfaces.relationship_lifecycle: {establish: plug.plug.link}}
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
        "PHASELINE_RUN_TASK_RETRY_INTERVAL": "0.01",
        "PHASELINE_PLUGINS_PATH": "",
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    command = [sys.executable, "-m", "phaseline", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def told(folder: Path, what: str) -> list[str]:
    return [line.split(" ", 2)[2] for line in run(folder, "executions", what, "install-1").stdout.splitlines()]


def test_w12_the_whole_story_is_told_and_survives_the_deployment(tmp_path: Path) -> None:
    (tmp_path / "plug.py").write_text(PLUGIN)
    (tmp_path / "b.yaml").write_text(BLUEPRINT)
    died = run(tmp_path, "install", "b.yaml", "-d", "x", "--plugins", ".", "--json")
    assert (died.returncode, died.stdout) == (3, "")
    assert "the engine ended while 1 step ran" in run(tmp_path, "executions", "show").stdout
    assert "start unsure: the engine ended while it ran" in run(tmp_path, "executions", "resume", "install-1").stderr
    instances = json.loads(run(tmp_path, "instances", "list", "-d", "x", "--json").stdout)["instances"]
    a, b = sorted(instance["id"] for instance in instances)
    words = ("executions", "complete", "install-1", "--instance", a, "--reason", "seen", "--json")
    assert json.loads(run(tmp_path, *words).stdout)["status"] == "completed"
    events, logs = told(tmp_path, "events"), told(tmp_path, "logs")
    unsure, by_hand, started = (
        next(place for place, line in enumerate(events) if text in line)
        for text in ("Task may or may not", "Task completed by hand: seen (by ", "Node instance started")
    )
    assert unsure < by_hand < started
    assert f"CFY <x> [{b}.create] Task failed 'plug.create' -> KeyError: 'missing'" in events
    assert f"CFY <x> [{b}->{a}|establish] Task succeeded 'plug.link'" in events
    assert f"INFO    [{b}.create] <out> hi {b}" in logs
    assert f"ERROR   [{b}.create] KeyError: 'missing'" in logs
    assert run(tmp_path, "deployments", "delete", "x", "--force").returncode == 0
    assert (told(tmp_path, "events"), told(tmp_path, "logs")) == (events, logs)
    cut = run(tmp_path, "executions", "events", "install-1", "--limit", "2")
    assert len(cut.stdout.splitlines()) == 2
    assert f"(the last 2 of {len(events)} lines; more: --limit N, everything: --all)" in cut.stderr
