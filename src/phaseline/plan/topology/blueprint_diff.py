"""Compute the steps of an update: the differences between a deployment's blueprint and the new blueprint (W60).

Equal nodes cost only one comparison. The order of the nodes in the blueprint does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from operator import eq
from typing import TYPE_CHECKING, Any, Literal

from phaseline.lang.fast_dataclasses import as_dict
from phaseline.model.blueprint.diff import BlueprintChange, Path, Rename, ValueComparison

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Relationship, Value

Words = tuple[str, ...]
SECTIONS = {
    "outputs": "output",
    "capabilities": "capability",
    "workflows": "workflow",
    "plugins": "plugin",
    "groups": "group",
    "policies": "policy",
    "policy_types": "policy_type",
    "policy_triggers": "policy_trigger",
    "labels": "label",
    "resource_tags": "resource_tag",
    "deployment_settings": "setting",
}
"""{field of a blueprint that maps names to elements: word for one element}, in the order of an update's steps."""
SCHEDULES = "default_schedules"
"""Key in the deployment settings. Each schedule under this key gives a step of its own if it differs."""


class Alike:
    """Comparison of operations and relationships that remembers its results.

    Nodes of one type share their mappings of operations, so each pair of mappings is compared only once.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], bool] = {}
        self._held: list[object] = []

    def tables(self, old: Mapping[str, Operation], new: Mapping[str, Operation]) -> bool:
        """Return True if two mappings of operations are equal."""
        if old is new:
            return True
        key = id(old), id(new)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = old == new
            self._held += [old, new]  # kept alive, so that their ids stay unique
        return found

    def relationships(self, old: tuple[Relationship, ...], new: tuple[Relationship, ...]) -> bool:
        """Return True if two nodes have equal relationships in the same order."""
        if old is new:
            return True
        key = id(old), id(new)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(old) == len(new) and all(map(self._relationship, old, new))
            self._held += [old, new]
        return found

    def _relationship(self, old: Relationship, new: Relationship) -> bool:
        return old is new or (
            (old.target, old.type, old.properties) == (new.target, new.type, new.properties)
            and self.tables(old.source_operations, new.source_operations)
            and self.tables(old.target_operations, new.target_operations)
        )


def steps(
    old: Blueprint, new: Blueprint, changed: Mapping[str, tuple[BlueprintChange, ...]] | None = None
) -> tuple[BlueprintChange, ...]:
    """Return every difference that matters for a deployment. Both blueprints must have their inputs evaluated.

    ``changed`` is {node in both blueprints: its changes}, if the caller knows them; None means that they are computed.
    """
    return (*_description(old, new), *_inputs(old, new), *_nodes(old, new, changed), *_sections(old, new))


def values_of_inputs(
    old: Mapping[str, Value], new: Mapping[str, Value], hidden: frozenset[str]
) -> tuple[tuple[BlueprintChange, ...], frozenset[str]]:
    """Return (steps for inputs whose value changed, names of these inputs).

    Values of ``hidden`` inputs are not shown.
    """
    found: list[BlueprintChange] = []
    for name in dict.fromkeys((*old, *new)):
        if name in old and name in new and old[name] == new[name]:
            continue
        before, after = (_veiled(values, name, hidden) for values in (old, new))
        kind: Literal["added", "removed", "changed"] = "changed" if name in old else "added"
        found.append(BlueprintChange(kind if name in new else "removed", "input", f"inputs.{name}", before, after))
    return tuple(found), frozenset(change.path.removeprefix("inputs.") for change in found)


def node_changes(old: Node, new: Node, alike: Alike) -> tuple[BlueprintChange, ...]:
    """Return the differences between two versions of a node."""
    if old is new or _is_alike(old, new, alike):
        return ()
    base = ("nodes", new.name)
    found = [
        *_values((*base, "type"), "node", old.type, new.type),
        *_values((*base, "properties"), "property", old.properties, new.properties),
        *(
            []
            if alike.tables(old.operations, new.operations)
            else _operations((*base, "operations"), old.operations, new.operations)
        ),
        *([] if alike.relationships(old.relationships, new.relationships) else _relationships(base, old, new)),
    ]
    for name in ("default_instances", "min_instances", "max_instances"):
        found += _values((*base, "instances", name), "node", getattr(old, name), getattr(new, name))
    restricted = (list(old.restricted_actions), list(new.restricted_actions))
    return (*found, *_values((*base, "restricted_actions"), "node", *restricted))


def _is_alike(old: Node, new: Node, alike: Alike) -> bool:
    """Return True if two nodes are equal. This is a quick test, because nearly all nodes of an update are equal."""
    return (
        old.type == new.type
        and old.properties == new.properties
        and alike.tables(old.operations, new.operations)
        and alike.relationships(old.relationships, new.relationships)
        and (old.default_instances, old.min_instances, old.max_instances)
        == (new.default_instances, new.min_instances, new.max_instances)
        and old.restricted_actions == new.restricted_actions
    )


def takes_one_of(value: Value, inputs: frozenset[str]) -> bool:
    """Return True if a value that is not evaluated yet uses one of these inputs.

    >>> takes_one_of({"concat": ["a", {"get_input": "port"}]}, frozenset({"port"}))
    True
    """
    if isinstance(value, dict):
        asked = value.get("get_input")
        name = asked[0] if isinstance(asked, list) and asked else asked
        return (isinstance(name, str) and name in inputs) or any(takes_one_of(item, inputs) for item in value.values())
    return isinstance(value, list) and any(takes_one_of(item, inputs) for item in value)


def relationships_by_key(node: Node) -> dict[tuple[str, str, int], tuple[int, Relationship]]:
    """Return {key: (index in the node, relationship)}. The key identifies a relationship in both blueprints.

    The key is (type, target, number of earlier relationships with this type and target).
    """
    found: dict[tuple[str, str, int], tuple[int, Relationship]] = {}
    for place, item in enumerate(node.relationships):
        before = 0
        while (item.type, item.target, before) in found:
            before += 1
        found[item.type, item.target, before] = place, item
    return found


def renames(gone: Mapping[str, Node], come: Mapping[str, Node]) -> tuple[Rename, ...]:
    """Return removed nodes paired with added nodes that are equal except for the name, ordered as the removed nodes.

    Each node is in one pair at most.
    """
    waiting: dict[str, list[str]] = {}
    for name, node in come.items():
        waiting.setdefault(_signature(node), []).append(name)
    found = []
    for name, node in gone.items():
        alike = waiting.get(_signature(node))
        if alike:
            found.append(Rename("node", name, alike.pop(0), 1.0))
    return tuple(found)


# -- sections --------------------------------------------------------------------------------------------------------


def _description(old: Blueprint, new: Blueprint) -> Iterator[BlueprintChange]:
    return _values(("description",), "description", old.description, new.description)


def _inputs(old: Blueprint, new: Blueprint) -> Iterator[BlueprintChange]:
    """Yield the changes of input declarations. Changes of values come from ``values_of_inputs``."""
    for name, schema in new.inputs.items():
        if name not in old.inputs:
            yield BlueprintChange("added", "input declaration", f"inputs.{name}", new=schema.type)
    for name, schema in old.inputs.items():
        if name not in new.inputs:
            yield BlueprintChange("removed", "input declaration", f"inputs.{name}", old=schema.type)


def _sections(old: Blueprint, new: Blueprint) -> Iterator[BlueprintChange]:
    for section, noun in SECTIONS.items():
        before, after = getattr(old, section), getattr(new, section)
        if before is after or before == after:
            continue
        if section == "deployment_settings":
            schedules = [dict(each.get(SCHEDULES) or {}) for each in (before, after)]
            yield from _elements((section, SCHEDULES), "schedule", *schedules)
            before, after = ({key: each[key] for key in each if key != SCHEDULES} for each in (before, after))
        yield from _elements((section,), noun, before, after)


def _elements(path: Words, noun: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[BlueprintChange]:
    for name in dict.fromkeys((*old, *new)):
        here = ".".join((*path, name))
        if name not in new:
            yield BlueprintChange("removed", noun, here, old=_plain(old[name]))
        elif name not in old:
            yield BlueprintChange("added", noun, here, new=_plain(new[name]))
        elif old[name] != new[name]:
            yield from _values((*path, name), noun, _plain(old[name]), _plain(new[name]))


def _plain(one: Any) -> Value:
    """Return an element of a blueprint as plain values, without unset fields."""
    try:
        fields = as_dict(one)
    except KeyError:
        return _listed(one)
    return {
        name: _plain(value) for name, value in fields.items() if value not in (None, "", {}, (), []) and name != "place"
    }


def _listed(value: Any) -> Value:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


# -- nodes -----------------------------------------------------------------------------------------------------------


def _nodes(
    old: Blueprint, new: Blueprint, changed: Mapping[str, tuple[BlueprintChange, ...]] | None
) -> Iterator[BlueprintChange]:
    alike = Alike()
    for name, node in old.nodes.items():
        after = new.nodes.get(name)
        if after is None:
            yield BlueprintChange("removed", "node", f"nodes.{name}", old=node.type)
        else:
            yield from node_changes(node, after, alike) if changed is None else changed.get(name, ())
    for name, node in new.nodes.items():
        if name not in old.nodes:
            yield BlueprintChange("added", "node", f"nodes.{name}", new=node.type)


def _relationships(base: Words, old: Node, new: Node) -> Iterator[BlueprintChange]:
    before, after = relationships_by_key(old), relationships_by_key(new)
    for key in dict.fromkeys((*before, *after)):
        here = (*base, "relationships", f"{key[0]} -> {key[1]}" + " (again)" * key[2])
        if key not in after:
            yield BlueprintChange("removed", "relationship", ".".join(here))
        elif key not in before:
            yield BlueprintChange("added", "relationship", ".".join(here))
        else:
            one, other = before[key][1], after[key][1]
            yield from _values((*here, "properties"), "relationship property", one.properties, other.properties)
            yield from _operations((*here, "source_operations"), one.source_operations, other.source_operations)
            yield from _operations((*here, "target_operations"), one.target_operations, other.target_operations)


def _operations(path: Words, old: Mapping[str, Operation], new: Mapping[str, Operation]) -> Iterator[BlueprintChange]:
    if old is new:
        return
    for name in dict.fromkeys((*old, *new)):
        before, after = (each.get(name) for each in (old, new))
        has = [one is not None and one.is_implemented for one in (before, after)]
        if before == after or not any(has):
            continue
        here = ".".join((*path, name))
        shown = [_implementation(one) if one is not None else None for one in (before, after)]
        if not all(has):
            yield BlueprintChange("added" if has[1] else "removed", "operation", here, *shown)
        elif shown[0] != shown[1]:
            yield BlueprintChange("changed", "operation", here, *shown)
        else:
            yield from _values((*path, name), "operation", _plain(before), _plain(after))


def _implementation(operation: Operation) -> str | None:
    if not operation.is_implemented:
        return None
    return (
        f"{operation.plugin}.{operation.implementation}" if operation.form == "function" else operation.implementation
    )


def _values(path: Words, noun: str, old: Any, new: Any) -> Iterator[BlueprintChange]:
    """Yield the steps from one value to another. Mappings are compared key by key."""
    return ValueComparison(lambda _: noun, _dotted, _is_function, eq).changes(path, old, new)


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _is_function(value: Mapping[str, Any]) -> bool:
    """Return True if the value seems to be an intrinsic function, which is shown whole instead of key by key."""
    name = next(iter(value)) if len(value) == 1 else ""
    return str(name).startswith(("get_", "concat", "merge", "string_"))


def _signature(node: Node) -> str:
    """Return a signature that is equal for nodes that differ only in their names and the names of their targets."""
    operations = sorted(f"{name}={_implementation(one)}" for name, one in node.operations.items() if one.is_implemented)
    kinds = [item.type for item in node.relationships]
    return json.dumps([node.type, node.properties, operations, kinds], sort_keys=True, default=str)


def _veiled(values: Mapping[str, Value], name: str, hidden: frozenset[str]) -> Value:
    return "(hidden)" if name in hidden and name in values else values.get(name)
