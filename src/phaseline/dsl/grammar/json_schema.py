"""Write the grammar as a JSON Schema (draft 7), for editors that complete and check a blueprint during typing.

The schema is made from the same tables that the reader uses, so the two always agree. A schema describes forms, not
names: only the reader can check that a type or an input exists.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from phaseline.dsl.grammar.tables import BLUEPRINT, Each, Leaf, Shape, Table, TableKey, TableRows
from phaseline.dsl.text.dsl_versions import LATEST, version_name
from phaseline.dsl.text.primitive_types import PRIMITIVES

DRAFT = "http://json-schema.org/draft-07/schema#"
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}

Schema: TypeAlias = "dict[str, Any]"


def json_schema(minor: int = LATEST) -> Schema:
    """Return the schema of a blueprint in ``cloudify_dsl_1_<minor>``, or in our own language for ``PHASELINE``.

    The schema does not allow keys of later versions. It does not require a version, so imported files are valid, too.
    """
    writer = _Writer(minor)
    whole = writer.table(BLUEPRINT)
    whole["type"] = "object"
    whole["properties"]["tosca_definitions_version"] = {"enum": [version_name(minor)]}
    whole["properties"]["imports"] = {"type": ["array", "null"], "items": {"type": ["string", "object"]}}
    definitions = dict(sorted(writer.definitions.items()))
    return {"$schema": DRAFT, **whole, "title": f"a blueprint in {version_name(minor)}", "definitions": definitions}


class _Writer:
    """Writes the shapes of one version of the language as a schema; each table becomes one definition."""

    def __init__(self, minor: int) -> None:
        self._minor = minor
        self._names: dict[int, str] = {}
        self.definitions: dict[str, Schema] = {}

    def table(self, table: Table) -> Schema:
        """Return the schema of a table."""
        keys = {name: key for name, key in table.keys.items() if key.since <= self._minor}
        types = ["object", *(["string"] if table.short else []), *([] if table.required else ["null"])]
        found: Schema = {
            "title": table.title,
            "type": types,
            "additionalProperties": False,
            "properties": {name: self._key(key) for name, key in keys.items()},
        }
        if table.required:
            found["required"] = list(table.required)
        if table.fragment is not None and table.required:
            whole = {"required": found.pop("required")}
            found["anyOf"] = [whole, {"required": [table.fragment], "maxProperties": 1}]
        return found

    def _key(self, key: TableKey) -> Schema:
        """Return the schema of a key's value. An optional key may be null, which counts as left out."""
        if key.refers == "data_types" and not key.is_required:
            words = [name for name, since in PRIMITIVES.items() if since <= self._minor]
            return {"anyOf": [{"enum": [*words, None]}, {"type": "string"}]}
        found = self._of(key.shape)
        types = found.get("type")
        if key.is_required:
            return found or {"not": {"type": "null"}}
        if types is None:
            return found
        return {**found, "type": [*([types] if isinstance(types, str) else types), "null"]}

    def _of(self, shape: Shape) -> Schema:
        if isinstance(shape, Leaf):
            return self._leaf(shape)
        if isinstance(shape, Each):
            return {"type": "object", "additionalProperties": self._of(shape.of)}
        if isinstance(shape, TableRows):
            return {"type": "array", "items": self._of(shape.of)}
        return {"$ref": f"#/definitions/{self._name(shape)}"}

    def _name(self, table: Table) -> str:
        """Return the name of a table's definition. Tables with equal titles get different numbers."""
        if id(table) not in self._names:
            plain = name = table.title.removeprefix("a ").removeprefix("an ").replace(" ", "_")
            number = 1
            while name in self.definitions:
                number += 1
                name = f"{plain}_{number}"
            self._names[id(table)] = name
            self.definitions[name] = {}
            self.definitions[name] = self.table(table)
        return self._names[id(table)]

    def _leaf(self, leaf: Leaf) -> Schema:
        if leaf.types is None:
            return {}
        found: Schema = {"type": sorted(_TYPES[kind] for kind in leaf.types)}
        if leaf.minimum is not None:
            found["minimum"] = leaf.minimum
        return found
