"""Values of a package's settings: checked against its form, with defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.regex import PatternError, compiled
from phaseline.model.deployment.sealed_values import HIDDEN
from phaseline.model.packages.package import Form, PackageSetting
from phaseline.model.problems.problem import Place, Problem
from phaseline.packages.format.problem_report import listed, nearest, shown
from phaseline.packages.format.restrictions import in_force

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.packages.languages.slow_languages import Slow

TRUTHS: Final = frozenset({"checkbox"})
NUMBERS: Final = frozenset({"number"})
CHOICES: Final = frozenset({"radio", "select"})
LISTS: Final = frozenset({"text_list", "textarea_list"})
GET_SECRET: Final = "get_secret"  # noqa: S105 - the name of a function


@frozen
class ChosenSettings:
    """The chosen settings: ``values`` is {setting: value} for all settings, ``problems`` are the mistakes in the values
    that the user gave.
    """

    values: Mapping[str, Value]
    problems: tuple[Problem, ...] = ()


def chosen(
    title: str,
    form: Form,
    given: Mapping[str, Any],
    models: Mapping[str, Any] | None = None,
    slow: Slow | None = None,
) -> ChosenSettings:
    """Return the effective settings: given values, otherwise the defaults of the form.

    ``title`` names the package in messages, ``models`` are read by its conditions. ``slow`` matches patterns that RE2 does
    not support; without it these are not checked. A setting that a true condition disables or hides cannot be given.
    """
    known = {setting.id: setting for setting in form.settings}
    found: list[Problem] = []
    values: dict[str, Value] = {setting.id: setting.value for setting in form.settings}
    for name, value in given.items():
        if name not in known:
            mend = f"known are {listed(known)}{nearest(name, known)}" if known else "the package has no settings"
            found.append(_problem("PL-F033", title, name, "there is no such setting", mend))
        else:
            found += _faults(title, known[name], value, slow)
            values[name] = value
    everything = {**(models or {}), "settings": {**(models or {}).get("settings", {}), **as_model(title, form, values)}}
    for name in given:
        if name in known:
            found += _refusals(title, known[name], everything)
    return ChosenSettings(values, tuple(found))


def as_model(title: str, form: Form, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for conditions, as ``settings:<package>.<setting>.value``; a version at the end of ``title`` is cut off."""
    name = title.rpartition("-")[0] if title.rpartition("-")[2].replace(".", "").isdigit() else title
    about = {"label": form.label, "enabled": True, "weight": form.weight, "toggleable": form.is_toggleable}
    return {name: {"metadata": about, **{key: {"value": value} for key, value in values.items()}}}


def secret_named(value: object) -> str:
    """Return the name of the secret in a value ``{get_secret: NAME}``, or an empty text for any other value."""
    name = value.get(GET_SECRET) if isinstance(value, dict) and len(value) == 1 else ""
    return name if isinstance(name, str) else ""


def _refusals(title: str, setting: PackageSetting, models: Mapping[str, Any]) -> list[Problem]:
    return [
        _problem("PL-F034", title, setting.id, f"cannot be set while {each.condition}", each.message or "leave it out")
        for each in in_force(setting.restrictions, models)
        if each.action in {"disable", "hide"}
    ]


def _faults(title: str, setting: PackageSetting, value: Any, slow: Slow | None) -> list[Problem]:
    """Return the problems of a value, which depend on the type of its setting."""
    if secret_named(value) and setting.type not in TRUTHS | NUMBERS | CHOICES | LISTS:
        return []  # what it is shows where it is used
    what = f"{HIDDEN if setting.is_secret else shown(value)} is not suitable"
    mend = _unsuitable(setting, value)
    if mend is not None:
        return [_problem("PL-F032", title, setting.id, what, mend)]
    if setting.pattern:
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) and _matches(setting.pattern, text, slow) for text in texts):
            mend = setting.pattern_error or f"it must match {setting.pattern}"
            return [_problem("PL-F032", title, setting.id, what, mend)]
    return []


def _matches(pattern: str, text: str, slow: Slow | None) -> bool:
    """Return whether a text matches a pattern; a match that takes too long counts as no match."""
    try:
        return compiled(pattern).matches(text)
    except PatternError:
        pass
    try:
        return slow is None or slow.matches(pattern, text)
    except PatternError:
        return False


def _unsuitable(setting: PackageSetting, value: Any) -> str | None:
    """Return a description of the values that the setting allows, or None if this value is allowed."""
    if setting.type in TRUTHS:
        return None if isinstance(value, bool) else "use true or false"
    if setting.type in NUMBERS:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return None if is_number and _is_between(value, setting) else f"use a whole number{_bounds(setting)}"
    if setting.type in CHOICES and setting.choices:
        allowed = [choice.data for choice in setting.choices]
        return None if value in allowed else f"use {listed(allowed)}"
    if setting.type in LISTS:
        is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if is_list and _is_between(len(value), setting) else f"use a list of texts{_bounds(setting)}"
    return None if isinstance(value, str | bool | int | float | list) else "use a text, or {get_secret: NAME}"


def _is_between(count: int, setting: PackageSetting) -> bool:
    return (setting.min is None or count >= setting.min) and (setting.max is None or count <= setting.max)


def _bounds(setting: PackageSetting) -> str:
    least = "" if setting.min is None else f" from {setting.min}"
    return f"{least}{'' if setting.max is None else f' to {setting.max}'}"


def _problem(code: str, title: str, name: str, what: str, mend: str) -> Problem:
    place = Place("environment_config.yaml", path=f"attributes.{name}", subject=title)
    return Problem(code, f"{title}: setting {name}: {what}", mend, place)
