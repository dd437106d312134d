"""Labels, settings and tags of a deployment (B25-B27)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from phaseline.dsl.functions.checking import FunctionCheck
from phaseline.dsl.functions.table import function_name, is_function
from phaseline.dsl.merging import Sections
from phaseline.dsl.report import Report, Spot
from phaseline.dsl.suggestions import listing
from phaseline.dsl.words import word_for
from phaseline.model.blueprint import Value

WEEKDAYS = ("su", "mo", "tu", "we", "th", "fr", "sa")
_AT = re.compile(r"([0-9]{4}-[0-9]{1,2}-[0-9]{1,2} )?[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?")
_SPAN = re.compile(r"[0-9]+ ?(min(ute)?|h(our)?|d(ay)?|w(eek)?|mo(nth)?|y(ear)?)s?")
_LATER = re.compile(rf"(\+{_SPAN.pattern} ?)+")
_TIMEZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]*")


def read_labels(
    sections: Sections, section: Literal["labels", "blueprint_labels"], functions: FunctionCheck, report: Report
) -> dict[str, Sequence[Value]]:
    """{key: values}. Those of a blueprint are texts; those of a deployment may be functions that need nothing running."""
    found: dict[str, Sequence[Value]] = {}
    for name, raw in sections.of(section).items():
        spot = sections.spot(section, name).at("values")
        values = cast("dict[str, list[Value]]", raw)["values"]
        for place, value in enumerate(values):
            here = spot.at(place)
            if section == "labels" and is_function(value):
                functions.scan(value, here, "deployment")
                _check_lasting(value, here, f"The label '{name}'", report)
            elif not isinstance(value, str):
                wanted = "text" if section == "blueprint_labels" else "text or a function"
                message = f"A value of the label '{name}' is {word_for(value)}, not {wanted}"
                report.add("PL-B158", message, "Put it into quotes, or remove it.", here)
        found[name] = values
    return found


def read_settings(sections: Sections, functions: FunctionCheck, report: Report) -> dict[str, Value]:
    """The deployment settings, times and functions checked."""
    settings = cast("dict[str, Any]", sections.single.get("deployment_settings") or {})
    spot = Spot(sections.main, ("deployment_settings",))
    name = settings.get("display_name")
    if is_function(name):
        functions.scan(name, spot.at("display_name"), "deployment")
    elif name is not None and not isinstance(name, str):
        message = f"The display name is {word_for(name)}, not text or a function"
        report.add("PL-B015", message, "Put it into quotes.", spot.at("display_name"))
    for key, schedule in cast("dict[str, dict[str, Any]]", settings.get("default_schedules") or {}).items():
        _check_schedule(schedule, spot.at("default_schedules", key), functions, report)
    return settings


def read_tags(sections: Sections, functions: FunctionCheck) -> dict[str, Value]:
    """{name: value}, for whoever makes something in a cloud."""
    tags = sections.of("resource_tags")
    for name, value in tags.items():
        functions.scan(value, sections.spot("resource_tags", name), "deployment")
    return tags


def _check_schedule(schedule: Mapping[str, Any], spot: Spot, functions: FunctionCheck, report: Report) -> None:
    for key in ("since", "until"):
        text = schedule.get(key)
        if text is not None and not (_AT.fullmatch(text) or _LATER.fullmatch(text)):
            mend = "Write 'YYYY-MM-DD HH:MM', 'HH:MM', or a time from now on such as '+2 weeks' or '+1day+10min'."
            report.add("PL-B159", f"'{text}' is no time", mend, spot.at(key))
    every = schedule.get("recurrence")
    if every is not None and not _SPAN.fullmatch(every):
        mend = "Write a number and a unit, such as '2 weeks', '30 min', '1d' or '1mo'."
        report.add("PL-B159", f"'{every}' is no span of time", mend, spot.at("recurrence"))
    zone = schedule.get("timezone")
    if zone is not None and not _TIMEZONE.fullmatch(zone):
        report.add("PL-B159", f"'{zone}' is no timezone", "Write one such as Europe/Paris.", spot.at("timezone"))
    for place, day in enumerate(schedule.get("weekdays") or ()):
        if not re.fullmatch(r"([1-4]|l-)?([a-z]{2})", day.lower()) or day.lower()[-2:] not in WEEKDAYS:
            mend = (
                f"Days are {listing(WEEKDAYS)}; 1 to 4 before one is the first to fourth of the month, 'l-' the last."
            )
            report.add("PL-B159", f"'{day}' is no weekday", mend, spot.at("weekdays", place))
    parameters = schedule.get("workflow_parameters") or {}
    here = spot.at("workflow_parameters")
    functions.scan(parameters, here, "deployment")
    _check_lasting(parameters, here, "A parameter of a schedule", report)


def _check_lasting(value: Value, spot: Spot, what: str, report: Report) -> None:
    """What is kept when the deployment is made cannot ask what runs in it."""
    if any(
        function_name(part) in {"get_attribute", "get_attributes_list", "get_attributes_dict"} for part in _parts(value)
    ):
        message = f"{what} is kept when the deployment is made, and its instances have no attributes by then"
        report.add("PL-B158", message, "Use an input or a property.", spot)


def _parts(value: Value) -> Iterator[Value]:
    """A value and everything in it."""
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(part)
