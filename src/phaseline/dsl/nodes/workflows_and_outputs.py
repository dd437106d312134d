"""Read the workflows, outputs and capabilities of a blueprint (B23, B24)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.nodes.input_declarations import InputDeclarations
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import quoted_list
from phaseline.dsl.type_system.operation_mappings import ImplementationProblem, Mappings
from phaseline.dsl.type_system.operations import UNRESOLVED
from phaseline.model.blueprint.blueprint import Availability, Output, WorkflowMapping


def read_workflows(
    sections: MergedSections, mappings: Mappings, declarations: InputDeclarations, report: ProblemReport
) -> dict[str, WorkflowMapping]:
    """Read the declared workflows. The parameters of built-in workflows are not checked."""
    found: dict[str, WorkflowMapping] = {}
    for name, raw in sections.of("workflows").items():
        spot = sections.spot("workflows", name)
        fields = cast("dict[str, Any]", {"mapping": raw} if isinstance(raw, str) else raw)
        mapping = str(fields.get("mapping") or "")
        mapped = mappings.resolve(mapping)
        form, plugin, target = "function", "", mapping
        if not isinstance(mapped, ImplementationProblem):
            form, plugin, target = mapped
        else:
            number = UNRESOLVED["workflow"] if mapped.code in {"PL-B060", "PL-B067"} else None
            place = spot if isinstance(raw, str) else spot.at("mapping")
            report.add(mapped.code, mapped.message, mapped.mend, place, number=number)
        parameters = declarations.parameters(fields.get("parameters"), spot.at("parameters"))
        rules = _availability(fields.get("availability_rules"), spot.at("availability_rules"), report)
        cascades = fields.get("is_cascading") is True
        found[name] = WorkflowMapping(name, target, plugin, parameters, cast("Any", form), cascades, rules)
    return found


ACTIVE = ("all", "partial", "none")
"""Words for how many instances must be active before a workflow may start."""


def _availability(raw: Mapping[str, Any] | None, spot: ElementPath, report: ProblemReport) -> Availability:
    rules = raw or {}
    active = []
    for place, word in enumerate(rules.get("node_instances_active") or ()):
        if word in ACTIVE:
            active.append(word)
        else:
            mend = report.suggest(word, ACTIVE, f"write one or more of {quoted_list(ACTIVE)}")
            here = spot.at("node_instances_active", place)
            report.add("PL-B015", f"'{word}' is not a rule for how many instances are active", mend, here)
    types = tuple(rules.get("node_types_required") or ())
    return Availability(rules.get("available") is not False, tuple(active), types)


def read_outputs(sections: MergedSections, section: str, functions: FunctionCheck) -> dict[str, Output]:
    """Read the outputs or the capabilities, depending on ``section``."""
    found: dict[str, Output] = {}
    for name, raw in sections.of(section).items():
        fields = cast("Mapping[str, Any]", raw)
        value = fields.get("value")
        functions.scan(value, sections.spot(section, name).at("value"), "deployment")
        found[name] = Output(value, fields.get("description") or "")
    return found
