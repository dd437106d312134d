"""Resolve node types and relationship types with everything that they inherit (B16, B17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from phaseline.dsl.functions.static_checks import DeferredCheck, FunctionCheck, Standing
from phaseline.dsl.imports.section_merge import IN_MISSING, MergedSections
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.type_system.operations import Operations, Owner, TypeOperation
from phaseline.dsl.type_system.property_schemas import Properties, Schemas
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.blueprint.blueprint import Operation, Value


@mutable
class Side:
    """The operations of a node type, or of the source or target side of a relationship type, shared by templates.

    ``open`` are operations to check in each template that inherits them: they lack required inputs,
    have unchecked functions in defaults, or have a problem.
    """

    types: Mapping[str, TypeOperation]
    plain: Mapping[str, Operation]
    has_functions: bool
    open: Mapping[str, TypeOperation]


@mutable
class ResolvedType:
    """A node type or relationship type with all it inherits. ``hierarchy`` begins with the root and ends with the type.

    ``sides`` has the operations of a node type, or those of source and target of a relationship type. ``unchecked`` is
    {property: check to make if a template uses its default}.
    """

    name: str
    hierarchy: tuple[str, ...]
    schemas: Schemas
    sides: tuple[Side, ...]
    has_functions: bool
    unchecked: Mapping[str, DeferredCheck]


_SIDES = {"node_types": ("interfaces",), "relationships": ("source_interfaces", "target_interfaces")}
_WORDS = {"node_types": "node type", "relationships": "relationship type"}


class Types:
    """The types of one section, each resolved at its first use."""

    def __init__(
        self,
        section: str,
        sections: MergedSections,
        properties: Properties,
        operations: Operations,
        functions: FunctionCheck,
        report: ProblemReport,
    ) -> None:
        """Store the readers. ``section`` is ``node_types`` or ``relationships``."""
        self._section = section
        self._owner: Owner = "node" if section == "node_types" else "relationship"
        self._sections = sections
        self._properties = properties
        self._operations = operations
        self._functions = functions
        self._report = report
        self._resolved: dict[str, ResolvedType | None] = {}
        self._open: list[str] = []

    @property
    def names(self) -> Mapping[str, Value]:
        """Return {name: declaration} of all declared types."""
        return self._sections.of(self._section)

    def is_broken(self, name: str) -> bool:
        """Return True for a type that exists but is invalid."""
        return self._sections.is_broken(self._section, name)

    def check_all(self) -> None:
        """Resolve all types in the user's files, even unused ones, to report their problems."""
        for name in self.names:
            if not self._sections.spot(self._section, name).document.is_bundled:
                self.get(name)

    def get(self, name: str) -> ResolvedType | None:
        """Return the type of this name, or None if it does not exist or is invalid."""
        if name in self._resolved:
            return self._resolved[name]
        chain = self._unresolved_chain(name)
        for link in reversed(chain):
            self._resolved[link] = self._resolve(link)
        return self._resolved.get(name)

    def _unresolved_chain(self, name: str) -> list[str]:
        """Return ``name`` and its parents that are not resolved yet, nearest first. Report a cycle and stop there."""
        chain: list[str] = []
        current: Value = name
        while isinstance(current, str) and current in self.names and current not in self._resolved:
            if current in chain:
                circle = " → ".join([*chain[chain.index(current) :], current])
                spot = self._sections.spot(self._section, current)
                self._report.add(
                    "PL-B032",
                    f"types derive from one another in a circle: {circle}",
                    "remove one of these 'derived_from' lines",
                    spot.at("derived_from"),
                )
                self._resolved.update(dict.fromkeys(chain))
                return []
            chain.append(current)
            raw = self.names[current]
            current = raw.get("derived_from") if isinstance(raw, dict) else None
        return chain

    def _resolve(self, name: str) -> ResolvedType | None:
        raw = cast("dict[str, Value]", self.names[name])
        spot = self._sections.spot(self._section, name)
        parent_name = raw.get("derived_from")
        parent = self._resolved.get(parent_name) if isinstance(parent_name, str) else None
        if isinstance(parent_name, str) and parent_name not in self.names and not self.is_broken(parent_name):
            word = _WORDS[self._section]
            mend = self._report.suggest(
                parent_name,
                self.names,
                self._import_hint(parent_name),
            )
            self._report.add(
                "PL-B031", f"the {word} '{parent_name}' to derive from does not exist", mend, spot.at("derived_from")
            )
        schemas = self._properties.schemas(
            raw.get("properties"), spot.at("properties"), parent.schemas if parent else None
        )
        if isinstance(parent_name, str) and parent is None:
            schemas.is_whole = False
        if name in self._sections.open.get(self._section, ()):
            schemas.is_whole = False
        has_functions = parent.has_functions if parent else False
        standing: Standing = "node" if self._owner == "node" else "relationship"
        unchecked = dict(parent.unchecked) if parent else {}
        for key, item in cast("dict[str, dict[str, Value]]", raw.get("properties") or {}).items():
            here = ElementPath(spot.document, (*spot.path, "properties", key, "default"))
            found, later = self._functions.scan_default((item or {}).get("default"), here, standing)
            has_functions |= found
            unchecked.pop(key, None)
            if later is not None:
                unchecked[key] = later
        sides = tuple(
            self._side(raw.get(key), parent.sides[number].types if parent else {}, spot.at(key))
            for number, key in enumerate(_SIDES[self._section])
        )
        hierarchy = (*(parent.hierarchy if parent else ()), name)
        return ResolvedType(name, hierarchy, schemas, sides, has_functions, unchecked)

    def _side(self, interfaces: Value, parent: Mapping[str, TypeOperation], spot: ElementPath) -> Side:
        types = self._operations.of_type(interfaces, parent, spot, self._owner)
        return Side(
            types,
            {name: found.operation for name, found in types.items()},
            any(found.operation.has_functions for found in types.values()),
            {name: found for name, found in types.items() if found.missing or found.later or found.fault is not None},
        )

    def unknown(self, name: str, code: str, spot: ElementPath) -> None:
        """Report a template's type that does not exist, unless the type is invalid and was reported already."""
        if name in self.names or self.is_broken(name):
            return
        word = _WORDS[self._section]
        otherwise = self._import_hint(name)
        self._report.add(
            code, f"the {word} '{name}' does not exist", self._report.suggest(name, self.names, otherwise), spot
        )

    def _import_hint(self, name: str) -> str:
        """Return advice which import probably declares a missing type."""
        if not self._sections.is_whole:
            return IN_MISSING
        if not name.startswith("cloudify."):
            return f"declare it under '{self._section}', or import the file that does"
        if not any(known.startswith("cloudify.") for known in self.names):
            return "add 'cloudify/types/types.yaml' to 'imports'"
        return "it is none of the built-in types; import the definition file of its plugin: '- plugin:NAME'"
