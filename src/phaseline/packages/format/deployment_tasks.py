"""``deployment_tasks.yaml``: granular tasks, which have names and depend on tasks of the same and of other instances."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from phaseline.lang.cycles import first_cycle
from phaseline.model.packages.package import (
    EVERYBODY,
    NOBODY,
    WORKFLOWS,
    CrossDependency,
    GranularTask,
    Roles,
    Strategy,
)
from phaseline.packages.format.format_versions import Format
from phaseline.packages.format.problem_report import FileElement, listed
from phaseline.packages.format.restrictions import check_task_condition, condition_text
from phaseline.packages.format.role_selectors import (
    check_pattern,
    check_roles,
    check_yaql,
    is_pattern,
    report_yaql,
    roles_of,
)
from phaseline.packages.format.stage_tasks import stage_form
from phaseline.packages.format.task_types import check_parameters, has_required
from phaseline.packages.format.value_forms import (
    ID,
    ID_ALLOWED,
    TEXTS,
    Form,
    FormKey,
    choice,
    mapping,
    required,
    rows,
    text,
    truth,
)

NEED_ROLES: Final = frozenset({"shell", "copy_files", "sync", "upload_file", "group"})
"""Types of tasks that must have a role in format 3.0.0."""
WITHOUT_ROLES: Final = frozenset({"stage", "skipped"})
"""Types of tasks that run nowhere and need no role."""
MAX_NAMED: Final = 20
"""Largest number of tasks that a message about a dependency cycle names."""
IN_YAQL: Final = ("condition", "requires", "required_for", "cross-depends", "cross-depended-by")
"""Keys whose value may be an expression in YAQL."""
OLD: Final = (2, 0, 0)
"""Version of a task below which the task cannot depend on tasks of other instances."""
SAY_ROLES: Final = "write role: and the roles whose instances run it, or '*' for all"
_ROLE_KEYS: Final = ("role", "roles", "groups")
_SHARE: Final = re.compile(r"-?[0-9]{1,9}|(?:100|[0-9]{1,2})%")


def check_granular_tasks(value: Any, spot: FileElement, package_format: Format) -> None:
    """Report all mistakes in a list of granular tasks: first in each task, then between tasks."""
    rows(_task(package_format), of="tasks")(value, spot)
    if isinstance(value, list):
        _check_together(value, spot)
        if package_format.number > 3:
            _check_homes(value, spot, package_format)


def _task(package_format: Format) -> Form:
    has_patterns = package_format.number >= 4
    names = rows(text(ID, ID_ALLOWED), of="ids of tasks")

    def ids(value: Any, spot: FileElement) -> None:
        if isinstance(value, dict) and "yaql_exp" in value:
            check_yaql(value, spot)
        else:
            names(value, spot)

    def roles(value: Any, spot: FileElement) -> None:
        check_roles(value, spot, has_patterns=has_patterns)

    keys: dict[str, FormKey | Form] = {
        "id": required(text(ID if not has_patterns else rf"{ID}|\*", ID_ALLOWED)),
        "type": required(_type(package_format)),
        "version": text(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}", "three numbers with dots, such as 2.0.0"),
        **dict.fromkeys(_ROLE_KEYS, roles),
        "requires": ids,
        "required_for": ids,
        "cross-depends": check_relations,
        "cross-depended-by": check_relations,
        "tasks": names,
        "stage": stage_form(has_numbers=True),
        "condition": check_task_condition,
        "reexecute_on": rows(choice("deploy_changes"), of="events"),
        "refresh_on": TEXTS,
        "fault_tolerance": _tolerance,
        "fail_on_error": truth,
        "parameters": lambda _value, _spot: None,
    }
    if package_format.is_native:
        keys["on"] = TEXTS
    whole = mapping("a task", keys)

    def check(value: Any, spot: FileElement) -> None:
        whole(value, spot)
        if isinstance(value, dict):
            _check_whole(value, spot, package_format)

    return check


def _check_whole(task: Mapping[str, Any], spot: FileElement, package_format: Format) -> None:
    """Check combinations of keys of one task."""
    task_type = task.get("type") if task.get("type") in package_format.granular_types else ""
    if "parameters" in task:
        check_parameters(str(task_type), task["parameters"], spot.at("parameters"), of_stage=False)
    elif has_required(str(task_type)):
        mend = "write 'parameters:' and its keys below"
        spot.at("parameters").wrong("PL-F005", f"the key is missing; a task of type {task_type} must have it", mend)
    if package_format.number == 3 and task_type in NEED_ROLES and not any(key in task for key in _ROLE_KEYS):
        spot.at("role").wrong("PL-F005", f"the key is missing; a task of type {task_type} must have it", SAY_ROLES)
    for key in ("cross-depends", "cross-depended-by"):
        if key in task and _version(task) < OLD:
            mend = "write version: 2.0.0 or higher; older tasks know no dependencies across instances"
            spot.at(key).odd("PL-F058", "has no effect in a task of this version", mend, point="key")


def _type(package_format: Format) -> Form:
    def check(value: Any, spot: FileElement) -> None:
        if value not in package_format.granular_types:
            hint = spot.nearest(value, package_format.granular_types)
            mend = f"use {listed(package_format.granular_types)}{hint}"
            spot.wrong("PL-F013", "is no type of a task here", mend, value=value)

    return check


def _tolerance(value: Any, spot: FileElement) -> None:
    if isinstance(value, bool) or not isinstance(value, int | str) or _SHARE.fullmatch(str(value)) is None:
        mend = "write how many instances may fail: a number, a share such as '20%', or -3 if three must succeed"
        spot.wrong("PL-F004", "is no fault tolerance", mend, value=value)


def _relation_name(value: Any, spot: FileElement) -> None:
    if isinstance(value, dict) and "yaql_exp" in value:
        report_yaql(value, spot)
    elif isinstance(value, str) and is_pattern(value):
        check_pattern(value, spot)
    else:
        text(rf"{ID}|\*", f"{ID_ALLOWED}, or a regular expression between slashes")(value, spot)


def _relation_roles(value: Any, spot: FileElement) -> None:
    if value is not None:
        check_roles(value, spot, may_be_self=True)


_RELATION: Final = mapping(
    "a dependency",
    {"name": required(_relation_name), "role": _relation_roles, "policy": choice("all", "any")},
)


def check_relations(value: Any, spot: FileElement) -> None:
    if isinstance(value, dict) and "yaql_exp" in value:
        check_yaql(value, spot)
    else:
        rows(_RELATION, of="dependencies with name, role and policy")(value, spot)


def _version(task: Mapping[str, Any]) -> tuple[int, int, int]:
    written = task.get("version", "1.0.0")
    if not isinstance(written, str) or re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){2}", written, re.ASCII) is None:
        return OLD
    return cast("tuple[int, int, int]", tuple(int(part) for part in written.split(".")))


def _check_together(tasks: Sequence[Any], spot: FileElement) -> None:
    """Check that ids are unique and no task waits for itself."""
    first: dict[str, int] = {}
    needs: dict[str, list[str]] = {}
    for place, task in enumerate(tasks):
        name = task.get("id") if isinstance(task, dict) else None
        if not isinstance(name, str):
            continue
        if name in first:
            mend = f"rename one of them; task {first[name] + 1} has this id, too"
            spot.at(place, "id").wrong("PL-F014", "is the id of another task", mend, value=name)
            continue
        first[name] = place
        needs.setdefault(name, []).extend(_texts(task.get("requires")))
        for other in _texts(task.get("required_for")):
            needs.setdefault(other, []).append(name)
    roles = {name: _names(tasks[place]) for name, place in first.items()}
    circle = first_cycle(
        {one: [other for other in others if _may_meet(roles, one, other)] for one, others in needs.items()}
    )
    if circle:
        begin = next(name for name in circle if name in first)
        way = " -> ".join((*circle[:MAX_NAMED], *(("…",) if len(circle) > MAX_NAMED else ()), circle[0]))
        mend = "take one of them out of requires or required_for"
        spot.at(first[begin], "requires").wrong("PL-F015", f"tasks wait for one another in a circle: {way}", mend)


def _check_homes(tasks: Sequence[Any], spot: FileElement, package_format: Format) -> None:
    """Warn of tasks without roles, which may run nowhere, unless a group lists the task and so gives it roles."""
    known = [task if isinstance(task, dict) else {} for task in tasks]
    listed = {name for task in known if task.get("type") == "group" for name in _texts(task.get("tasks"))}
    for place, task in enumerate(known):
        task_type = task.get("type") if task.get("type") in package_format.granular_types else ""
        is_placed = any(key in task for key in _ROLE_KEYS) or task.get("id") in listed
        if task_type and task_type not in WITHOUT_ROLES and not is_placed:
            spot.at(place).odd("PL-F055", "names no roles, so that the task may run nowhere", SAY_ROLES)


def _names(task: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the roles of a task, or None if the task may have any roles."""
    said = next((task[key] for key in ("roles", "role", "groups") if task.get(key) is not None), None)
    words = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    if not words or not all(isinstance(word, str) and re.fullmatch(ID, word) for word in words):
        return None
    return frozenset(word.removeprefix("primary-") for word in words)


def _may_meet(roles: Mapping[str, frozenset[str] | None], one: str, other: str) -> bool:
    """Return False if the tasks have no role in common: a task waits for tasks of its own instance only, so neither
    waits for the other.

    An instance may still have a role of each task. A cycle that arises from that is found when the tasks are assigned
    to instances.
    """
    mine, theirs = roles.get(one), roles.get(other)
    return mine is None or theirs is None or not mine.isdisjoint(theirs)


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def made_granular_tasks(
    rows_of: Sequence[Mapping[str, Any]], plugin: str, version: str, default_on: tuple[str, ...] = WORKFLOWS
) -> tuple[GranularTask, ...]:
    """Return the granular tasks for the rows of a checked file. ``default_on``: workflows of tasks that name none."""
    return tuple(_made(row, plugin, version, place, default_on) for place, row in enumerate(rows_of))


def _made(row: Mapping[str, Any], plugin: str, version: str, index: int, default_on: tuple[str, ...]) -> GranularTask:
    parameters = row.get("parameters") or {}
    strategy = parameters.get("strategy") or {}
    return GranularTask(
        row["id"],
        row["type"],
        plugin,
        version,
        index,
        _version(row),
        _roles(row),
        tuple(_listed(row, "requires")),
        tuple(_listed(row, "required_for")),
        crossing(_listed(row, "cross-depends")),
        crossing(_listed(row, "cross-depended-by")),
        tuple(row.get("tasks") or ()),
        row.get("stage", ""),
        condition_text(row.get("condition")),
        tuple(row.get("reexecute_on") or ()),
        tuple(row.get("refresh_on") or ()),
        Strategy(strategy.get("type", "parallel"), strategy.get("amount")),
        row.get("fault_tolerance"),
        row.get("fail_on_error", True),
        parameters,
        tuple(row.get("on", default_on)),
        {key: row[key]["yaql_exp"] for key in IN_YAQL if _is_yaql(row.get(key))},
    )


def _is_yaql(value: Any) -> bool:
    return isinstance(value, dict) and "yaql_exp" in value


def _listed(row: Mapping[str, Any], key: str) -> Sequence[Any]:
    """Return the items of the list under a key, or nothing if the key is missing or its value is an expression."""
    value = row.get(key)
    return () if value is None or _is_yaql(value) else value


def _roles(row: Mapping[str, Any]) -> Roles:
    """Return the roles of a task, from the first of the possible keys that the row has."""
    key = next((key for key in ("roles", "role", "groups") if row.get(key) is not None), None)
    return NOBODY if key is None else roles_of(row[key])


def crossing(value: Any) -> tuple[CrossDependency, ...]:
    """Return the dependencies on tasks of other instances that a checked list describes."""
    return tuple(
        CrossDependency(
            item["name"][1:-1] if is_pattern(item["name"]) else item["name"],
            roles_of(item["role"]) if "role" in item else EVERYBODY,
            item.get("policy", "all"),
            is_pattern(item["name"]),
        )
        for item in value or ()
    )
