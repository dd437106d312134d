"""``node_roles.yaml``: roles that a package brings, with how many instances may have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from phaseline.model.packages.package import InstanceLimits, LimitOverride, NodeRole
from phaseline.packages.format.condition_language import parsed
from phaseline.packages.format.format_versions import Format
from phaseline.packages.format.problem_report import FileElement
from phaseline.packages.format.restrictions import (
    check_condition,
    check_restrictions,
    condition_text,
    made_restrictions,
)
from phaseline.packages.format.value_forms import (
    ID,
    ID_ALLOWED,
    TEXTS,
    each,
    mapping,
    required,
    rows,
    text,
    truth,
    whole,
)
from phaseline.packages.languages.slow_languages import ConditionError


def _amount(value: Any, spot: FileElement) -> None:
    """Check a number, or an expression that gives a number."""
    if isinstance(value, str):
        try:
            parsed(value)
        except ConditionError as error:
            spot.wrong("PL-F030", f"cannot be read: {error.reason}", error.mend, value=value)
    elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
        mend = "write a whole number of at least 0, or an expression that gives one"
        spot.wrong("PL-F004", "is no number of instances", mend, value=value)


_AMOUNTS: Final = {"min": _amount, "max": _amount, "recommended": _amount}
_OVERRIDE: Final = mapping("an override", {**_AMOUNTS, "condition": required(check_condition), "message": text()})
_LIMITS: Final = mapping(
    "limits",
    {**_AMOUNTS, "condition": check_condition, "overrides": rows(_OVERRIDE, least=1, of="overrides")},
)


def _limits(value: Any, spot: FileElement) -> None:
    """Check the limits of a role; an empty value means no limits."""
    if value is None:
        return
    _LIMITS(value, spot)
    least, most = (value.get("min"), value.get("max")) if isinstance(value, dict) else (None, None)
    if type(least) is int and type(most) is int and least > most:
        spot.at("max").wrong("PL-F004", f"is less than min, {least}", "exchange the two", value=most)


def _conflicts(value: Any, spot: FileElement) -> None:
    if value != "*":
        rows(text(), of="roles, or '*' for all")(value, spot)


_ROLE: Final = mapping(
    "a role",
    {
        "name": required(text()),
        "description": required(text()),
        "conflicts": _conflicts,
        "has_primary": truth,
        "public_ip_required": truth,
        "update_required": TEXTS,
        "update_once": TEXTS,
        "weight": whole(),
        "limits": _limits,
        "restrictions": check_restrictions,
        "tasks": TEXTS,
    },
)


def check_node_roles(value: Any, spot: FileElement, _format: Format) -> None:
    """Report all mistakes in the roles of a package."""
    each(ID, ID_ALLOWED, _ROLE, title="roles")(value, spot)


def made_node_roles(value: Any) -> tuple[NodeRole, ...]:
    """Return the roles of a file that has been checked."""
    return tuple(_made(name, role) for name, role in (value or {}).items())


def _made(name: str, role: Mapping[str, Any]) -> NodeRole:
    conflicts = role.get("conflicts") or ()
    limits = role.get("limits") or {}
    return NodeRole(
        name,
        role["name"],
        role["description"],
        ("*",) if conflicts == "*" else tuple(conflicts),
        role.get("has_primary", False),
        role.get("public_ip_required", False),
        tuple(role.get("update_required") or ()),
        tuple(role.get("update_once") or ()),
        role.get("weight", 0),
        InstanceLimits(
            limits.get("min"),
            limits.get("max"),
            limits.get("recommended"),
            condition_text(limits.get("condition")),
            tuple(
                LimitOverride(
                    condition_text(item["condition"]),
                    item.get("min"),
                    item.get("max"),
                    item.get("recommended"),
                    item.get("message", ""),
                )
                for item in limits.get("overrides") or ()
            ),
        ),
        made_restrictions(role.get("restrictions")),
        tuple(role.get("tasks") or ()),
    )
