"""A provider and its consumers, as blueprints in files, for tests of dependencies between deployments."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import phaseline
from phaseline.client.client import Client

HEAD = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {noting: {executor: central_deployment_agent, install: false}}
"""
CODE = """
from pathlib import Path

from phaseline import operation

CALLS = Path(__file__).with_name("calls.txt")

@operation(bulk=True)
def note(batch):
    with CALLS.open("a") as file:
        file.write(f"{len(batch)}\\n")
    for item in batch:
        item.runtime_properties["said"] = item.inputs.get("said")
        item.runtime_properties["seen"] = item.properties.get("seen")
        item.runtime_properties["ip"] = item.inputs.get("ip")
        item.complete()
"""
NET = (
    HEAD
    + """
inputs: {ip: {default: 10.0.0.1}}
node_templates:
  router:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: noting.noting.note, inputs: {ip: {get_input: ip}}}
  other: {type: cloudify.nodes.Root}
capabilities:
  address: {value: {get_attribute: [router, ip]}}
  ports: {value: {web: [80, 443]}}
"""
)


def consumer(said: str, *, seen: str = "", more: str = "", count: int = 1) -> str:
    """A blueprint whose only node gets ``said`` as an input of its create, and ``seen`` as a property."""
    seen_line = f"    properties: {{seen: {seen}}}\n" if seen else ""
    return (
        HEAD
        + f"""
node_types: {{Web: {{derived_from: cloudify.nodes.Root, properties: {{seen: {{default: null, required: false}}}}}}}}
node_templates:
  web:
    type: Web
{seen_line}    capabilities: {{scalable: {{properties: {{default_instances: {count}}}}}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {{implementation: noting.noting.note, inputs: {{said: {said}}}}}
{more}"""
    )


ASKS = consumer("{get_capability: [net, address]}")


class Files:
    """Blueprints in a folder each, with the plugin beside them, and the store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> str:
        """Write a blueprint and return its path."""
        place = self.folder / name
        (place / "plugins").mkdir(parents=True, exist_ok=True)
        (place / "plugins" / "noting.py").write_text(CODE)
        (place / "blueprint.yaml").write_text(text)
        return str(place / "blueprint.yaml")

    def calls(self, name: str) -> Sequence[int]:
        """The number of members of each call of the plugin of a blueprint."""
        file = self.folder / name / "plugins" / "calls.txt"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    @contextlib.contextmanager
    def open(self) -> Iterator[Client]:
        """Open the store."""
        with phaseline.open(f"sqlite:///{self.folder}/store.db") as client:
            yield client


def properties(client: Client, deployment: str, node: str = "web") -> Mapping[str, object]:
    """The runtime properties of the first instance of a node."""
    first, *_ = client.instances.list(node=node, deployment=deployment).items
    return client.instances.show(first.id).runtime_properties
