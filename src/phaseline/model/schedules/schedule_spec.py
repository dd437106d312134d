"""What a schedule does and when, as its author wrote it (SC1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, cast

from phaseline.lang.fast_dataclasses import as_dict, frozen

RULE_KEYS: Final = ("recurrence", "weekdays", "count", "rrule", "cron")


@frozen
class ScheduleSpec:
    """A schedule as its author wrote it.

    ``since`` and ``until`` are wall times of ``zone`` (UTC if empty) such as ``2026-01-01 07:30:00``; no ``until`` means
    no end. ``rule`` has Cloudify's words (``recurrence``, ``weekdays``, ``count``), ``rrule`` or ``cron``; empty, the
    schedule is due once. ``arguments`` are options of the execution: ``force``, ``dry_run``,
    ``allow_custom_parameters``, ``wait_after_fail``.
    """

    workflow: str
    since: str
    until: str = ""
    zone: str = ""
    rule: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    slip_min: int = 0
    stop_on_fail: bool = False
    catch_up: str = "slip"
    spread_s: int = 0


def spec_to_json(spec: ScheduleSpec) -> dict[str, Any]:
    """Return a schedule as JSON, {field: value}."""
    return {
        **as_dict(spec),
        "rule": dict(spec.rule),
        "parameters": dict(spec.parameters),
        "arguments": dict(spec.arguments),
    }


def spec_from_json(body: Mapping[str, Any]) -> ScheduleSpec:
    """Return the schedule in JSON that ``spec_to_json`` made."""
    return ScheduleSpec(**body)


def blueprint_schedules(settings: Mapping[str, Any]) -> dict[str, tuple[ScheduleSpec, bool]]:
    """Return {name: (schedule, whether it is enabled at first)} of the deployment settings of a blueprint.

    The blueprint's words ``stop_after_fail`` and ``is_dry_run`` mean ``stop_on_fail`` and ``dry_run`` (SC4).

    >>> settings = {"default_schedules": {"a": {"workflow": "pull", "since": "2026-01-01 07:30:00", "recurrence": "1d"}}}
    >>> blueprint_schedules(settings)["a"][0].rule
    {'recurrence': '1d'}
    """
    written = cast("Mapping[str, Mapping[str, Any]]", settings.get("default_schedules") or {})
    return {name: (_spec(schedule), bool(schedule.get("default_enabled", True))) for name, schedule in written.items()}


def _spec(written: Mapping[str, Any]) -> ScheduleSpec:
    arguments = dict(written.get("execution_arguments") or {})
    if "is_dry_run" in arguments:
        arguments["dry_run"] = arguments.pop("is_dry_run")
    return ScheduleSpec(
        workflow=written["workflow"],
        since=written["since"],
        until=written.get("until") or "",
        zone=written.get("timezone") or "",
        rule={key: written[key] for key in RULE_KEYS if written.get(key)},
        parameters=written.get("workflow_parameters") or {},
        arguments=arguments,
        slip_min=written.get("slip") or 0,
        stop_on_fail=bool(written.get("stop_after_fail")),
    )
