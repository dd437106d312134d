"""Conditions and restrictions in the files of packages.

A restriction can be written in three forms: a condition; ``condition: message``; or a mapping with the keys
``condition``, ``message`` and ``action``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from phaseline.model.packages.package import Restriction
from phaseline.packages.format.condition_language import Models, holds, parsed
from phaseline.packages.format.problem_report import FileElement
from phaseline.packages.format.role_selectors import check_yaql, report_yaql
from phaseline.packages.format.value_forms import choice, mapping, required, rows, text
from phaseline.packages.languages.slow_languages import ConditionError

ACTIONS: Final = ("disable", "hide", "enable", "none")


def check_task_condition(value: Any, spot: FileElement) -> None:
    """Check the condition of a task, which may also be an expression in YAQL."""
    if isinstance(value, dict) and "yaql_exp" in value:
        check_yaql(value, spot)
    else:
        check_condition(value, spot)


def check_condition(value: Any, spot: FileElement) -> None:
    """Check a condition: a text in the condition language, or true or false."""
    if isinstance(value, bool):
        return
    if isinstance(value, dict) and "yaql_exp" in value:
        report_yaql(value, spot)
    elif not isinstance(value, str):
        spot.wrong(
            "PL-F004", "is no condition", "write one as a text: settings:storage.ceph.value == true", value=value
        )
    else:
        try:
            parsed(value)
        except ConditionError as error:
            spot.wrong("PL-F030", f"cannot be read: {error.reason}", error.mend, value=value)


def condition_text(value: Any) -> str:
    """Return the text of a checked condition, or an empty text if there is no condition."""
    return "" if value is None or isinstance(value, dict) else str(value).lower() if isinstance(value, bool) else value


_FULL: Final = mapping(
    "a restriction", {"condition": required(check_condition), "message": text(), "action": choice(*ACTIONS)}
)


def check_restrictions(value: Any, spot: FileElement) -> None:
    """Check a list of restrictions, each in one of the three forms that the module describes."""
    rows(_check_one, least=1, of="restrictions")(value, spot)


def _check_one(value: Any, spot: FileElement) -> None:
    if isinstance(value, str | bool):
        check_condition(value, spot)
    elif isinstance(value, dict) and "condition" in value:
        _FULL(value, spot)
    elif not isinstance(value, dict):
        mend = "write a condition, a mapping with condition, message and action, or 'condition: message'"
        spot.wrong("PL-F031", "is no restriction", mend, value=value)
    elif len(value) != 1:
        mend = "write one condition and its message; for more of them more items of the list"
        spot.wrong("PL-F031", f"has {len(value)} conditions; the short form has one", mend, value=value)
    else:
        ((condition, message),) = value.items()
        check_condition(condition, spot)
        text()(message, spot.at(condition))


def made_restrictions(value: Any) -> tuple[Restriction, ...]:
    """Return the restrictions of a list that has been checked."""
    return tuple(_made(item) for item in value or ())


def _made(item: Any) -> Restriction:
    if not isinstance(item, dict):
        return Restriction(condition_text(item))
    if "condition" not in item:
        ((condition, message),) = item.items()
        return Restriction(condition, message)
    return Restriction(condition_text(item["condition"]), item.get("message", ""), item.get("action", "disable"))


def in_force(restrictions: Sequence[Restriction], models: Models) -> tuple[Restriction, ...]:
    """Return the restrictions whose condition is true; an unknown value counts as null."""
    return tuple(each for each in restrictions if holds(each.condition, models))
