"""Put the namespace of an import before all names in the imported file (B8).

The grammar marks which texts are names of elements or references to them (``NAMED``, ``TableKey.refers``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

from phaseline.dsl.functions.registry import FUNCTIONS, REFERENCES, function_name
from phaseline.dsl.grammar.tables import BLUEPRINT, NAMED, Each, Leaf, Shape, Table, TableRows
from phaseline.dsl.text.document import NAMESPACE
from phaseline.dsl.text.primitive_types import PRIMITIVES
from phaseline.model.blueprint.blueprint import Value

BUILT_IN = "cloudify."
"""Prefix of built-in names, which all files share and which get no namespace."""


class Namespacing:
    """Puts one namespace before names. ``basics`` is {section: names of the basic types}, which stay unchanged."""

    def __init__(
        self, namespace: str, basics: Mapping[str, Collection[str]], own: Mapping[str, Collection[str]]
    ) -> None:
        """Store the namespace. ``own`` is {section: names that the file itself declares}."""
        self._prefix = f"{namespace}{NAMESPACE}"
        self._basics = basics
        self._own = own

    def name(self, name: str) -> str:
        """Return the name of an element of the file with the namespace before it."""
        return name if name.startswith(BUILT_IN) else self._prefix + name

    def section(self, section: str, value: Value) -> Value:
        """Return a section of the file with its elements and all references in it renamed."""
        shape = BLUEPRINT.keys[section].shape
        if section not in NAMED or not isinstance(value, dict):
            return self._shaped(shape, value, "")
        of = shape.of if isinstance(shape, Each) else shape
        return {self.name(name): self._shaped(of, item, "") for name, item in value.items()}

    def _shaped(self, shape: Shape, value: Value, refers: str) -> Value:
        if isinstance(shape, Leaf):
            return self._reference(value, refers) if refers and isinstance(value, str) else self._value(value)
        if isinstance(shape, TableRows) and isinstance(value, list):
            return [self._shaped(shape.of, item, refers) for item in value]
        if isinstance(shape, Each) and isinstance(value, dict):
            return {name: self._shaped(shape.of, item, refers) for name, item in value.items()}
        if isinstance(shape, Table) and isinstance(value, str) and shape.short:
            return self._reference(value, shape.keys[shape.short].refers)
        if isinstance(shape, Table) and isinstance(value, dict):
            return {
                name: self._shaped(shape.keys[name].shape, item, shape.keys[name].refers)
                for name, item in value.items()
            }
        return value

    def _reference(self, name: str, section: str) -> str:
        if section == "implementation":
            return self._implementation(name)
        if name.startswith(BUILT_IN) or (section == "data_types" and name in PRIMITIVES):
            return name
        if name in self._basics.get(section, ()) and name not in self._own.get(section, ()):
            return name
        return self._prefix + name

    def _implementation(self, text: str) -> str:
        """Return a script path or plugin function with the namespace. Web addresses and script texts stay unchanged."""
        if not text or "\n" in text or "://" in text:
            return text
        own = self._own.get("plugins", ())
        basic = [name for name in self._basics.get("plugins", ()) if text.startswith(f"{name}.") and name not in own]
        return text if basic else self._prefix + text

    def _value(self, value: Value) -> Value:
        """Return a value whose form the grammar does not define, such as a property, with the names inside its
        functions renamed.
        """
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if not isinstance(value, dict):
            return value
        function = function_name(value)
        changed = {name: self._value(item) for name, item in value.items()}
        if function == "get_input":
            changed[function] = self._first(changed[function], frozenset())
        elif function in FUNCTIONS and FUNCTIONS[function].names_node:
            changed[function] = self._first(changed[function], REFERENCES)
        return changed

    def _first(self, argument: Value, stays: Collection[str]) -> Value:
        if isinstance(argument, list) and argument:
            return [self._first(argument[0], stays), *argument[1:]]
        if isinstance(argument, str) and argument not in stays:
            return self._prefix + argument
        return argument


def names_of(root: Value) -> dict[str, Collection[str]]:
    """Return {section: names of its elements} of a file."""
    sections = cast("Mapping[str, Value]", root if isinstance(root, dict) else {})
    return {
        section: value.keys() for section, value in sections.items() if section in NAMED and isinstance(value, dict)
    }
