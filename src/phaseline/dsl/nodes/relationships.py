"""Read the relationships of node templates (B17, B18)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.grammar.tables import numbered
from phaseline.dsl.imports.section_merge import IN_MISSING, MergedSections
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import quoted_list
from phaseline.dsl.type_system.inheritance import complete_and_scan, side_operations
from phaseline.dsl.type_system.operations import Operations
from phaseline.dsl.type_system.property_schemas import Properties
from phaseline.dsl.type_system.type_hierarchy import ResolvedType, Types
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Relationship, Value

CONTAINED_IN = "cloudify.relationships.contained_in"
ON_OPERATION = "cloudify.relationships.depends_on_lifecycle_operation"
LIFECYCLE = "cloudify.interfaces.lifecycle"
ROOTS = (
    "cloudify.relationships.depends_on",
    "cloudify.relationships.connected_to",
    CONTAINED_IN,
)
_NO_INTERFACES: Mapping[str, Value] = {}


class Relationships:
    """Builds the relationships of node templates. Equal ones that give only type and target share one object."""

    def __init__(
        self,
        sections: MergedSections,
        types: Types,
        builders: tuple[Properties, Operations, FunctionCheck, ProblemReport],
    ) -> None:
        """Take the readers and checkers (``builders``) that all parts of the blueprint share."""
        self._templates: Collection[str] = sections.of("node_templates")
        self._sections = sections
        self._types = types
        self._properties, self._operations, self._functions, self._report = builders
        self._plain: dict[tuple[str, str], Relationship] = {}
        self._patterns: dict[str, Relationship] = {}

    def of_template(self, items: Value, owner: str, spot: ElementPath) -> tuple[Relationship, ...]:
        """Read the relationships of the template ``owner``, in order."""
        if not isinstance(items, list):
            return ()
        found: list[Relationship] = []
        containers: list[int] = []
        for place, item in numbered(items):
            fields = cast("dict[str, Any]", item)
            relationship = self._known(fields, owner) or self._relationship(fields, owner, spot.at(place))
            if relationship is None:
                continue
            found.append(relationship)
            if relationship.is_containment:
                containers.append(place)
        for place in containers[1:]:
            self._report.add(
                "PL-B043",
                f"'{owner}' is contained in more than one node",
                "keep one relationship of contained_in",
                spot.at(place),
            )
        return tuple(found)

    def _known(self, fields: Mapping[str, Any], owner: str) -> Relationship | None:
        """Return a shared object for a relationship that gives only type and target, or None if there is none yet.

        If there is one of the same type with another target, a copy of it with the new target becomes the shared
        object.
        """
        if len(fields) != 2 or fields["target"] == owner:
            return None
        key = (fields["type"], fields["target"])
        known = self._plain.get(key)
        if known is None and key[0] in self._patterns and key[1] in self._templates:
            pattern = self._patterns[key[0]]
            known = self._plain[key] = altered(pattern, target=key[1])
        return known

    def _relationship(self, fields: Mapping[str, Any], owner: str, spot: ElementPath) -> Relationship | None:
        type_name, target = fields["type"], fields["target"]
        kind = self._types.get(type_name)
        if kind is None:
            self._types.unknown(type_name, "PL-B040", spot.at("type"))
        is_target_known = self._check_target(target, owner, spot)
        if kind is None or not is_target_known:
            return None
        if not any(root in kind.hierarchy for root in ROOTS):
            if kind.schemas.is_whole:
                self._report.add(
                    "PL-B045",
                    f"the relationship type '{type_name}' derives from none of {quoted_list(ROOTS)}",
                    f"write 'derived_from: {ROOTS[0]}' in the type",
                    spot.at("type"),
                )
            return None
        found_before = self._report.errors_count
        relationship = self._build(kind, target, fields, owner, spot)
        if ON_OPERATION in kind.hierarchy:
            self._check_operation(relationship, spot)
        elif len(fields) == 2 and self._report.errors_count == found_before:
            self._plain[type_name, target] = self._patterns[type_name] = relationship
        return relationship

    def _check_target(self, target: str, owner: str, spot: ElementPath) -> bool:
        if target == owner:
            self._report.add(
                "PL-B042",
                f"'{owner}' has a relationship to itself",
                "name another node, or remove it",
                spot.at("target"),
            )
            return False
        if target not in self._templates:
            if not self._sections.is_broken("node_templates", target):
                otherwise = "name a node of 'node_templates'" if self._sections.is_whole else IN_MISSING
                mend = self._report.suggest(target, self._templates, otherwise)
                self._report.add("PL-B041", f"there is no node '{target}' to be the target", mend, spot.at("target"))
            return False
        return True

    def _build(
        self, kind: ResolvedType, target: str, fields: Mapping[str, Any], owner: str, spot: ElementPath
    ) -> Relationship:
        here = spot.at("properties")
        properties, has_functions = complete_and_scan(
            self._properties, self._functions, kind, fields.get("properties") or {}, here, ("relationship", owner)
        )
        sides = []
        for side, key in zip(kind.sides, ("source_interfaces", "target_interfaces"), strict=True):
            operations, have = side_operations(
                self._operations, side, fields.get(key) or _NO_INTERFACES, spot.at(key), ("relationship", owner)
            )
            sides.append(operations)
            has_functions |= have
        connection = properties.get("connection_type", "all_to_all")
        return Relationship(
            kind.name, kind.hierarchy, target, properties, sides[0], sides[1], str(connection), has_functions
        )

    def _check_operation(self, relationship: Relationship, spot: ElementPath) -> None:
        """Check that ``depends_on_lifecycle_operation`` names an operation that the target's template defines."""
        name = relationship.properties.get("operation")
        if not name or not isinstance(name, str):
            if not isinstance(name, dict):
                self._report.add(
                    "PL-B046",
                    "the relationship needs the operation to wait for",
                    "add 'properties: {operation: create}' (or another one)",
                    spot,
                    number=215,
                )
            return
        template = self._sections.of("node_templates").get(relationship.target)
        interfaces = template.get("interfaces") if isinstance(template, dict) else None
        lifecycle = interfaces.get(LIFECYCLE) if isinstance(interfaces, dict) else None
        defined = lifecycle if isinstance(lifecycle, dict) else {}
        if name.removeprefix(f"{LIFECYCLE}.") not in defined:
            otherwise = f"it defines {quoted_list(defined)}" if defined else f"map it under '{LIFECYCLE}' of that node"
            self._report.add(
                "PL-B046",
                f"the node '{relationship.target}' does not define '{name}' in {LIFECYCLE}",
                self._report.suggest(name, defined, otherwise),
                spot.at("properties", "operation"),
                number=216,
            )
