"""What a blueprint has beside its nodes: inputs, plugins, workflows, outputs (B13, B22-B24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from phaseline.dsl.functions.checking import FunctionCheck
from phaseline.dsl.merging import Sections
from phaseline.dsl.mappings import Mappings, Wrong
from phaseline.dsl.operations import EXECUTORS, UNRESOLVED
from phaseline.dsl.properties import Properties
from phaseline.dsl.report import Report, Spot
from phaseline.dsl.suggestions import listing
from phaseline.model.blueprint import Availability, Output, Plugin, PropertySchema, WorkflowMapping


def read_inputs(sections: Sections, properties: Properties, report: Report) -> dict[str, PropertySchema]:
    """The declared inputs, their defaults checked."""
    found: dict[str, PropertySchema] = {}
    for name, raw in sections.of("inputs").items():
        spot = sections.spot("inputs", name)
        fields = cast("dict[str, Any]", raw)
        schema = properties.schema(fields, spot)
        if schema.default is not None:
            properties.fits(schema, schema.default, spot.at("default"))
        if schema.hidden and schema.required and schema.default is None:
            report.add(
                "PL-B083",
                f"The hidden input '{name}' is required and has no default",
                "Give it a default, or write 'required: false'.",
                spot,
                point="key",
            )
        if "display" in fields and schema.type != "textarea":
            report.add(
                "PL-B014",
                "'display' belongs to inputs of type textarea only",
                "Write 'type: textarea', or remove 'display'.",
                spot.at("display"),
                point="key",
                number=216,
            )
        found[name] = schema
    return found


def read_plugins(sections: Sections, report: Report) -> dict[str, Plugin]:
    """The declared plugins."""
    found: dict[str, Plugin] = {}
    for name, raw in sections.of("plugins").items():
        spot = sections.spot("plugins", name)
        fields = cast("dict[str, Any]", raw)
        executor = fields.get("executor")
        if executor not in EXECUTORS:
            mend = report.suggest(str(executor), EXECUTORS, f"Write {EXECUTORS[0]} or {EXECUTORS[1]}.")
            report.add("PL-B064", f"'{executor}' is not an executor", mend, spot.at("executor"), number=18)
            executor = EXECUTORS[0]
        install = fields.get("install") is not False
        if install and not fields.get("source") and not fields.get("package_name"):
            report.add(
                "PL-B068",
                f"The plugin '{name}' is to be installed but has neither source nor package_name",
                "Add 'package_name: …', or write 'install: false'.",
                spot,
                point="key",
            )
        found[name] = Plugin(
            name,
            cast("Any", executor),
            fields.get("source"),
            install,
            fields.get("package_name"),
            fields.get("package_version"),
        )
    return found


def read_workflows(
    sections: Sections, mappings: Mappings, properties: Properties, functions: FunctionCheck, report: Report
) -> dict[str, WorkflowMapping]:
    """The declared workflows; those of the built-in types are not checked."""
    found: dict[str, WorkflowMapping] = {}
    for name, raw in sections.of("workflows").items():
        spot = sections.spot("workflows", name)
        fields = cast("dict[str, Any]", {"mapping": raw} if isinstance(raw, str) else raw)
        mapping = str(fields.get("mapping") or "")
        mapped = mappings.resolve(mapping)
        form, plugin, target = "function", "", mapping
        if not isinstance(mapped, Wrong):
            form, plugin, target = mapped
        elif not spot.document.is_bundled:
            number = UNRESOLVED["workflow"] if mapped.code in {"PL-B060", "PL-B067"} else None
            place = spot if isinstance(raw, str) else spot.at("mapping")
            report.add(mapped.code, mapped.message, mapped.mend, place, number=number)
        parameters = {}
        for key, item in cast("dict[str, Any]", fields.get("parameters") or {}).items():
            here = spot.at("parameters", key)
            schema = parameters[key] = properties.schema(item, here)
            if schema.default is not None and not spot.document.is_bundled:
                properties.fits(schema, schema.default, here.at("default"))
                functions.scan(schema.default, here.at("default"), "deployment")
        rules = _availability(fields.get("availability_rules"), spot.at("availability_rules"), report)
        cascades = fields.get("is_cascading") is True
        found[name] = WorkflowMapping(name, target, plugin, parameters, cast("Any", form), cascades, rules)
    return found


ACTIVE = ("all", "partial", "none")
"""How much of a deployment may be running when a workflow starts."""


def _availability(raw: Mapping[str, Any] | None, spot: Spot, report: Report) -> Availability:
    rules = raw or {}
    active = []
    for place, word in enumerate(rules.get("node_instances_active") or ()):
        if word in ACTIVE:
            active.append(word)
        else:
            mend = report.suggest(word, ACTIVE, f"Write one or more of {listing(ACTIVE)}.")
            here = spot.at("node_instances_active", place)
            report.add("PL-B015", f"'{word}' does not say how many instances are active", mend, here)
    types = tuple(rules.get("node_types_required") or ())
    return Availability(rules.get("available") is not False, tuple(active), types)


def read_outputs(sections: Sections, section: str, functions: FunctionCheck) -> dict[str, Output]:
    """The outputs or capabilities."""
    found: dict[str, Output] = {}
    for name, raw in sections.of(section).items():
        fields = cast("Mapping[str, Any]", raw)
        value = fields.get("value")
        functions.scan(value, sections.spot(section, name).at("value"), "deployment")
        found[name] = Output(value, fields.get("description") or "")
    return found
