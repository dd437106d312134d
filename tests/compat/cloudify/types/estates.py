"""Folders with an outer and an inner blueprint, and a client with a store of its own for each test."""

from __future__ import annotations

import os
from pathlib import Path

import phaseline

INNER = """
tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
inputs:
  size: {type: integer, default: 1}
node_templates:
  server:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: ours.steps.create}
        start: {implementation: ours.steps.start}
        stop: {implementation: ours.steps.stop}
capabilities:
  endpoint: {value: {get_attribute: [server, address]}}
  size: {value: {get_input: size}}
plugins:
  ours: {executor: central_deployment_agent, install: false}
"""
STEPS = """
from pathlib import Path

from phaseline import NonRecoverableError, operation


def note(item, what):
    with (Path(PLACE) / "calls.txt").open("a") as file:
        file.write(f"{what} {item.deployment_id}\\n")
    with (Path(PLACE) / "tokens.txt").open("a") as file:
        file.write(f"{what} {item.token}\\n")


def _meet():
    # tell the test that the call has begun, and wait until the test lets it end
    with (Path(PLACE) / "begun").open("w") as pipe:
        pipe.write("x")
    with (Path(PLACE) / "go").open() as pipe:
        pipe.read()


def _refuse_if_told(what):
    if (Path(PLACE) / f"fail-{what}").exists():
        raise NonRecoverableError(f"the disk of {what} is full")


@operation(repeatable=True)
def create(item):
    note(item, "create")
    item.runtime_properties["address"] = "10.0.0.1"


@operation(repeatable=True)
def start(item):
    note(item, "start")
    _refuse_if_told("start")


@operation(repeatable=True)
def until_canceled(item):
    note(item, "until_canceled")
    _meet()


@operation
def once(item):
    note(item, "once")
    _meet()


@operation(repeatable=True)
def base(item):
    _refuse_if_told("base")


@operation(repeatable=True)
def hold(item):
    note(item, "hold")
    item.again(3600)


@operation(repeatable=True)
def check(item):
    note(item, "check")
    _refuse_if_told("check")


@operation(repeatable=True)
def mend(item):
    note(item, "mend")
    (Path(PLACE) / "fail-check").unlink()


@operation(repeatable=True)
def stop(item):
    note(item, "stop")
"""
OUTER = """
tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
node_templates:
  db:
    type: cloudify.nodes.Component
    properties:
      resource_config:
        blueprint: {blueprint_archive: inner}
        deployment: {id: db, inputs: {size: 3}}
capabilities:
  endpoint: {value: {get_attribute: [db, capabilities, endpoint]}}
"""


MIDDLE = (
    OUTER.replace("{id: db, inputs: {size: 3}}", "{id: low, inputs: {size: 3}}")
    .replace("[db,", "[low,")
    .replace("\n  db:", "\n  low:")
)
"""A blueprint with one Component, whose deployment is the third level."""

CHECKED = INNER.replace(
    "        stop: {implementation: ours.steps.stop}\n",
    "        stop: {implementation: ours.steps.stop}\n        heal: {implementation: ours.steps.mend}\n"
    "      cloudify.interfaces.validation:\n        check_status: {implementation: ours.steps.check}\n",
)
"""An inner blueprint whose server can be checked and healed."""


class Yard:
    """A folder with blueprints, and a client for its store."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.calls_file = folder / "calls.txt"
        self.client = phaseline.open(f"sqlite:///{folder}/store.db")

    def write(self, name: str, text: str) -> str:
        """Write a file and return its path; blueprints get a plugin beside them that notes its calls."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if "ours.steps" in text:
            plugins = file.parent / "plugins"
            plugins.mkdir(exist_ok=True)
            (plugins / "steps.py").write_text(STEPS.replace("PLACE", repr(str(self.folder))))
        return str(file)

    def calls(self) -> list[str]:
        """The calls of operations so far: operation and deployment."""
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def pipes(self) -> None:
        """Make the pipes at which a call waits for the test."""
        for name in ("begun", "go"):
            os.mkfifo(self.folder / name)

    def await_call(self) -> None:
        """Wait until a call has begun that waits for ``let_go``."""
        with (self.folder / "begun").open() as pipe:
            pipe.read()

    def let_go(self) -> None:
        """Let the call end that waits."""
        with (self.folder / "go").open("w") as pipe:
            pipe.write("x")

    def three_levels(self, inner: str) -> str:
        """Write blueprints of which each contains the next, and return the path of the outermost."""
        self.write("app/inner/inner/blueprint.yaml", inner)
        self.write("app/inner/blueprint.yaml", MIDDLE.replace("inputs: {size: 3}", "inputs: {}"))
        return self.write("app/blueprint.yaml", OUTER.replace(", inputs: {size: 3}", ""))

    def app(self, outer: str = OUTER, inner: str = INNER) -> str:
        """Write both blueprints and return the path of the outer one."""
        self.write("app/inner/blueprint.yaml", inner)
        return self.write("app/blueprint.yaml", outer)
