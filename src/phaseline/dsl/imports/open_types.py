"""Declare open types, which replace the types of a missing definition file (``--open-types``).

An open node type has any property and no operation of its own. Everything in the blueprint itself is still checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from phaseline.dsl.grammar.tables import BLUEPRINT, Each, Leaf, Shape, Table, TableKey, TableRows
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.primitive_types import PRIMITIVES
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.model.blueprint.blueprint import Value

ROOT = "cloudify.nodes.Root"
RELATIONSHIPS = "cloudify.relationships."
KINDS = ("contained_in", "connected_to", "depends_on")
"""Relationship types from which an open relationship type may derive.

It derives from the one with which its own name begins, otherwise from the last one.
"""
WORDS = {"node_types": "node type", "relationships": "relationship type", "data_types": "data type"}
MEND = "if the missing definition has it: phaseline plugins install --definition-only FILE"


def declare_open_types(sections: MergedSections, report: ProblemReport) -> None:
    """Declare an open type for every node type and relationship type that is used but not declared, and warn of it.

    Warn of unknown data types, too; their values are not checked.
    """
    sections.is_open = True
    found: dict[tuple[str, str], ElementPath] = {}
    for section, name, spot in _all_references(sections):
        if section in WORDS and not _is_known(sections, section, name):
            found.setdefault((section, name), spot)
    for (section, name), spot in found.items():
        taken = "any value" if section == "data_types" else "any property, and no operation of its own"
        if section == "data_types":
            sections.broken.setdefault(section, set()).add(name)
        else:
            parent = ROOT if section == "node_types" else RELATIONSHIPS + _kind(name)
            known = parent in sections.of(section)
            sections.elements.setdefault(section, {})[name] = {"derived_from": parent} if known else {}
            sections.origins.setdefault(section, {})[name] = spot.document
            sections.open.setdefault(section, set()).add(name)
            taken += f", derived from '{parent}'" if section == "relationships" else ""
        message = f"the {WORDS[section]} '{name}' is declared nowhere; it is taken as open: {taken}"
        report.warn(
            "PL-B125", message, report.suggest(name, _beside(sections, section, name), MEND), spot, point="value"
        )


def _beside(sections: MergedSections, section: str, name: str) -> list[str]:
    """Return the declared names that have the same prefix as ``name``, to be suggested for it.

    Names with another prefix are not suggested, even if their ends are similar.
    """
    family = name.rpartition(".")[0]
    declared = (other for other in sections.of(section) if other not in sections.open.get(section, ()))
    return [other for other in declared if other.rpartition(".")[0] == family]


def _kind(name: str) -> str:
    return next((kind for kind in KINDS if name.rpartition(".")[2].startswith(kind)), KINDS[-1])


def _is_known(sections: MergedSections, section: str, name: str) -> bool:
    if section == "data_types" and name in PRIMITIVES:
        return True
    return name in sections.of(section) or sections.is_broken(section, name)


def _all_references(sections: MergedSections) -> Iterator[tuple[str, str, ElementPath]]:
    """Yield (section, name, position) of every reference to an element in the blueprint's own files."""
    for section, elements in list(sections.elements.items()):
        shape = BLUEPRINT.keys[section].shape
        for name, value in list(elements.items()):
            spot = sections.spot(section, name)
            if not spot.document.is_bundled and isinstance(shape, Each):
                yield from _references(shape.of, value, spot, "")


def _references(shape: Shape, value: Value, spot: ElementPath, refers: str) -> Iterator[tuple[str, str, ElementPath]]:
    if isinstance(shape, Leaf):
        if refers and isinstance(value, str):
            yield refers, value, spot
    elif isinstance(shape, TableRows):
        for place, item in enumerate(value if isinstance(value, list) else []):
            yield from _references(shape.of, item, spot.at(place), refers)
    elif isinstance(value, dict):
        for name, item in value.items():
            key = shape.keys[name] if isinstance(shape, Table) else TableKey(shape.of, refers=refers)
            yield from _references(key.shape, item, spot.at(name), key.refers)
