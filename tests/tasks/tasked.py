"""Instances on which tasks of a made-up package run, through the real executor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.run.worlds import CREATE, LaneSpec, Policy, World, make_blueprint

from phaseline.calls.threads.process_groups import is_alive
from phaseline.model.blueprint.blueprint import Node
from phaseline.tasks.host_keys import HostKeys
from phaseline.testing.builders import node, operation

TYPES = ("shell", "shell_once", "puppet", "upload_file", "copy_files", "sync", "python", "note_boot", "await_boot")
RUNNERS = {name: f"phaseline.tasks.task_types.{name}" for name in TYPES}


def inputs_of(folder: Path, parameters: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """What a runner is given for the task 1 of the package net-1.0.2, whose files lie below ``folder``."""
    package = folder / "package"
    (package / "scripts").mkdir(parents=True, exist_ok=True)
    return {
        "task": {
            "package": "net",
            "version": "1.0.2",
            "file": "tasks.yaml",
            "index": 0,
            "stage": "post_deployment/100",
        },
        "parameters": dict(parameters),
        "package_folder": str(package),
        "scripts": "scripts",
        "work": str(folder / "work"),
        **more,
    }


def script(folder: Path, name: str, text: str) -> None:
    """Write an executable script of the package."""
    file = folder / "package" / "scripts" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def world(
    folder: Path,
    parameters: Mapping[str, Any],
    *,
    runner: str = RUNNERS["shell"],
    host: Mapping[str, Any] | None = None,
    instances: int = 1,
    name: str = "web",
    host_keys: HostKeys | None = None,
    **more: Any,
) -> World:
    """Instances ``web_1`` … of the node ``name`` (numbers from 1) contained in ``vm_1`` (number 0), whose properties are ``host``."""
    identity = uuid4().hex  # as each store has its own: by it processes of tasks are told apart, and ended
    create = operation(CREATE, runner, inputs=inputs_of(folder, parameters, **more))
    nodes: list[Node] = [
        node("vm", types=("cloudify.nodes.Compute",), properties=host or {"agent_config": {"install_method": "none"}}),
        node(name, on="vm", instances=instances, create=create),
    ]
    return World(
        folder, make_blueprint(*nodes), policy=Policy(LaneSpec(CREATE, "each")), host_keys=host_keys, identity=identity
    )


def pids_in(file: Path) -> list[int]:
    """Process ids that a script wrote, a line each."""
    return [int(line) for line in file.read_text().split()]


def living(file: Path) -> list[int]:
    """Those of them that still run."""
    return [pid for pid in pids_in(file) if is_alive(pid)]
