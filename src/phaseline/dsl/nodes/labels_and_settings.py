"""Labels, settings and tags of a deployment (B25-B27)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, cast

from phaseline.dsl.functions.registry import function_name, is_function
from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import word_for
from phaseline.model.blueprint.blueprint import Value


def read_labels(
    sections: MergedSections,
    section: Literal["labels", "blueprint_labels"],
    functions: FunctionCheck,
    report: ProblemReport,
) -> dict[str, Sequence[Value]]:
    """Return {label: values}.

    A blueprint label must be text. A deployment label may also be a function that does not read instances.
    """
    found: dict[str, Sequence[Value]] = {}
    if not sections.of(section):
        return found
    from phaseline.model.blueprint.label_rules import InvalidLabelError, valid_key  # many blueprints have no labels

    for name, raw in sections.of(section).items():
        spot = sections.spot(section, name).at("values")
        values = list(cast("dict[str, list[Value]]", raw)["values"])
        key = name
        try:
            key = valid_key(name)
        except InvalidLabelError as error:
            report.add("PL-B158", f"'{name}' is no label: {error}", "choose another key", sections.spot(section, name))
        for place, value in enumerate(values):
            here = spot.at(place)
            if section == "labels" and is_function(value):
                functions.scan(value, here, "deployment")
                _check_lasting(value, here, f"the label '{name}'", report)
            elif not isinstance(value, str):
                wanted = "text" if section == "blueprint_labels" else "text or a function"
                message = f"a value of the label '{name}' is {word_for(value)}, not {wanted}"
                report.add("PL-B158", message, "put it into quotes, or remove it", here)
            else:
                values[place] = _valid_value(value, key, here, report)
        found[key] = [*found.get(key, ()), *values]  # keys in other letters are one key
    return found


def _valid_value(value: str, key: str, spot: ElementPath, report: ProblemReport) -> str:
    """Return the value of a label as it is stored (LB1), or report why it cannot be one."""
    from phaseline.model.blueprint.label_rules import InvalidLabelError, valid_value

    try:
        return valid_value(value, key)
    except InvalidLabelError as error:
        report.add("PL-B158", f"a value of the label '{key}' is not valid: {error}", "change it, or remove it", spot)
        return value


def read_settings(
    sections: MergedSections, workflows: Collection[str], functions: FunctionCheck, report: ProblemReport
) -> dict[str, Value]:
    """Return the deployment settings after a check of their functions. In schedules, times with a date are converted to
    UTC.

    ``workflows`` are the names of all workflows, which schedules may start.
    """
    settings = cast("dict[str, Any]", sections.single.get("deployment_settings") or {})
    spot = ElementPath(sections.main, ("deployment_settings",))
    name = settings.get("display_name")
    if is_function(name):
        functions.scan(name, spot.at("display_name"), "deployment")
    elif name is not None and not isinstance(name, str):
        message = f"the display name is {word_for(name)}, not text or a function"
        report.add("PL-B015", message, "put it into quotes", spot.at("display_name"))
    for place, group in enumerate(settings.get("default_groups") or ()):
        here = spot.at("default_groups", place)
        if is_function(group):
            functions.scan(group, here, "deployment")
        elif not isinstance(group, str):
            message = f"a group of deployments is {word_for(group)}, not text or a function"
            report.add("PL-B015", message, "put it into quotes", here)
    schedules = cast("dict[str, dict[str, Any]]", settings.get("default_schedules") or {})
    if not schedules:
        return settings
    from phaseline.dsl.nodes.schedules import read_schedule  # few blueprints have any

    read: dict[str, Value] = {}
    for key, schedule in schedules.items():
        here = spot.at("default_schedules", key)
        read[key] = read_schedule(schedule, here, report)
        _check_call(schedule, here, workflows, functions, report)
    return {**settings, "default_schedules": read}


def read_tags(sections: MergedSections, functions: FunctionCheck) -> dict[str, Value]:
    """Return {name: value} of the tags that resources created in a cloud get."""
    tags = sections.of("resource_tags")
    for name, value in tags.items():
        functions.scan(value, sections.spot("resource_tags", name), "deployment")
    return tags


def _check_call(
    schedule: dict[str, Any],
    spot: ElementPath,
    workflows: Collection[str],
    functions: FunctionCheck,
    report: ProblemReport,
) -> None:
    """Check the workflow that a schedule starts, and the parameters given to it."""
    name = schedule["workflow"]
    if name not in workflows:
        mend = report.suggest(name, workflows, "name a workflow of the blueprint")
        report.warn("PL-B159", f"there is no workflow '{name}' for this schedule", mend, spot.at("workflow"))
    parameters, here = schedule.get("workflow_parameters") or {}, spot.at("workflow_parameters")
    functions.scan(parameters, here, "deployment")
    _check_lasting(parameters, here, "a parameter of a schedule", report)


def _check_lasting(value: Value, spot: ElementPath, what: str, report: ProblemReport) -> None:
    """Report a value that asks for attributes of instances, although it is evaluated when the deployment is made."""
    if any(
        function_name(part) in {"get_attribute", "get_attributes_list", "get_attributes_dict"} for part in _parts(value)
    ):
        message = f"{what} is kept when the deployment is made, and its instances have no attributes by then"
        report.add("PL-B158", message, "use an input or a property", spot)


def _parts(value: Value) -> Iterator[Value]:
    """Yield a value and all values nested in it."""
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(part)
