"""Find what types, data types and templates contribute to one merged value, from lowest to highest priority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, cast

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.problem_report import ElementPath, Path
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.blueprint import Value

Kind = Literal["template", "node_types", "relationships", "data_types"]
"""Kind of a contribution's owner: a template, or a type of one of these sections."""


class Contribution(NamedTuple):
    """A value that a type or template (``owner``) adds at ``path`` inside a merged value."""

    kind: Kind
    owner: str
    value: Value
    spot: ElementPath
    path: Path = ()

    def at(self, key: str) -> Contribution | None:
        """Return what this contribution adds at one key of the merged value, or None if it adds nothing there."""
        if self.path:
            return self._replace(path=self.path[1:]) if self.path[0] == key else None
        if isinstance(self.value, dict) and not is_function(self.value) and key in self.value:
            return self._replace(value=self.value[key], spot=self.spot.at(key))
        return None


def lineage(sections: MergedSections, section: Kind, name: str) -> list[tuple[str, Mapping[str, Value], ElementPath]]:
    """Return (name, declaration, position) of a type and of the types it derives from, the root type first."""
    found: list[tuple[str, Mapping[str, Value], ElementPath]] = []
    known = sections.of(section)
    current: Value = name
    while isinstance(current, str) and isinstance(raw := known.get(current), dict):
        found.append((current, raw, sections.spot(section, current)))
        current = raw.get("derived_from")
    return found[::-1]


class PropertyLayers(NamedTuple):
    """Contributions to one property, from lowest to highest priority.

    ``is_structured`` is True if the property has a data type, so that its value is merged key by key.
    """

    contributions: list[Contribution]
    is_structured: bool = False


def property_contributions(sections: MergedSections, section: Kind, name: str) -> dict[str, PropertyLayers]:
    """Return {property: the contributions of a type, its parents and its data types}.

    If a type declares a property of its parent again, the parent's contributions count only if the data type is equal.
    """
    found: dict[str, PropertyLayers] = {}
    kinds: dict[str, Value] = {}
    for owner, raw, spot in lineage(sections, section, name):
        declared = cast("Mapping[str, Mapping[str, Value]]", raw.get("properties") or {})
        for key, item in declared.items():
            fields = item or {}
            kind = fields.get("type")
            is_structured = isinstance(kind, str) and kind in sections.of("data_types")
            if not is_structured or kinds.get(key) != kind:
                inner = list(_of_data_type(sections, cast("str", kind))) if is_structured else []
                found[key] = PropertyLayers(inner, is_structured)
            kinds[key] = kind
            if "default" in fields:
                here = spot.at("properties", key, "default")
                found[key].contributions.append(Contribution(section, owner, fields["default"], here))
    return found


def _of_data_type(sections: MergedSections, name: str) -> Iterator[Contribution]:
    """Yield the defaults of a data type's properties, each with its path inside the value."""
    for owner, raw, spot in lineage(sections, "data_types", name):
        for key, item in cast("Mapping[str, Mapping[str, Value]]", raw.get("properties") or {}).items():
            fields = item or {}
            kind = fields.get("type")
            if isinstance(kind, str) and kind in sections.of("data_types"):
                for inner in _of_data_type(sections, kind):
                    yield inner._replace(path=(key, *inner.path))
            if "default" in fields:
                yield Contribution(
                    "data_types", owner, fields["default"], spot.at("properties", key, "default"), (key,)
                )


def shares(value: Value, given: PropertyLayers, path: Path = ()) -> Iterator[tuple[Path, Value, list[Contribution]]]:
    """Split a merged value into parts that come from different contributions.

    Yield (path, value, contributions with the effective one first) for each part.
    """
    if given.is_structured:
        mappings = [each for each in given.contributions if each.path or _is_mapping(each.value)]
        if _is_mapping(value) and value and (len(mappings) > 1 or any(each.path for each in mappings)):
            for key, item in cast("dict[str, Value]", value).items():
                parts = [part for each in mappings if (part := each.at(key)) is not None]
                yield from shares(item, PropertyLayers(parts, is_structured=True), (*path, key))
            return
    yield path, value, given.contributions[::-1]


def _is_mapping(value: Value) -> bool:
    return isinstance(value, dict) and not is_function(value)
