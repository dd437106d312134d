"""Roles of a task: names, ``*``, ``master`` and, in newer files, regular expressions between slashes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from phaseline.lang.regex import PatternError, compiled
from phaseline.model.packages.package import EVERYBODY, NOBODY, Roles
from phaseline.packages.format.problem_report import FileElement
from phaseline.packages.format.value_forms import ID, ID_ALLOWED

_NAME: Final = re.compile(ID)
_SCOPES: Final = {"*": EVERYBODY, "master": Roles(scope="master"), "self": Roles(scope="self")}


def roles_of(value: Any) -> Roles:
    """Return the roles of a checked value. If a list contains ``*``, it means all roles; ``master`` and ``self`` have a
    special meaning only outside a list.
    """
    if value is None:
        return Roles(scope="sync")
    words = [value] if isinstance(value, str) else value
    for word in words:
        if word in _SCOPES and (isinstance(value, str) or word == "*"):
            return _SCOPES[word]
    names = tuple(word for word in words if not is_pattern(word))
    return Roles(names, tuple(word[1:-1] for word in words if is_pattern(word))) if words else NOBODY


def is_pattern(word: str) -> bool:
    """Return True for a regular expression between slashes."""
    return len(word) > 1 and word.startswith("/") and word.endswith("/")


def fits(roles: Roles, role: str) -> bool:
    """Return whether a role is among the named roles; ``*`` matches any role."""
    if roles.scope != "named":
        return roles.scope == "all"
    return role in roles.names or any(compiled(pattern).matches(role) for pattern in roles.patterns)


def fits_name(pattern: str, name: str) -> bool:
    """Return True if the beginning of a task's name matches a regular expression."""
    return compiled(pattern).matches(name)


def check_stage_roles(value: Any, spot: FileElement) -> None:
    """Check the roles of a task in ``tasks.yaml``: ``*``, ``master`` or a list of names."""
    if isinstance(value, str):
        if value not in {"*", "master"}:
            mend = f"use a list of roles, '*' for all of them, or master: [{value}]"
            spot.wrong("PL-F011", "is not valid: a single role must be in a list", mend, value=value)
        return
    if not isinstance(value, list):
        spot.wrong("PL-F011", "is not valid", "use a list of roles, '*' for all of them, or master", value=value)
        return
    for place, name in enumerate(value):
        if not isinstance(name, str):
            spot.at(place).wrong("PL-F011", "is no text", "write the name of a role", value=name)
    warn_of_lists(value, spot)


def check_roles(value: Any, spot: FileElement, *, has_patterns: bool = True, may_be_self: bool = False) -> None:
    """Check the roles of a granular task: a name, ``*``, ``master``, ``/expression/``, or a list of these."""
    if isinstance(value, dict) and "yaql_exp" in value:
        report_yaql(value, spot)
        return
    words = value if isinstance(value, list) else [value]
    spots = [spot.at(place) for place in range(len(words))] if isinstance(value, list) else [spot]
    for word, at in zip(words, spots, strict=True):
        _check_word(word, at, has_patterns=has_patterns, is_alone=not isinstance(value, list), may_be_self=may_be_self)
    if isinstance(value, list):
        warn_of_lists(value, spot)


def _check_word(word: Any, spot: FileElement, *, has_patterns: bool, is_alone: bool, may_be_self: bool) -> None:
    allowed = f"{ID_ALLOWED}, '*', or a regular expression between slashes" if has_patterns else ID_ALLOWED
    if not isinstance(word, str):
        spot.wrong("PL-F011", "is no text", "write the name of a role", value=word)
    elif is_pattern(word) and has_patterns:
        check_pattern(word, spot)
    elif is_pattern(word):
        mend = "regular expressions need package_version 4.0.0 or higher; list the names"
        spot.wrong("PL-F011", "is not valid", mend, value=word)
    elif word in {"*", "master"} or (word == "self" and may_be_self):
        return
    elif not has_patterns and is_alone:
        mend = f"use a list of roles, '*' for all of them, or master: [{word}]"
        spot.wrong("PL-F011", "is not valid: a single role must be in a list", mend, value=word)
    elif _NAME.fullmatch(word) is None:
        spot.wrong("PL-F011", "is not valid", f"use {allowed}", value=word)


def check_pattern(word: str, spot: FileElement) -> None:
    """Check a regular expression between slashes; RE2 must support it, because RE2 never takes long to match."""
    try:
        compiled(word[1:-1])
    except PatternError as error:
        mend = "write a regular expression of RE2 between the slashes"
        spot.wrong("PL-F012", f"is no regular expression: {error}", mend, value=word)


def warn_of_lists(value: list[Any], spot: FileElement) -> None:
    """Warn of lists of roles that Fuel accepts but that match no role in Fuel."""
    if not value:
        mend = "name roles, or write '*' for all of them"
        spot.odd("PL-F053", "names no role, so that the task runs nowhere", mend, value=value)
    elif "*" in value:
        mend = "write role: '*'; in a list, Fuel reads '*' as a name; Phaseline reads it as all roles"
        spot.odd("PL-F052", "has '*' among names", mend, value=value)


def report_yaql(value: Any, spot: FileElement) -> None:
    """Report an expression in YAQL where only names or conditions are evaluated; otherwise it would count as true or as
    empty.
    """
    mend = "write names, or a condition such as settings:storage.ceph.value == true"
    spot.wrong(
        "PL-F018",
        "is written in YAQL, which is evaluated only in conditions and dependencies of tasks",
        mend,
        value=value,
    )


def check_yaql(value: Mapping[str, Any], spot: FileElement) -> None:
    """Check a YAQL expression that is a task's condition or dependencies. If no evaluator of YAQL is available, refuse
    the expression.
    """
    text, slow = value["yaql_exp"], spot.findings.slow
    if not isinstance(text, str):
        spot.at("yaql_exp").wrong("PL-F004", "is no text", "write an expression in quotes", value=text)
        return
    fault = "YAQL is not evaluated here" if slow is None else slow.yaql_fault(text)
    if fault:
        mend = "correct the expression, or install the library: pip install 'phaseline[fuel]'"
        spot.wrong("PL-F018", f"is written in YAQL and cannot be used: {fault}", mend, value=value)
