"""``environment_config.yaml`` and the forms of nodes, network interfaces and bonds: the settings that users can change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from phaseline.lang.fast_dataclasses import altered
from phaseline.lang.regex import PatternError, compiled
from phaseline.model.packages.package import Choice, Form, PackageSetting
from phaseline.packages.format import value_forms as forms
from phaseline.packages.format.format_versions import Format
from phaseline.packages.format.problem_report import FileElement
from phaseline.packages.format.restrictions import check_restrictions, made_restrictions
from phaseline.packages.format.value_forms import (
    ID,
    ID_ALLOWED,
    FormKey,
    anything,
    choice,
    each,
    mapping,
    required,
    rows,
    text,
    truth,
    whole,
)
from phaseline.packages.languages.slow_languages import Slow

GROUPS: Final = (*("general", "security", "compute", "network", "storage", "logging", "openstack_services", "other"),)
METADATA: Final = "metadata"
NUMBER: Final = "number"


def check_settings(value: Any, spot: FileElement, package_format: Format) -> None:
    """Check the settings of a package."""
    about: dict[str, FormKey | forms.Form] = {
        "label": text(),
        "weight": whole(),
        "toggleable": truth,
        "enabled": truth,
        "restrictions": check_restrictions,
    }
    if package_format.number >= 4:
        about["group"] = choice(*GROUPS)
    attributes = mapping(
        "the settings", {METADATA: mapping("metadata", about)}, likely=False, rest=_element(package_format)
    )
    mapping("the file", {"attributes": attributes})(value, spot)


def check_elements(value: Any, spot: FileElement, _format: Format) -> None:
    """Check the form of a network interface or a bond: {name: element}."""
    _elements(value, spot)


def check_sections(value: Any, spot: FileElement, _format: Format) -> None:
    """Check the form of a node: {name of a section: its elements}."""
    each(ID, ID_ALLOWED, _elements, title="sections")(value, spot)


def _elements(value: Any, spot: FileElement) -> None:
    each(ID, ID_ALLOWED, anything, title="elements")(value, spot)
    if isinstance(value, dict):
        for name, item in value.items():
            (_OF_SECTION if name == METADATA else _SIMPLE_ELEMENT)(item, spot.at(name))


def _value(value: Any, spot: FileElement) -> None:
    """Check that a value is a text, a truth value, a list of these, or a description of how it is generated."""
    if isinstance(value, str | bool):
        return
    if isinstance(value, dict):
        mapping("a generated value", {"generator": required(text())})(value, spot)
        return
    if isinstance(value, list):
        for place, item in enumerate(value):
            if not isinstance(item, str | bool):
                spot.at(place).wrong("PL-F004", "is neither text nor true or false", _quoted(item), value=item)
        return
    spot.wrong("PL-F004", "is neither text, true or false nor a list", _quoted(value), value=value)


def _number(value: Any, spot: FileElement) -> None:
    """Check the value of a number setting.

    It is a whole number, a text that contains one, a mapping with ``generator``, or an empty text if each deployment
    must give the number.
    """
    if isinstance(value, dict):
        _value(value, spot)
    elif not (isinstance(value, int) and not isinstance(value, bool)) and not _is_written(value) and value != "":
        spot.wrong("PL-F004", "is no whole number", "write digits, without quotes", value=value)


def _is_written(value: object) -> bool:
    """Return whether the value is a text that contains a whole number."""
    return isinstance(value, str) and value.isascii() and value.removeprefix("-").isdecimal()


def _element(package_format: Format) -> forms.Form:
    """Return the form of one setting; only in our own format a setting of the type number has a number as its value."""

    def check(value: Any, spot: FileElement) -> None:
        is_number = package_format.is_native and isinstance(value, dict) and value.get("type") == NUMBER
        (_NUMBER_SETTING if is_number else _SETTING)(value, spot)

    return check


def _quoted(value: Any) -> str:
    is_number = isinstance(value, int | float)
    return f"write it in quotes: '{value}'" if is_number else "use a text, true, false, a list of these or generator:"


def _about(value: Any, spot: FileElement) -> None:
    """Check a description, which may be an empty text."""
    if value is not None:
        text()(value, spot)


def _regex(value: Any, spot: FileElement) -> None:
    mapping("a regex", {"source": required(text()), "error": text()})(value, spot)
    source = value.get("source") if isinstance(value, dict) else None
    if isinstance(source, str):
        fault = fault_of(source, spot.findings.slow)
        if fault:
            mend = f"the reason: {fault}"
            spot.at("source").wrong("PL-F012", "is no regular expression", mend, value=source)


def fault_of(source: str, slow: Slow | None) -> str:
    """Return why a pattern can be used neither by RE2 nor by the slow matcher; empty if it can be used."""
    try:
        compiled(source)
    except PatternError as error:
        return str(error) if slow is None else slow.pattern_fault(source)
    return ""


_CHOICE: Final = mapping(
    "a value to choose",
    {"data": required(text()), "label": required(text()), "description": _about, "restrictions": check_restrictions},
)
_OF_SECTION: Final = mapping("metadata", {"label": required(text()), "restrictions": check_restrictions})
_SIMPLE_ELEMENT: Final = mapping(
    "an element",
    {
        "type": required(text()),
        "label": required(text()),
        "value": required(anything),
        "description": _about,
        "weight": whole(),
        "restrictions": check_restrictions,
    },
)
_OF_SETTING: Final[Mapping[str, FormKey | forms.Form]] = {
    "type": required(text()),
    "label": required(text()),
    "weight": required(whole()),
    "value": required(_value),
    "description": _about,
    "values": rows(_CHOICE, of="values with data and label"),
    "regex": _regex,
    "min": whole(),
    "max": whole(),
    "restrictions": check_restrictions,
}
_SETTING: Final = mapping("a setting", _OF_SETTING)
_NUMBER_SETTING: Final = mapping("a setting", {**_OF_SETTING, "value": required(_number)})


def made_form(value: Any, *, is_native: bool = False) -> Form:
    """Return the form for a checked file. ``is_native``: numbers written as texts are converted to numbers."""
    attributes = (value or {}).get("attributes") or {}
    about = attributes.get(METADATA) or {}
    settings = [made_setting(name, element) for name, element in attributes.items() if name != METADATA]
    if is_native:
        settings = [_as_number(setting) for setting in settings]
    return Form(
        tuple(sorted(settings, key=lambda setting: setting.weight)),
        about.get("label", ""),
        about.get("weight", 0),
        about.get("toggleable", True),
        about.get("enabled", False),
        about.get("group", ""),
        made_restrictions(about.get("restrictions")),
    )


def _as_number(setting: PackageSetting) -> PackageSetting:
    is_text = setting.type == NUMBER and _is_written(setting.value)
    return altered(setting, value=int(str(setting.value))) if is_text else setting


def made_setting(name: str, element: Mapping[str, Any]) -> PackageSetting:
    """Return the setting for a checked element."""
    value = element["value"]
    generator = value["generator"] if isinstance(value, dict) else ""
    regex = element.get("regex") or {}
    return PackageSetting(
        name,
        element["type"],
        element["label"],
        element["weight"],
        None if generator else value,
        generator,
        element.get("description") or "",
        tuple(
            Choice(
                item["data"], item["label"], item.get("description") or "", made_restrictions(item.get("restrictions"))
            )
            for item in element.get("values") or ()
        ),
        regex.get("source", ""),
        regex.get("error", ""),
        element.get("min"),
        element.get("max"),
        made_restrictions(element.get("restrictions")),
    )
