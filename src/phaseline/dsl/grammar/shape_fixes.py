"""Suggest how to mend a value of the wrong form or an unknown key, by guessing the intention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phaseline.dsl.functions.registry import FUNCTIONS, function_name, is_function
from phaseline.dsl.grammar.tables import LIST, Each, Shape, Table, TableRows
from phaseline.model.blueprint.blueprint import Value

SHOWN = 40
"""Number of characters of a value that a message shows."""
FOREIGN: Mapping[str, str] = {
    "requirements": "write 'relationships' with items of 'type' and 'target'",
    "topology_template": "write its sections ('inputs', 'node_templates', 'outputs') at the top level",
    "attributes": "leave them out: runtime properties need no declaration",
    "artifacts": "write the path of the file where it is used, as an operation's 'implementation' or among its 'inputs'",
    "relationship_types": "write 'relationships'",
    "capability_types": "leave them out; capabilities have no types",
    "interface_types": "write the operations under 'interfaces' of a node type",
    "scalable": "write 'capabilities: {scalable: {properties: {default_instances: …}}}' beside 'properties'",
}
"""{key of TOSCA or of another element: what to write in a blueprint instead}."""


def right_form(shape: Shape, value: Value, expected: str) -> str:
    """Return advice what to write in place of a value that does not have the form ``expected``."""
    if isinstance(shape, Table):
        return _right_table(shape, value)
    if isinstance(shape, TableRows) or shape is LIST:
        return _right_list(shape.of if isinstance(shape, TableRows) else shape, value)
    if isinstance(value, dict) and is_function(value):
        return f"write the {expected.removeprefix('a ')} itself: functions are not evaluated here"
    if isinstance(shape, Each) and isinstance(shape.of, Table) and shape.of.short and isinstance(value, str):
        return "write 'INTERFACE: {OPERATION: …}', such as 'cloudify.interfaces.lifecycle: {create: …}'"
    if isinstance(value, list):
        if expected == "text" and len(value) == 1:
            return "write the one value without brackets"
        if isinstance(shape, Each) or expected == "a mapping":
            return "write 'name: value' lines without the leading dashes"
    if expected == "text" and isinstance(value, bool | int | float):
        return "put the value into quotes"
    return f"write {expected} here"


def _right_table(table: Table, value: Value) -> str:
    if table.likely and value is not None:
        word = f"[{_shown(value)}]" if table.keys[table.likely].shape is LIST else _shown(value)
        return f"write '{{{table.likely}: {word}}}' here"
    if isinstance(value, list) and len(value) == 1 and table.short:
        return "write the one value without brackets"
    if isinstance(value, list):
        return "write 'name: value' lines without the leading dashes"
    keys = table.required or tuple(table.keys)[:2]
    return f"write a mapping, such as '{{{', '.join(f'{key}: …' for key in keys)}}}'"


def _right_list(item: Shape, value: Value) -> str:
    if not isinstance(value, dict):
        return f"write a list: '[{_shown(value)}]'"
    if isinstance(item, Table):
        if value.keys() <= item.keys.keys():
            return f"put a dash before the first key: '- {next(iter(value), '')}: …'"
        return f"write each as an item of a list: '- {{{', '.join(f'{key}: …' for key in item.required)}}}'"
    return "write each as an item of a list, with a dash before it"


def right_key(known: Sequence[str], name: str) -> str:
    """Return advice for a key that is not among the ``known`` ones, or "" if there is none."""
    return FOREIGN.get(name) or (f"put it under '{known[0]}'" if len(known) == 1 else "")


def right_property(name: str) -> str:
    """Return advice for a property that no type declares, or "" if there is none."""
    if name in FUNCTIONS:
        return f"a function is the value of a property: 'PROPERTY: {{{name}: …}}'"
    return FOREIGN.get(name, "")


def _shown(value: Value) -> str:
    if isinstance(value, dict):
        return f"{{{function_name(value) or next(iter(value), '')}: …}}"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    line = text.split("\n", 1)[0]
    return f"{line[:SHOWN].rstrip()}…" if len(line) > SHOWN or line != text else line
