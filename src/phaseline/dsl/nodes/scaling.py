"""Read how many instances a node or a scaling group may have (B19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.functions.static_checks import FunctionCheck
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import word_for
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.blueprint import Value

UNBOUNDED = -1
_LOWEST = {"default_instances": 0, "min_instances": 0, "max_instances": 1}
MAX_INSTANCES = 10_000_000
"""Largest number of instances that one node may ask for."""


class Counts(NamedTuple):
    """Default, smallest and largest number of instances; each may be a function until inputs are given."""

    default: Value = 1
    least: Value = 0
    most: Value = UNBOUNDED


class CountProblem(NamedTuple):
    """An invalid instance count: property name, our problem code, Cloudify's error number, message and remedy."""

    name: str
    code: str
    number: int
    message: str
    mend: str


ONE = Counts()


def read_counts(
    template: Mapping[str, Value], spot: ElementPath, report: ProblemReport, functions: FunctionCheck, own: str
) -> Counts:
    """Return the instance counts that a node template gives under ``instances`` or ``capabilities.scalable``."""
    if "instances" in template and "capabilities" in template:
        mend = "keep 'capabilities'; 'instances' is the older form"
        report.add(
            "PL-B051",
            "a node has either 'instances' or 'capabilities', not both",
            mend,
            spot.at("instances"),
            point="key",
        )
        return ONE
    if "instances" in template:
        raw: Mapping[str, Value] = {"default_instances": cast("dict[str, Value]", template["instances"])["deploy"]}
        places = {"default_instances": spot.at("instances", "deploy")}
    else:
        scalable = cast("dict[str, dict[str, dict[str, Value]]]", template["capabilities"]).get("scalable") or {}
        raw = scalable.get("properties") or {}
        base = spot.at("capabilities", "scalable", "properties")
        places = {name: base.at(name) for name in raw}
    return read_properties(raw, places, spot, report, lambda value, place: functions.scan(value, place, "node", own))


def read_properties(
    raw: Mapping[str, Value],
    places: Mapping[str, ElementPath],
    spot: ElementPath,
    report: ProblemReport,
    scan: Callable[[Value, ElementPath], object],
) -> Counts:
    """Read and check the instance counts among the properties of ``scalable``.

    ``places`` is {property: its position in the document}; ``spot`` is the position for a property that is not written.
    """
    found: dict[str, Value] = {}
    for name, value in raw.items():
        if name not in _LOWEST:
            mend = report.suggest(name, _LOWEST, "known are default_instances, min_instances and max_instances")
            report.add("PL-B035", f"'{name}' is not a property of scalable", mend, places[name], point="key")
        else:
            scan(value, places[name])
            found[name] = value
    counts = Counts(
        found.get("default_instances", 1), found.get("min_instances", 0), found.get("max_instances", UNBOUNDED)
    )
    checked, complaints = check_counts(counts)
    for complaint in complaints:
        place = places.get(complaint.name, spot)
        report.add(complaint.code, complaint.message, complaint.mend, place, number=complaint.number)
    return checked


def check_counts(counts: Counts) -> tuple[Counts, list[CountProblem]]:
    """Return (the counts with ``UNBOUNDED`` as a number and default values in place of invalid ones, the problems).
    Counts that are functions are not checked.
    """
    complaints: list[CountProblem] = []
    values: list[Value] = []
    for (name, lowest), value in zip(_LOWEST.items(), counts, strict=True):
        good = UNBOUNDED if value == "UNBOUNDED" and name == "max_instances" else value
        complaint = _complaint(name, lowest, good)
        if complaint is not None:
            complaints.append(complaint)
            good = ONE[len(values)]
        values.append(good)
    default, least, most = values
    if not complaints and isinstance(least, int) and isinstance(default, int) and least > default:
        complaints.append(
            CountProblem(
                "min_instances",
                "PL-B050",
                207,
                f"min_instances {least} is more than default_instances {default}",
                "raise default_instances",
            )
        )
    if not complaints and isinstance(default, int) and isinstance(most, int) and most != UNBOUNDED and default > most:
        complaints.append(
            CountProblem(
                "max_instances",
                "PL-B050",
                207,
                f"default_instances {default} is more than max_instances {most}",
                "raise max_instances, or write UNBOUNDED",
            )
        )
    if not complaints and isinstance(least, int) and isinstance(most, int) and most != UNBOUNDED and least > most:
        complaints.append(
            CountProblem(
                "max_instances",
                "PL-B050",
                207,
                f"min_instances {least} is more than max_instances {most}",
                "raise max_instances, or write UNBOUNDED",
            )
        )
    return Counts(default, least, most), complaints


def _complaint(name: str, lowest: int, value: Value) -> CountProblem | None:
    if is_function(value):
        return None
    if isinstance(value, dict):
        return CountProblem(
            name,
            "PL-B050",
            210,
            f"{name} is a mapping that is no function",
            "write a whole number or a function such as {get_input: count}",
        )
    if isinstance(value, str):
        mend = "write a whole number without quotes" + (", or UNBOUNDED" if name == "max_instances" else "")
        return CountProblem(name, "PL-B050", 208, f"{name} '{value}' is not a number", mend)
    if not isinstance(value, int) or isinstance(value, bool):
        return CountProblem(
            name, "PL-B050", 207, f"{name} is {word_for(value)}, not a whole number", "write a whole number"
        )
    if name == "max_instances" and value == UNBOUNDED:
        return None
    if value < lowest:
        return CountProblem(name, "PL-B050", 207, f"{name} {value} is less than {lowest}", f"write {lowest} or more")
    if value > MAX_INSTANCES:
        return CountProblem(name, "PL-B050", 207, f"{name} {value} is more than {MAX_INSTANCES:,}", "ask for fewer")
    return None
