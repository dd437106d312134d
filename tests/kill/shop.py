"""A small application with calls of every form, each of which writes down when it begins and ends.

A line of the file ``calls`` is: number of the engine's run, operation, subject, token or ``-``, ``begin`` or ``end``.
It is appended with one write, so the order of the lines is the order of what happened.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins:
  calls: {executor: central_deployment_agent, install: false}
node_templates:
  box:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 2}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: calls.calls.bulk_again, inputs: {operation: create}}
        start: {implementation: scripts/call.sh, inputs: {operation: start}}
        stop: {implementation: scripts/call.sh, inputs: {operation: stop}}
        delete: {implementation: calls.calls.bulk_once, inputs: {operation: delete}}
  disk:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 2}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: calls.calls.each_again, inputs: {operation: create}}
        configure: {implementation: calls.calls.bulk_once, inputs: {operation: configure}}
        start: {implementation: calls.calls.each_once, inputs: {operation: start}}
        stop: {implementation: calls.calls.each_again, inputs: {operation: stop}}
        delete: {implementation: calls.calls.foreign, inputs: {operation: delete}}
    relationships: [{type: cloudify.relationships.depends_on, target: box}]
  app:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 2}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: calls.calls.foreign, inputs: {operation: create}, timeout: 60}
        start: {implementation: calls.calls.in_two_steps, inputs: {operation: start}}
        stop: {implementation: calls.calls.bulk_again, inputs: {operation: stop}}
        delete: {implementation: scripts/call.sh, inputs: {operation: delete}}
    relationships:
      - type: cloudify.relationships.connected_to
        target: disk
        source_interfaces:
          cloudify.interfaces.relationship_lifecycle:
            establish: {implementation: calls.calls.each_again, inputs: {operation: establish}}
            unlink: {implementation: calls.calls.each_once, inputs: {operation: unlink}}
"""

PLUGIN = """\
import os, time
from phaseline import operation
from cloudify import ctx

TAKES_S = 0.02


def note(what, *calls):
    run = os.environ["KILL_RUN"]
    lines = "".join(f"{run} {name} {subject} {token} {what}\\n" for name, subject, token in calls)
    file = os.open(os.environ["KILL_CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, lines.encode())
    os.close(file)


def call_of(item):
    subject = f"{item.source.id}/{item.target.id}" if item.source else item.instance_id
    return item.inputs["operation"], subject, item.token


def together(batch):
    calls = [call_of(item) for item in batch]
    note("begin", *calls)
    time.sleep(TAKES_S)
    note("end", *calls)


def alone(item):
    note("begin", call_of(item))
    item.runtime_properties[f"{item.inputs['operation']}_by"] = os.environ["KILL_RUN"]
    time.sleep(TAKES_S)
    note("end", call_of(item))


@operation(bulk=True, repeatable=True)
def bulk_again(batch):
    together(batch)


@operation(bulk=True)
def bulk_once(batch):
    together(batch)


@operation(repeatable=True)
def each_again(item):
    alone(item)


@operation
def each_once(item):
    alone(item)


@operation(repeatable=True)
def in_two_steps(item):
    note("begin", call_of(item))
    if item.data.setdefault("steps", 0):
        note("end", call_of(item))
    else:
        item.data["steps"] = 1
        item.again(0.03)


def foreign(operation, **_):
    note("begin", (operation, ctx.instance.id, "-"))
    time.sleep(TAKES_S)
    note("end", (operation, ctx.instance.id, "-"))
"""

SCRIPT = """\
#!/bin/sh
set -e
me=$(ctx instance id)
echo "$KILL_RUN $operation $me - begin" >> "$KILL_CALLS"
sleep 0.04
echo "$KILL_RUN $operation $me - end" >> "$KILL_CALLS"
"""

KILLABLE = {("box", "start"), ("box", "stop"), ("app", "create"), ("app", "delete")}
"""(node, operation) of calls that have a process of their own."""

Key = tuple[str, str]
"""(operation, subject) of a call; the subject is an instance or ``source/target``."""


def write_shop(folder: Path) -> Path:
    """The blueprint's file, in a new folder with everything it needs."""
    shop = folder / "shop"
    for name, text in {"blueprint.yaml": BLUEPRINT, "plugins/calls.py": PLUGIN, "scripts/call.sh": SCRIPT}.items():
        file = shop / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (shop / "scripts/call.sh").chmod(0o755)
    return shop / "blueprint.yaml"


@dataclass(frozen=True)
class Line:
    """One line of ``calls``."""

    run: int
    operation: str
    subject: str
    token: str
    what: str

    @property
    def key(self) -> Key:
        return self.operation, self.subject

    @property
    def is_killable(self) -> bool:
        return self.what == "begin" and (self.subject.partition("_")[0], self.operation) in KILLABLE


def read_lines(calls: Path) -> list[Line]:
    if not calls.exists():
        return []
    words = [line.split(" ") for line in calls.read_text().splitlines()]
    return [Line(int(run), operation, subject, token, what) for run, operation, subject, token, what in words]


def node_of(instance: str) -> str:
    return instance.partition("_")[0]


def needs(key: Key, instances: list[str]) -> Iterator[Key]:
    """The calls that must have ended before this one begins; ``instances`` are those of the deployment."""
    operation, subject = key
    if "/" in subject:
        source, _ = subject.split("/")
        yield {"establish": "start", "unlink": "stop"}[operation], source
        return
    node = node_of(subject)

    def each(name: str, needed: str) -> Iterator[Key]:
        yield from ((needed, other) for other in instances if node_of(other) == name)

    match node, operation:
        case "box", "start":
            yield "create", subject
        case "disk", "create":
            yield from each("box", "start")
        case "disk", "configure":
            yield "create", subject
        case "disk", "start":
            yield "configure", subject
        case "app", "create":
            yield from each("disk", "start")
        case "app", "start":
            yield "create", subject
        case "app", "delete":
            yield from (("unlink", f"{subject}/{other}") for other in instances if node_of(other) == "disk")
        case "disk", "stop":
            yield from each("app", "delete")
        case (("disk" | "box"), "delete"):
            yield "stop", subject
        case "box", "stop":
            yield from each("disk", "delete")
        case _:
            return
