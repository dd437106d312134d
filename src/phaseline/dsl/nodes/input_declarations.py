"""Read the values that users give: inputs of a blueprint and parameters of its workflows (B13, B14, B23)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from phaseline.dsl.functions.registry import contains_functions
from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.primitive_types import OBJECT_TYPES, PRIMITIVES
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import quoted_list
from phaseline.dsl.type_system.constraints import wrong_constraint
from phaseline.dsl.type_system.property_schemas import Properties
from phaseline.dsl.type_system.value_checks import checked_value
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import PropertySchema, Value

_MESSAGES_SINCE = 5
"""Minor DSL version that introduced ``error_message`` in constraints."""


class InputDeclarations:
    """Reads declarations of inputs and parameters, and checks default values like values that a user gives."""

    def __init__(
        self, sections: MergedSections, properties: Properties, functions: FunctionCheck, report: ProblemReport
    ) -> None:
        """Take the objects that all readers of one blueprint share."""
        self._sections = sections
        self._properties = properties
        self._functions = functions
        self._report = report

    def inputs(self) -> dict[str, PropertySchema]:
        """Read and check the declared inputs."""
        found: dict[str, PropertySchema] = {}
        for name, raw in self._sections.of("inputs").items():
            spot = self._sections.spot("inputs", name)
            fields = cast("dict[str, Any]", raw)
            schema = found[name] = self._declared(fields, spot)
            if schema.hidden and schema.required and not schema.has_default:
                self._report.add(
                    "PL-B083",
                    f"the hidden input '{name}' is required and has no default",
                    "give it a default, or write 'required: false'",
                    spot,
                    point="key",
                )
            if "display" in fields and schema.type != "textarea":
                self._report.add(
                    "PL-B094",
                    f"'display' belongs to inputs of type textarea, '{name}' is of type {schema.type or 'any'}",
                    "write 'type: textarea', or remove 'display'",
                    spot.at("display"),
                    point="key",
                )
        return found

    def parameters(self, raw: Mapping[str, Any] | None, spot: ElementPath) -> dict[str, PropertySchema]:
        """Read the declared parameters of one workflow; those of built-in workflows are not checked."""
        found: dict[str, PropertySchema] = {}
        for name, fields in (raw or {}).items():
            here = spot.at(name)
            if spot.document.is_bundled:
                found[name] = self._properties.schema(fields, here)
            else:
                found[name] = self._declared(fields, here)
                self._functions.scan(found[name].default, here.at("default"), "deployment")
        return found

    def _declared(self, fields: Mapping[str, Any], spot: ElementPath) -> PropertySchema:
        before = self._report.errors_count
        schema = self._properties.schema(cast("Value", fields), spot)
        self._check_items(schema, spot)
        for number, written in enumerate(schema.constraints):
            self._check_constraint(written, spot.at("constraints", number))
        if schema.default is not None and self._report.errors_count == before:
            fits = self._properties.fits(schema, schema.default, spot.at("default"))
            if fits and (schema.constraints or schema.item_type):
                self._check_default(schema, spot.at("default"))
        return schema

    def _check_items(self, schema: PropertySchema, spot: ElementPath) -> None:
        if schema.item_type is None:
            return
        here = spot.at("item_type")
        if schema.type != "list":
            message = f"'item_type' belongs to lists, this is of type {schema.type or 'any'}"
            self._report.add(
                "PL-B089", message, "write 'type: list', or remove 'item_type'", here, point="key", number=218
            )
        elif schema.item_type not in PRIMITIVES:
            mend = self._report.suggest(schema.item_type, PRIMITIVES, f"write one of {quoted_list(PRIMITIVES)}")
            self._report.add("PL-B089", f"'{schema.item_type}' is no type that items of a list can have", mend, here)
        elif schema.item_type in OBJECT_TYPES:
            self._report.gate(schema.item_type, self._sections.minor, PRIMITIVES[schema.item_type], here)

    def _check_constraint(self, written: Mapping[str, Value], spot: ElementPath) -> None:
        minor = self._sections.minor
        wrong = wrong_constraint(written, has_message=minor is None or minor >= _MESSAGES_SINCE)
        if wrong is not None:
            place = spot if wrong.key is None else spot.at(wrong.key)
            point: Any = "key" if wrong.number in {102, 103} and wrong.key is not None else "value"
            codes = {102: "PL-B013", 1: "PL-B015"}
            code = codes.get(wrong.number, "PL-B087")
            self._report.add(code, wrong.message, wrong.mend, place, point=point, number=wrong.number)

    def _check_default(self, schema: PropertySchema, spot: ElementPath) -> None:
        known = [item for item in schema.constraints if not contains_functions(dict(item))]
        _, complaints = checked_value(
            altered(schema, constraints=tuple(known)) if not contains_functions(schema.default) else schema,
            schema.default,
            {},
        )
        codes = {"function": "PL-B093", "constraint": "PL-B088"}
        for complaint in complaints:
            code = codes.get(complaint.kind, "PL-B034")
            self._report.add(code, f"the default {complaint.message}", complaint.mend, spot.at(*complaint.path))
