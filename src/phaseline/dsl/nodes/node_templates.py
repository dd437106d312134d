"""Build the nodes of a blueprint: merge node templates with their types, and check them (B12, B18, B32)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.nodes.relationships import Relationships
from phaseline.dsl.nodes.scaling import ONE, read_counts
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.type_system.inheritance import complete_and_scan, side_operations
from phaseline.dsl.type_system.operations import Operations
from phaseline.dsl.type_system.property_schemas import Properties
from phaseline.dsl.type_system.type_hierarchy import ResolvedType, Types
from phaseline.model.blueprint.blueprint import Node, Relationship
from phaseline.model.problems.problem import Place


class Templates:
    """Builds nodes from node templates."""

    def __init__(
        self,
        sections: MergedSections,
        types: Types,
        relationships: Relationships,
        builders: tuple[Properties, Operations, FunctionCheck, ProblemReport],
    ) -> None:
        """Take the readers and checkers (``builders``) that all parts of the blueprint share."""
        self._sections = sections
        self._types = types
        self._relationships = relationships
        self._properties, self._operations, self._functions, self._report = builders

    def nodes(self) -> dict[str, Node]:
        """Return all nodes of known types, in the order of the templates. Their hosts are not set yet."""
        found: dict[str, Node] = {}
        origins = self._sections.origins.get("node_templates", {})
        for name, template in self._sections.of("node_templates").items():
            document = origins[name]
            fields = cast("dict[str, Any]", template)
            spot = ElementPath(document, ("node_templates", name))
            type_name = fields.get("type")
            kind = self._types.get(type_name) if isinstance(type_name, str) else None
            if kind is None:
                self._without_type(name, fields, spot)
                continue
            line, column = document.mark("node_templates", name)
            place = Place(document.name, line, column, f"node_templates.{name}")
            found[name] = self._node(name, kind, fields, spot, place)
        return found

    def _without_type(self, name: str, fields: Mapping[str, Any], spot: ElementPath) -> None:
        """Report a template whose type is unknown, and check its relationships nevertheless."""
        type_name = fields.get("type")
        if isinstance(type_name, str):
            self._types.unknown(type_name, "PL-B030", spot.at("type"))
        else:
            self._report.add("PL-B016", "'type' is missing in a node template", "add 'type: …'", spot, point="key")
        self._relationships.of_template(fields.get("relationships"), name, spot.at("relationships"))

    def _node(self, name: str, kind: ResolvedType, fields: Mapping[str, Any], spot: ElementPath, place: Place) -> Node:
        properties, has_functions = complete_and_scan(
            self._properties,
            self._functions,
            kind,
            fields.get("properties") or {},
            spot.at("properties"),
            ("node", name),
        )
        operations, operations_have = side_operations(
            self._operations, kind.sides[0], fields.get("interfaces"), spot.at("interfaces"), ("node", name)
        )
        relationships: tuple[Relationship, ...] = ()
        if "relationships" in fields:
            relationships = self._relationships.of_template(fields["relationships"], name, spot.at("relationships"))
        counts = ONE
        if "instances" in fields or "capabilities" in fields:
            counts = read_counts(fields, spot, self._report, self._functions, name)
        return Node(
            name,
            kind.name,
            kind.hierarchy,
            properties,
            operations,
            relationships,
            None,
            counts.default,
            counts.least,
            counts.most,
            has_functions
            or operations_have
            or (relationships != () and any(item.has_functions for item in relationships))
            or (counts is not ONE and not all(isinstance(count, int) for count in counts)),
            place,
            self._restricted(fields, spot) if "restricted_actions" in fields else (),
        )

    def _restricted(self, fields: Mapping[str, Any], spot: ElementPath) -> tuple[str, ...]:
        """Return the actions that the template forbids, in a fixed order. Report an unknown action as PL-B129."""
        from phaseline.model.deployment.restrictions import RESTRICTABLE, mending

        said = fields["restricted_actions"]
        for at, word in enumerate(said):
            if word not in RESTRICTABLE:
                message = f"the action '{word}' cannot be forbidden"
                self._report.add("PL-B129", message, mending(word), spot.at("restricted_actions", at))
        return tuple(action for action in RESTRICTABLE if action in said)
