"""An application of many short calls, all of which may be repeated; each call notes in a file when it begins and ends.

A line of the file ``calls`` is: run of the engine, thread, ns of the machine's clock, operation, instance, token, and
``begin`` or ``end``. It is appended with one write, so the order of the lines is the order of what happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

INSTANCES = 300
"""Number of instances of each of the two nodes."""
CALLS = {"install": 5 * INSTANCES, "uninstall": 2 * INSTANCES}
"""Number of entries that a workflow calls."""

BLUEPRINT = f"""\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins:
  calls: {{executor: central_deployment_agent, install: false}}
node_templates:
  box:
    type: cloudify.nodes.Root
    capabilities: {{scalable: {{properties: {{default_instances: {INSTANCES}}}}}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {{implementation: calls.calls.each, inputs: {{operation: create}}}}
        configure: {{implementation: calls.calls.bulk, inputs: {{operation: configure}}}}
        start: {{implementation: calls.calls.each, inputs: {{operation: start}}}}
        stop: {{implementation: calls.calls.each, inputs: {{operation: stop}}}}
  app:
    type: cloudify.nodes.Root
    capabilities: {{scalable: {{properties: {{default_instances: {INSTANCES}}}}}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {{implementation: calls.calls.each, inputs: {{operation: create}}}}
        start: {{implementation: calls.calls.each, inputs: {{operation: start}}}}
        delete: {{implementation: calls.calls.each, inputs: {{operation: delete}}}}
"""

PLUGIN = """\
import os, threading, time
from phaseline import operation

TAKES_S = 0.05


def note(what, items):
    run, at, thread = os.environ["HA_RUN"], time.monotonic_ns(), threading.get_native_id()
    calls = [(item.inputs["operation"], item.instance_id, item.token) for item in items]
    lines = "".join(f"{run} {thread} {at} {name} {subject} {token} {what}\\n" for name, subject, token in calls)
    file = os.open(os.environ["HA_CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, lines.encode())
    os.close(file)


@operation(bulk=True, repeatable=True)
def bulk(batch):
    items = list(batch)
    note("begin", items)
    time.sleep(TAKES_S)
    note("end", items)


@operation(repeatable=True)
def each(item):
    note("begin", [item])
    time.sleep(TAKES_S)
    note("end", [item])
"""

Key = tuple[str, str]
"""(operation, instance) of a call."""


def write_shop(folder: Path) -> Path:
    """The blueprint's file, in a new folder with its plugin."""
    shop = folder / "shop"
    for name, text in {"blueprint.yaml": BLUEPRINT, "plugins/calls.py": PLUGIN}.items():
        file = shop / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return shop / "blueprint.yaml"


@dataclass(frozen=True)
class Line:
    """One line of ``calls``."""

    run: int
    thread: int
    at_ns: int
    operation: str
    instance: str
    token: str
    what: str

    @property
    def key(self) -> Key:
        return self.operation, self.instance


class Journal:
    """The lines of ``calls``, read as far as they are written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self.lines: list[Line] = []

    def read(self) -> list[Line]:
        """All lines so far."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                new = file.read()
        except FileNotFoundError:
            return self.lines
        new = new[: new.rfind(b"\n") + 1]
        self._at += len(new)
        for words in map(str.split, new.decode().splitlines()):
            run, thread, at_ns, operation, instance, token, what = words
            self.lines.append(Line(int(run), int(thread), int(at_ns), operation, instance, token, what))
        return self.lines
