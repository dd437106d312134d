"""``tasks.yaml``: tasks that run before and after the deployment's work, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from phaseline.model.packages.package import WORKFLOWS, StageTask
from phaseline.packages.format.format_versions import Format
from phaseline.packages.format.problem_report import FileElement, listed
from phaseline.packages.format.restrictions import check_condition, condition_text
from phaseline.packages.format.role_selectors import check_stage_roles, roles_of
from phaseline.packages.format.stage_numbers import mending, stage_of
from phaseline.packages.format.task_types import check_parameters
from phaseline.packages.format.value_forms import TEXTS, Form, FormKey, mapping, required, rows, text, truth

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

ELSEWHERE: Final = ("copy_files", "sync", "upload_file", "skipped", "stage", "group")
"""Types that Fuel has in ``deployment_tasks.yaml`` only."""


def check_stage_tasks(value: Any, spot: FileElement, package_format: Format) -> None:
    """Report all mistakes in a list of stage tasks."""
    rows(_task(package_format), of="tasks")(value, spot)


def _task(package_format: Format) -> Form:
    keys: dict[str, FormKey | Form] = {
        "role": required(check_stage_roles),
        "stage": required(stage_form(has_numbers=package_format.has_numbers)),
        "type": required(_type(package_format)),
        "parameters": required(lambda _value, _spot: None),
        "fail_on_error": truth,
        "condition": check_condition,
        "diagnostic_name": text(),
        "id": text(),
        "reexecute_on": TEXTS,
    }
    if package_format.is_native:
        keys["on"] = TEXTS
    whole = mapping("a task", keys)

    def check(value: Any, spot: FileElement) -> None:
        whole(value, spot)
        if isinstance(value, dict) and "parameters" in value:
            known = str(value.get("type")) if value.get("type") in package_format.stage_types else ""
            check_parameters(known, value["parameters"], spot.at("parameters"), of_stage=True)

    return check


def stage_form(*, has_numbers: bool) -> Form:
    """Return the form of a task's stage; numbers are allowed only if ``has_numbers``."""

    def check(value: Any, spot: FileElement) -> None:
        if stage_of(value, has_numbers=has_numbers) is None:
            spot.wrong("PL-F010", "is not valid", mending(value, has_numbers=has_numbers), value=value)

    return check


def _type(package_format: Format) -> Form:
    def check(value: Any, spot: FileElement) -> None:
        if value in package_format.stage_types:
            return
        mend = f"use {listed(package_format.stage_types)}"
        if value == "reboot":
            mend += "; reboot needs package_version 2.0.0 or higher"
        elif value in ELSEWHERE:
            mend += f"; {value} belongs into deployment_tasks.yaml, from package_version 3.0.0 on"
        else:
            mend += spot.nearest(value, package_format.stage_types)
        spot.wrong("PL-F013", "is no type of a task here", mend, value=value)

    return check


def made_stage_tasks(
    rows_of: Sequence[Mapping[str, Any]], plugin: str, version: str, default_on: tuple[str, ...] = WORKFLOWS
) -> tuple[StageTask, ...]:
    """Return the stage tasks for the rows of a checked file. ``default_on``: workflows of tasks that name none."""
    return tuple(_made(row, plugin, version, place, default_on) for place, row in enumerate(rows_of))


def _made(row: Mapping[str, Any], plugin: str, version: str, index: int, default_on: tuple[str, ...]) -> StageTask:
    stage = stage_of(row["stage"])
    assert stage is not None
    parameters: Mapping[str, Value] = row["parameters"]
    return StageTask(
        stage.name,
        stage.number,
        plugin,
        version,
        index,
        row["type"],
        roles_of(row["role"]),
        parameters,
        row["stage"],
        row.get("fail_on_error", True),
        condition_text(row.get("condition")),
        row.get("id", ""),
        row.get("diagnostic_name", ""),
        tuple(row.get("reexecute_on", ())),
        tuple(row.get("on", default_on)),
    )
