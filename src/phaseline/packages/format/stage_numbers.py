"""The stage of a task: ``pre_deployment`` or ``post_deployment``, and a decimal number behind a slash."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages.package import POST, PRE, STAGES
from phaseline.packages.format.stage_ranges import RANGES

FORM: Final = re.compile(r"(?P<stage>pre_deployment|post_deployment)(?:/(?P<number>[-+]?(?:[0-9]*\.[0-9]+|[0-9]+)))?")
MAX_NUMBER: Final = 100
"""Largest length of a stage number, in characters; longer numbers could not be compared exactly."""
PLAIN_FORM: Final = f"use {PRE} or {POST}"
WHOLE_FORM: Final = f"use {PRE} or {POST}, optionally followed by / and a number, e.g. {POST}/100, {PRE}/-99.9"
_NUMBERISH: Final = re.compile(r"[-+]?(?:[0-9._]*[eE][-+]?[0-9_]+|[0-9.]*_[0-9._]*|nan|inf|infinity)", re.IGNORECASE)


@frozen
class StageNumber:
    """The stage and number at which a task runs. Numbers are exact: ``9007199254740992`` and ``9007199254740993`` differ."""

    name: str
    number: Decimal


def stage_of(text: object, *, has_numbers: bool = True) -> StageNumber | None:
    """Return the stage that a value of a file means, or None if it is not a valid stage.

    >>> stage_of("post_deployment/-99.9")
    StageNumber(name='post_deployment', number=Decimal('-99.9'))
    """
    found = FORM.fullmatch(text) if isinstance(text, str) else None
    if found is None or (found["number"] and (not has_numbers or len(found["number"]) > MAX_NUMBER)):
        return None
    return StageNumber(found["stage"], Decimal(found["number"] or 0))


def mending(value: object, *, has_numbers: bool = True) -> str:
    """Return the advice for an invalid stage: what is allowed and, on a second line, what was probably meant."""
    allowed = WHOLE_FORM if has_numbers else PLAIN_FORM
    hint = _hint(value, has_numbers=has_numbers)
    return f"{allowed}\n  {hint}" if hint else allowed


def _hint(value: object, *, has_numbers: bool) -> str:
    if not isinstance(value, str):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return f"a number alone names no stage: {POST}/{str(value)[:MAX_NUMBER]}?" if is_number else ""
    if value.split() != [value] and ":" not in value:
        return "remove the white space"
    if not has_numbers and stage_of(value) is not None:
        return "numbers behind a stage need package_version 2.0.0 or higher"
    name, separator, rest = value.partition("/")
    if ":" in value:
        begin, _, after = value.partition(":")
        number = after.strip(" :")
        meant = stage_of(f"{begin.strip()}/{number}")
        return "use '/' as the separator" + (f": {begin.strip()}/{number}" if meant and number else "")
    if name not in STAGES:
        return _of_name(name, rest)
    if _NUMBERISH.fullmatch(rest):
        return "plain decimal numbers only: no exponent, no underscore, no nan or inf"
    if separator and not rest:
        return f"write a number behind the slash, or leave it out: {name}"
    if re.fullmatch(r"[-+]?[0-9]+\.", rest):
        return f"write digits behind the point, or no point: {name}/{rest[:-1]}"
    if not rest.isascii():
        return "write the number with the digits 0 to 9"
    if len(rest) > MAX_NUMBER:
        return f"a number has at most {MAX_NUMBER} characters"
    return ""


def _of_name(name: str, rest: str) -> str:
    """Return a hint at the stage that an unknown name probably means, or an empty text."""
    for each in RANGES:
        if each.stage == name:
            return f"'{name}' is no stage of its own: its tasks have the numbers {each.text}, e.g. {POST}/{each.first}"
    from phaseline.lang.did_you_mean import closest

    near = closest(name.strip(), STAGES, near=0.4)  # they are few and unlike one another
    return f"did you mean {near}{'/' if rest else ''}{rest if stage_of(f'{near}/{rest}') else ''}?" if near else ""
