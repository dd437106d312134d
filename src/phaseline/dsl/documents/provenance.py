"""Find where each property, operation and relationship of a node is written, and which values it overrides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from phaseline.dsl.documents.value_origins import (
    Contribution,
    Kind,
    PropertyLayers,
    lineage,
    property_contributions,
    shares,
)
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.document import Document
from phaseline.dsl.text.positions import Positions, dotted
from phaseline.dsl.text.problem_report import ElementPath, Path
from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Value
from phaseline.model.blueprint.provenance import Explained, Piece, ValueOrigin
from phaseline.model.problems.problem import Place

WORDS: Mapping[Kind, str] = {
    "template": "the template",
    "node_types": "node type",
    "relationships": "relationship type",
    "data_types": "data type",
}


def explain(blueprint: Blueprint, sections: MergedSections, name: str) -> Explained:
    """Return the origins of all values of the node ``name``, which must exist."""
    return _Explaining(blueprint, sections).node(blueprint.nodes[name])


class _Explaining:
    """Explains one node. The positions in each file are computed once, for all values of the node."""

    def __init__(self, blueprint: Blueprint, sections: MergedSections) -> None:
        self._blueprint = blueprint
        self._sections = sections
        self._positions: dict[int, Positions] = {}
        self._documents: dict[str, Document] = {}

    def node(self, node: Node) -> Explained:
        spot = self._sections.spot("node_templates", node.name)
        template = cast("dict[str, Value]", self._sections.of("node_templates")[node.name])
        pieces = [
            *self._properties(("properties",), "node_types", node.type, node.properties, template, spot),
            *self._counts(node, template, spot),
            *self._operations((), "interfaces", "node_types", node.type, node.operations, template, spot),
            *self._relationships(node, template, spot),
        ]
        types = self._types("node_types", node.type)
        place = self._place(spot, is_key=True)
        return Explained(node.name, node.type, place, types, pieces, self._imports())

    # -- the parts --------------------------------------------------------------------------------------------------

    def _properties(
        self,
        base: Path,
        section: Kind,
        kind: str,
        merged: Mapping[str, Value],
        written: Mapping[str, Value],
        spot: ElementPath,
    ) -> Iterator[Piece]:
        inherited = property_contributions(self._sections, section, kind)
        own = cast("Mapping[str, Value]", written.get("properties") or {})
        for name, value in merged.items():
            given = inherited.get(name) or PropertyLayers([])
            if name in own:
                here = Contribution("template", str(spot.path[1]), own[name], spot.at("properties", name))
                given = PropertyLayers([*given.contributions, here], given.is_structured)
            for path, part, givers in shares(value, given, (*base, name)):
                yield self._piece(path, part, givers, spot)

    def _operations(
        self,
        base: Path,
        key: str,
        section: Kind,
        kind: str,
        merged: Mapping[str, Operation],
        written: Mapping[str, Value],
        spot: ElementPath,
    ) -> Iterator[Piece]:
        """Yield the fields of every operation that is implemented or that the template mentions, each field with its
        origins.
        """
        declared: dict[str, tuple[str, Value, ElementPath]] = {}
        for owner, raw, here in lineage(self._sections, section, kind):
            for full, item, at in _each_operation(raw.get(key), here.at(key)):
                declared[full] = (owner, item, at)
        own = {full: (item, at) for full, item, at in _each_operation(written.get(key), spot.at(key))}
        for full, operation in merged.items():
            if not operation.is_implemented and full not in own:
                continue
            givers: list[tuple[Kind, str, Value, ElementPath]] = []
            if full in declared:
                givers.append((section, *declared[full]))
            if full in own:
                givers.append(("template", str(spot.path[1]), *own[full]))
            path = (*base, key, full)
            yield from self._operation(path, givers, spot)

    def _operation(
        self, path: Path, givers: Sequence[tuple[Kind, str, Value, ElementPath]], spot: ElementPath
    ) -> Iterator[Piece]:
        fields: dict[Path, list[Contribution]] = {}
        for kind, owner, raw, here in givers:
            is_type = kind != "template"
            text = raw if isinstance(raw, str) else cast("dict[str, Value]", raw or {}).get("implementation")
            before = fields.get(("implementation",))
            if not is_type and not (before and _extends(text, before[-1].value, raw)):
                fields = {("implementation",): before} if before and text else {}
            if isinstance(raw, str):
                fields.setdefault(("implementation",), []).append(Contribution(kind, owner, raw, here))
                continue
            for name, value in cast("dict[str, Value]", raw or {}).items():
                if name == "inputs" and isinstance(value, dict):
                    for each, item in value.items():
                        at = here.at("inputs", each)
                        if is_type and isinstance(item, dict) and "default" in item:
                            item, at = item["default"], at.at("default")
                        elif is_type:
                            continue
                        fields.setdefault(("inputs", each), []).append(Contribution(kind, owner, item, at))
                elif name != "inputs" and value is not None and (name != "implementation" or value):
                    fields.setdefault((name,), []).append(Contribution(kind, owner, value, here.at(name)))
        for field, found in fields.items():
            yield self._piece((*path, *field), found[-1].value, found[::-1], spot)
        if not fields and givers:
            kind, owner, _, here = givers[-1]
            yield Piece(dotted(path), None, self._origin(kind, owner, here), ())

    def _relationships(self, node: Node, template: Mapping[str, Value], spot: ElementPath) -> Iterator[Piece]:
        places = self._relationship_spots(node.name, spot)
        written = cast("list[dict[str, Value]]", template.get("relationships") or [])
        for number, (relationship, raw, here) in enumerate(zip(node.relationships, written, places, strict=True)):
            base: Path = ("relationships", number)
            for name in ("type", "target"):
                origin = self._origin("template", node.name, here.at(name))
                yield Piece(dotted((*base, name)), raw[name], origin)
            kind = relationship.type
            properties = relationship.properties
            yield from self._properties((*base, "properties"), "relationships", kind, properties, raw, here)
            for key, operations in (
                ("source_interfaces", relationship.source_operations),
                ("target_interfaces", relationship.target_operations),
            ):
                yield from self._operations(base, key, "relationships", kind, operations, raw, here)

    def _relationship_spots(self, name: str, spot: ElementPath) -> list[ElementPath]:
        """Return the positions of a template's relationships, those in the template's own file first."""
        found: list[ElementPath] = []
        for document in [spot.document, *(each for each in self._sections.documents if each is not spot.document)]:
            root = document.root if isinstance(document.root, dict) else {}
            templates = root.get("node_templates")
            own = templates.get(document.own_name(name)) if isinstance(templates, dict) else None
            rows = own.get("relationships") if isinstance(own, dict) else None
            here = ElementPath(document, ("node_templates", name, "relationships"))
            found += [here.at(number) for number in range(len(rows) if isinstance(rows, list) else 0)]
        return found

    def _counts(self, node: Node, template: Mapping[str, Value], spot: ElementPath) -> Iterator[Piece]:
        instances = template.get("instances")
        if isinstance(instances, dict):
            origin = self._origin("template", node.name, spot.at("instances", "deploy"))
            yield Piece("instances.deploy", node.default_instances, origin)
        capabilities = cast("dict[str, dict[str, dict[str, Value]]]", template.get("capabilities") or {})
        for name, value in ((capabilities.get("scalable") or {}).get("properties") or {}).items():
            path = ("capabilities", "scalable", "properties", name)
            yield Piece(dotted(path), value, self._origin("template", node.name, spot.at(*path)))

    # -- origins and places ----------------------------------------------------------------------------------------------

    def _piece(self, path: Path, value: Value, givers: Sequence[Contribution], spot: ElementPath) -> Piece:
        """Return a value with its origins.

        ``givers`` are the contributions to the value, the effective one first. If empty, the template gives the value.
        """
        origins = [self._origin(each.kind, each.owner, each.spot) for each in givers]
        first = origins[0] if origins else self._origin("template", str(spot.path[1]), spot)
        return Piece(dotted(path), value, first, tuple(origins[1:]))

    def _origin(self, kind: Kind, owner: str, spot: ElementPath) -> ValueOrigin:
        return ValueOrigin(WORDS[kind], owner, self._place(spot))

    def _types(self, section: Kind, name: str) -> list[ValueOrigin]:
        line = lineage(self._sections, section, name)
        return [ValueOrigin(WORDS[section], owner, self._place(spot, is_key=True)) for owner, _, spot in reversed(line)]

    def _place(self, spot: ElementPath, *, is_key: bool = False) -> Place:
        document = spot.document
        self._documents.setdefault(document.name, document)
        positions = self._positions.setdefault(id(document), Positions(document))
        return positions.place(spot.path, "key" if is_key else "value")

    def _imports(self) -> dict[str, Place]:
        """Return {file: position of the line that imports it} for each imported file that contributed a value.

        Also return the files that import these files.
        """
        found: dict[str, Place] = {}
        waiting = list(self._documents.values())
        while waiting:
            document = waiting.pop()
            line = document.line
            if line is not None and document.name not in found:
                found[document.name] = self._place(line.spot)
                waiting.append(line.spot.document)
        return found


def _extends(text: Value, inherited: Value, raw: Value) -> bool:
    """Return True if a template's operation is merged with that of its type, False if it replaces it (B32)."""
    says = not isinstance(raw, dict) or any(value not in ("", None, {}) for value in raw.values())
    return says and (not text or text == inherited)


def _each_operation(interfaces: Value, spot: ElementPath) -> Iterator[tuple[str, Value, ElementPath]]:
    for interface, operations in cast("Mapping[str, Mapping[str, Value]]", interfaces or {}).items():
        for name, raw in operations.items():
            yield f"{interface}.{name}", raw, spot.at(interface, name)
