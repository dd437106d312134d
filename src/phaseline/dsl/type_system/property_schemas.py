"""Read declared properties, and check the values given to them (B11, B12, B15)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, cast

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.primitive_types import CHECKS, EXAMPLES, PRIMITIVES
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import quoted_list, word_for
from phaseline.dsl.type_system.value_checks import EXTERNAL
from phaseline.lang.fast_dataclasses import altered, mutable
from phaseline.model.blueprint.blueprint import DataType, PropertySchema, Value

MAX_NESTED = 100
"""Largest depth of data types that derive from others or have properties of other data types."""
MAX_DEFAULTS = 100_000
"""Largest number of values in all defaults of one data type."""


@mutable
class Schemas:
    """Declared properties, prepared for checking many values.

    ``checks`` has only properties whose type needs a check. ``is_whole`` is False if a declaration is broken; then no
    property is reported as undeclared. ``lacking`` is {property whose type is a data type: required parts that its
    default does not give}. ``size`` is the number of values in the defaults.
    """

    declared: Mapping[str, PropertySchema]
    defaults: Mapping[str, Value]
    required: frozenset[str]
    checks: Mapping[str, Callable[[Value], bool]]
    structured: Mapping[str, Structure]
    is_whole: bool = True
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    size: int = 0


@mutable
class Structure:
    """A data type with its properties resolved."""

    name: str
    schemas: Schemas
    hierarchy: tuple[str, ...] = field(default=())


class Properties:
    """Builds schemas with the data types of the blueprint, and checks values against them."""

    def __init__(self, sections: MergedSections, report: ProblemReport) -> None:
        """Store the sections. Data types are resolved when they are first needed."""
        self._sections = sections
        self._report = report
        self._types: dict[str, Structure] = {}
        self._open: list[str] = []

    def check_all_data_types(self) -> None:
        """Resolve all data types in the user's files, even unused ones, to report their problems."""
        for name in self._sections.of("data_types"):
            spot = self._sections.spot("data_types", name)
            if name in PRIMITIVES:
                self._report.add(
                    "PL-B038",
                    f"'{name}' is a primitive type and cannot be declared again",
                    "choose another name",
                    spot,
                    point="key",
                )
            elif not spot.document.is_bundled:
                self.data_type(name)

    def data_type(self, name: str) -> Structure | None:
        """Return the data type of this name, or None if it does not exist or is invalid."""
        if name in self._types:
            return self._types[name]
        raw = self._sections.of("data_types").get(name)
        if not isinstance(raw, dict):
            return None
        spot = self._sections.spot("data_types", name)
        if name in self._open:
            circle = " → ".join([*self._open[self._open.index(name) :], name])
            self._report.add(
                "PL-B032",
                f"data types depend on one another in a circle: {circle}",
                "remove one of these dependencies",
                spot,
                point="key",
            )
            return None
        if len(self._open) >= MAX_NESTED:
            self._too_large(f"data types are nested more than {MAX_NESTED} levels deep", spot)
            return None
        self._open.append(name)
        parent = self._parent(raw, spot)
        inherited = parent.schemas if parent else None
        schemas = self.schemas(raw.get("properties"), spot.at("properties"), inherited)
        if "derived_from" in raw and parent is None:
            schemas.is_whole = False
        self._open.pop()
        if schemas.size > MAX_DEFAULTS:
            self._too_large(f"the defaults of '{name}' have more than {MAX_DEFAULTS:,} values", spot)
            schemas.defaults, schemas.lacking, schemas.size = {}, {}, 0
        found = Structure(name, schemas, (*(parent.hierarchy if parent else ()), name))
        self._types[name] = found
        return found

    def _too_large(self, message: str, spot: ElementPath) -> None:
        self._report.add("PL-B007", message, "nest fewer data types within one another", spot, point="key")

    def used(self) -> dict[str, DataType]:
        """Return the data types of the user's files, and the built-in ones used so far, as a blueprint stores them."""
        found = {}
        for name, kind in self._types.items():
            schemas = kind.schemas
            properties = {
                key: _with_default(schema, schemas.defaults[key]) if key in schemas.defaults else schema
                for key, schema in schemas.declared.items()
            }
            raw = cast("dict[str, Value]", self._sections.of("data_types")[name])
            found[name] = DataType(name, properties, kind.hierarchy, str(raw.get("description") or ""))
        return found

    def _parent(self, raw: Mapping[str, Value], spot: ElementPath) -> Structure | None:
        name = raw.get("derived_from")
        if not isinstance(name, str):
            return None
        if name not in self._sections.of("data_types") and not self._sections.is_broken("data_types", name):
            mend = self._report.suggest(name, self._sections.of("data_types"), "declare it under 'data_types'")
            self._report.add(
                "PL-B031", f"the data type '{name}' to derive from does not exist", mend, spot.at("derived_from")
            )
        return self.data_type(name)

    def schema(self, raw: Value, spot: ElementPath) -> PropertySchema:
        """Return the schema of one declared property (``raw``), and report an unknown type."""
        fields = cast("dict[str, Any]", raw if isinstance(raw, dict) else {})
        kind = fields.get("type")
        if isinstance(kind, str) and PRIMITIVES.get(kind, 1):
            self._check_type_name(kind, spot.at("type"))
        return PropertySchema(
            type=kind if isinstance(kind, str) else None,
            default=fields.get("default"),
            has_default="default" in fields,
            required=fields.get("required") is not False,
            description=str(fields.get("description") or ""),
            hidden=fields.get("hidden") is True,
            display_label=str(fields.get("display_label") or ""),
            item_type=fields.get("item_type"),
            constraints=tuple(fields.get("constraints") or ()),
            display_rows=(fields.get("display") or {}).get("rows"),
        )

    def _check_type_name(self, kind: str, spot: ElementPath) -> None:
        since = PRIMITIVES.get(kind)
        if since is not None:
            minor = None if spot.document.is_bundled else self._sections.minor
            self._report.gate(kind, minor, since, spot)
        elif kind not in self._sections.of("data_types") and not self._sections.is_broken("data_types", kind):
            known = [*PRIMITIVES, *self._sections.of("data_types")]
            mend = self._report.suggest(
                kind, known, f"known are {quoted_list(PRIMITIVES)} and the data types of the blueprint"
            )
            self._report.add("PL-B033", f"the type '{kind}' does not exist", mend, spot)

    def schemas(self, raw: Value, spot: ElementPath, parent: Schemas | None) -> Schemas:
        """Return the properties declared in ``raw`` together with those of ``parent``, and check their defaults."""
        declared = dict(parent.declared) if parent else {}
        own = raw if isinstance(raw, dict) else {}
        structured = dict(parent.structured) if parent else {}
        for name, item in own.items():
            schema = self.schema(item, spot.at(name))
            kind = self.data_type(schema.type) if schema.type is not None and schema.type not in PRIMITIVES else None
            inherited = declared.get(name)
            if kind is not None:
                structured[name] = kind
                if inherited is not None and inherited.type == schema.type and isinstance(inherited.default, dict):
                    schema = _with_default(
                        schema, _over(inherited.default, schema.default if schema.has_default else {})
                    )
            else:
                structured.pop(name, None)
            declared[name] = schema
        checks = {name: CHECKS[schema.type] for name, schema in declared.items() if schema.type in CHECKS}
        for name in own:
            schema = declared[name]
            if schema.has_default and schema.default is not None:
                self._check(schema, structured.get(name), schema.default, spot.at(name, "default"), is_partial=True)
        defaults: dict[str, Value] = {}
        lacking: dict[str, tuple[str, ...]] = {}
        size = 0
        for name, schema in declared.items():
            kind = structured.get(name)
            if kind is not None and not is_function(schema.default):
                whole = defaults[name] = _over(
                    dict(kind.schemas.defaults), schema.default if schema.has_default else {}
                )
                size += kind.schemas.size + 1
                if open_parts := _open_parts(kind.schemas, whole):
                    lacking[name] = open_parts
            elif schema.has_default:
                defaults[name] = schema.default
                size += 1
        required = frozenset(name for name, schema in declared.items() if schema.required and name not in defaults)
        is_whole = parent is None or parent.is_whole
        return Schemas(declared, defaults, required, checks, structured, is_whole, lacking, size)

    def complete(
        self, schemas: Schemas, given: Mapping[str, Value], spot: ElementPath, owner: str, *, is_partial: bool = False
    ) -> dict[str, Value]:
        """Return the given values completed with defaults, and check them. ``owner`` names their element in messages.

        ``spot`` is the position of the properties. With ``is_partial``, missing parts are allowed (defaults of data
        types).
        """
        merged = {**schemas.defaults, **given}
        declared, checks = schemas.declared, schemas.checks
        for name, value in given.items():
            if name not in declared:
                if schemas.is_whole:
                    self._undeclared(name, declared, spot, owner)
            elif name in schemas.structured:
                merged[name] = self._structured(schemas, name, value, spot.at(name), is_partial=is_partial)
            elif name in checks and not checks[name](value) and not is_function(value):
                self._mismatch(declared[name].type or "", value, spot.at(name))
        if not is_partial:
            if not schemas.required <= merged.keys():
                self._missing(schemas.required - merged.keys(), merged, spot, owner)
            if schemas.lacking:
                for name, parts in schemas.lacking.items():
                    if name not in given:
                        self._missing([f"{name}.{part}" for part in parts], merged, spot, owner)
        return merged

    def check_external(self, merged: Mapping[str, Value], spot: ElementPath) -> None:
        """Report a function as value of ``use_external_resource``, because its value must be known during reading."""
        if is_function(merged.get(EXTERNAL)):
            self._report.add(
                "PL-B037", f"'{EXTERNAL}' cannot be given by a function", "write true or false", spot.at(EXTERNAL)
            )

    def fits(self, schema: PropertySchema, value: Value, spot: ElementPath) -> bool:
        """Return True if a value fits its schema; otherwise report the problem."""
        before = self._report.errors_count
        kind = self.data_type(schema.type) if schema.type is not None and schema.type not in PRIMITIVES else None
        self._check(schema, kind, value, spot, is_partial=False)
        return self._report.errors_count == before

    def _check(
        self, schema: PropertySchema, kind: Structure | None, value: Value, spot: ElementPath, *, is_partial: bool
    ) -> None:
        if is_function(value):
            return
        if kind is not None:
            if isinstance(value, dict):
                self.complete(kind.schemas, value, spot, f"the data type '{kind.name}'", is_partial=is_partial)
            else:
                self._mismatch(kind.name, value, spot)
        elif schema.type in CHECKS and not CHECKS[schema.type](value):
            self._mismatch(schema.type, value, spot)

    def _structured(self, schemas: Schemas, name: str, value: Value, spot: ElementPath, *, is_partial: bool) -> Value:
        if is_function(value):
            return value
        kind = schemas.structured[name]
        if not isinstance(value, dict):
            self._mismatch(kind.name, value, spot)
            return value
        whole = _over(schemas.defaults.get(name), value)
        assert isinstance(whole, dict)
        self.complete(
            kind.schemas, value if is_partial else whole, spot, f"the data type '{kind.name}'", is_partial=is_partial
        )
        return whole

    def _undeclared(self, name: str, declared: Mapping[str, PropertySchema], spot: ElementPath, owner: str) -> None:
        from phaseline.dsl.grammar.shape_fixes import right_property

        otherwise = f"declared are {quoted_list(declared)}" if declared else "it declares no properties"
        self._report.add(
            "PL-B035",
            f"'{name}' is not a property of {owner}",
            right_property(name) or self._report.suggest(name, declared, otherwise),
            spot.at(name),
            point="key",
        )

    def _mismatch(self, kind: str, value: Value, spot: ElementPath) -> None:
        shown = (
            f"'{value}'"
            if isinstance(value, str)
            else str(value)
            if isinstance(value, int | float)
            else word_for(value)
        )
        self._report.add(
            "PL-B034",
            f"{shown} is not of type {kind}",
            f"write {EXAMPLES.get(kind, f'a mapping with the keys of {kind}')}",
            spot,
        )

    def _missing(self, names: Iterable[str], merged: Mapping[str, Value], spot: ElementPath, owner: str) -> None:
        if merged.get(EXTERNAL) is True:
            return
        for name in sorted(names):
            self._report.add(
                "PL-B036",
                f"the required property '{name}' of {owner} is missing",
                f"add '{name}: …' under properties",
                spot,
                point="key",
            )


def _with_default(schema: PropertySchema, default: Value) -> PropertySchema:
    return altered(schema, default=default, has_default=True)


def _open_parts(schemas: Schemas, whole: Value) -> tuple[str, ...]:
    """Return the dotted names of required parts that are missing in a value whose defaults are already filled in."""
    if not isinstance(whole, dict) or whole.get(EXTERNAL) is True:
        return ()
    found = sorted(schemas.required - whole.keys())
    for name, kind in schemas.structured.items():
        if name in whole:
            found += [f"{name}.{part}" for part in _open_parts(kind.schemas, whole[name])]
    return tuple(found)


def _over(under: Value, value: Value) -> Value:
    """Return ``value`` merged over ``under``: key by key if both are mappings and not functions, else ``value``."""
    if not isinstance(under, dict) or not isinstance(value, dict) or is_function(value) or is_function(under):
        return under if value is None else value
    return {**under, **{name: _over(under.get(name), item) for name, item in value.items()}}
