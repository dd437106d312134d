"""Blueprints of the shapes that are measured: no types file is imported, so that ours and the peer's read the same little."""

from __future__ import annotations

import json
from collections.abc import Sequence

OPERATIONS = ("precreate", "create", "configure", "start", "poststart", "prestop", "stop", "delete", "postdelete")
LIFECYCLE = "cloudify.interfaces.lifecycle"
VALIDATION = "cloudify.interfaces.validation"
DEPENDS_ON = "cloudify.relationships.depends_on"


def _frame(mapping: str, operations: Sequence[str] = OPERATIONS) -> dict[str, object]:
    plugin = mapping.split(".", maxsplit=1)[0]
    return {
        "tosca_definitions_version": "cloudify_dsl_1_3",
        "plugins": {plugin: {"executor": "central_deployment_agent", "install": False}},
        "node_types": {
            "bench.Node": {"interfaces": {LIFECYCLE: dict.fromkeys(operations, mapping)}},
        },
        "relationships": {
            DEPENDS_ON: {"properties": {"connection_type": {"default": "all_to_all"}}},
            "cloudify.relationships.connected_to": {"derived_from": DEPENDS_ON},
            "cloudify.relationships.contained_in": {"derived_from": DEPENDS_ON},
        },
    }


def _node(count: int | None = None, **related: str) -> dict[str, object]:
    node: dict[str, object] = {"type": "bench.Node"}
    if count is not None:
        node["capabilities"] = {"scalable": {"properties": {"default_instances": count}}}
    if related:
        node["relationships"] = [
            {"type": f"cloudify.relationships.{kind}", "target": target} for kind, target in related.items()
        ]
    return node


def scaled(shape: str, count: int, mapping: str) -> str:
    """About ``count`` instances of few templates.

    flat: independent ones; chain: chains of ten; tier: hosts that contain four each, which are connected to one of four.
    """
    if shape == "flat":
        nodes = {"n": _node(count)}
    elif shape == "chain":
        nodes = {"c0": _node(count // 10)}
        nodes |= {f"c{depth}": _node(contained_in=f"c{depth - 1}") for depth in range(1, 10)}
    else:
        nodes = {f"db{number}": _node() for number in range(4)}
        nodes["host"] = _node((count - 4) // 5)
        nodes |= {f"sw{number}": _node(contained_in="host", connected_to=f"db{number}") for number in range(4)}
    return json.dumps(_frame(mapping) | {"node_templates": nodes}, indent=1)


def started(count: int, mapping: str) -> str:
    """``count`` independent instances with one operation, which starts them."""
    return json.dumps(_frame(mapping, ["start"]) | {"node_templates": {"n": _node(count)}}, indent=1)


def checked(count: int, mapping: str) -> str:
    """``count`` independent instances with ``check_status``, and with ``validation.create`` as any other operation."""
    interfaces = {LIFECYCLE: {"start": mapping}, VALIDATION: dict.fromkeys(("check_status", "create"), mapping)}
    frame = _frame(mapping) | {"node_types": {"bench.Node": {"interfaces": interfaces}}}
    return json.dumps(frame | {"node_templates": {"n": _node(count)}}, indent=1)


def deep(count: int, mapping: str) -> str:
    """A chain of ``count`` templates with one operation each: whatever is started waits for the one before."""
    nodes = {"n0": _node()} | {f"n{depth}": _node(depends_on=f"n{depth - 1}") for depth in range(1, count)}
    return json.dumps(_frame(mapping, ["start"]) | {"node_templates": nodes}, indent=1)


def templates(count: int, mapping: str) -> str:
    """``count`` different templates as YAML text, each with properties and an operation mapping of its own."""
    frame = _frame(mapping)
    frame["node_types"] = {
        "bench.Node": {
            "properties": {"port": {"type": "integer"}, "label": {"type": "string"}},
            "interfaces": {LIFECYCLE: {name: {} for name in OPERATIONS}},
        }
    }
    lines = [json.dumps({key: value})[1:-1] for key, value in frame.items()]
    lines.append("node_templates:")
    for number in range(count):
        lines += [f"  n{number}:", "    type: bench.Node"]
        lines += [f"    properties: {{port: {8000 + number}, label: node-{number}}}"]
        lines += ["    interfaces:", f"      {LIFECYCLE}:"]
        lines += [f"        {name}: {{implementation: {mapping}, inputs: {{number: {number}}}}}" for name in OPERATIONS]
    return "\n".join(lines) + "\n"


def related(count: int, mapping: str, *, as_json: bool = False) -> str:
    """``count`` different templates, each with properties, an operation of its own and a relationship to an earlier one."""
    frame = _frame(mapping)
    frame["node_types"] = {
        "bench.Node": {
            "properties": {"port": {"type": "integer"}, "label": {"type": "string"}},
            "interfaces": {LIFECYCLE: {name: {} for name in OPERATIONS}},
        }
    }
    nodes: dict[str, object] = {}
    for number in range(count):
        node: dict[str, object] = {
            "type": "bench.Node",
            "properties": {"port": 8000 + number, "label": f"node-{number}"},
            "interfaces": {LIFECYCLE: {"create": {"implementation": mapping, "inputs": {"number": number}}}},
        }
        if number:
            node["relationships"] = [{"type": DEPENDS_ON, "target": f"n{number // 2}"}]
        nodes[f"n{number}"] = node
    if as_json:
        return json.dumps(frame | {"node_templates": nodes}, indent=1)
    import yaml

    return yaml.dump(frame | {"node_templates": nodes}, Dumper=yaml.CSafeDumper, sort_keys=False)


def definitions(size: int) -> str:
    """A plugin's definition file of about ``size`` bytes, in the manner of the large public ones."""
    lines = [
        "plugins:", "  cloud:", "    executor: central_deployment_agent", "    install: false", "node_types:",
    ]  # fmt: skip
    number = written = 0
    while written < size:
        kind = [f"  cloud.nodes.Kind{number}:", "    derived_from: cloudify.nodes.Root", "    properties:"]
        for prop in range(12):
            kind += [
                f"      property_{prop}:", "        type: string", f"        default: value {prop}",
                "        description: What the thing is to have, in a sentence as plugins have them.",
                "        required: false",
            ]  # fmt: skip
        kind += ["    interfaces:", f"      {LIFECYCLE}:"]
        for name in OPERATIONS:
            kind += [
                f"        {name}:", f"          implementation: cloud.resources.kind{number}.{name}",
                "          inputs:", "            config: {default: {get_property: [SELF, property_1]}}",
            ]  # fmt: skip
        lines += kind
        written += sum(map(len, kind)) + len(kind)
        number += 1
    return "\n".join(lines) + "\n"
