"""Forms of values: a form is a function that checks a value of a file and reports all its mistakes at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

from phaseline.lang.fast_dataclasses import frozen
from phaseline.packages.format.problem_report import MAX_WORD, FileElement, listed, shown

Form: TypeAlias = Callable[[Any, FileElement], None]
"""Function that reports the problems of a value at an element of the file."""
MAX_UNKNOWN: Final = 20
"""Number of unknown keys that are compared with a missing key, to find out whether it was misspelled."""
SPECIAL: Final = re.compile(r"[\[\](){}|\\]")


@frozen
class FormKey:
    """A key of a mapping: the form of its value, and whether it is required."""

    form: Form
    is_required: bool = False


def required(form: Form) -> FormKey:
    """Return a required key whose value must have the form ``form``."""
    return FormKey(form, is_required=True)


def anything(_value: Any, _spot: FileElement) -> None:
    """Accept any value."""


def text(pattern: str = "", allowed: str = "", *, may_be_empty: bool = True) -> Form:
    """Return a form for a text. If ``pattern`` is given, the whole text must match it; ``allowed`` describes it in messages."""

    def check(value: Any, spot: FileElement) -> None:
        if not isinstance(value, str):
            spot.wrong("PL-F004", "is no text", _as_text(value), value=value)
        elif pattern and re.fullmatch(pattern, value, re.ASCII) is None:  # re keeps it compiled, once it is needed
            spot.wrong("PL-F004", "is not valid", f"use {allowed}", value=value)
        elif not value and not may_be_empty:
            spot.wrong("PL-F004", "is empty", "write a text", value=value)

    return check


def _as_text(value: Any) -> str:
    """Return advice on how to write a value so that YAML reads it as text."""
    if isinstance(value, int | float):
        return f'write it in quotes: "{shown(value)}"'
    return "write a text here"


def whole(least: int | None = None) -> Form:
    """Return a form for a whole number of at least ``least``."""
    mend = "write a whole number" + ("" if least is None else f" of at least {least}") + ", without quotes"

    def check(value: Any, spot: FileElement) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            spot.wrong("PL-F004", "is no whole number", mend, value=value)
        elif least is not None and value < least:
            spot.wrong("PL-F004", "is too small", mend, value=value)

    return check


def truth(value: Any, spot: FileElement) -> None:
    """Check that a value is true or false."""
    if not isinstance(value, bool):
        spot.wrong("PL-F004", "is neither true nor false", "write true or false, without quotes", value=value)


def choice(*words: str) -> Form:
    """Return a form that accepts exactly these words."""

    def check(value: Any, spot: FileElement) -> None:
        if not isinstance(value, str) or value not in words:
            mend = f"use {listed(words)}{spot.nearest(value, words)}"
            spot.wrong("PL-F004", "is not known here", mend, value=value)

    return check


def rows(form: Form, *, least: int = 0, is_unique: bool = False, of: str = "such values") -> Form:
    """Return a form for a list whose items all have the form ``form``."""

    def check(value: Any, spot: FileElement) -> None:
        if not isinstance(value, list):
            mend = f"write a list: [{value}]" if _is_simple(value) else f"write a list of {of}: each begins with '- '"
            spot.wrong("PL-F004", "is no list", mend, value=value)
            return
        if len(value) < least:
            spot.wrong("PL-F004", "is empty", f"write at least one of {of}", value=value)
        seen: set[str] = set()
        for place, item in enumerate(value):
            form(item, spot.at(place))
            if is_unique and isinstance(item, str):
                if item in seen:
                    spot.at(place).wrong("PL-F007", "is there twice", "remove one of the two", value=item)
                seen.add(item)

    return check


def mapping(
    title: str,
    keys: Mapping[str, FormKey | Form],
    *,
    is_closed: bool = False,
    likely: bool = True,
    rest: Form = anything,
) -> Form:
    """Return a form for a mapping with these keys; all other keys must have the form ``rest``, or are errors if
    ``is_closed``.

    ``likely``: warn of an unknown key that looks like a misspelled known one.
    """
    forms = {name: (key.form if isinstance(key, FormKey) else key) for name, key in keys.items()}
    needed = [name for name, key in keys.items() if isinstance(key, FormKey) and key.is_required]
    known = tuple(keys)

    def check(value: Any, spot: FileElement) -> None:
        if not isinstance(value, dict):
            spot.wrong("PL-F004", f"is no mapping; {title} is one", f"write its keys: {', '.join(known)}", value=value)
            return
        for name in needed:
            if name not in value:
                unknown = tuple(key for key in value if key not in keys)[:MAX_UNKNOWN]
                spot.at(name).wrong(
                    "PL-F005",
                    f"the key is missing; {title} must have it",
                    f"write '{name}:'{_misspelled(name, unknown)}",
                )
        for name, item in value.items():
            if name in forms:
                forms[name](item, spot.at(name))
            elif is_closed:
                hint = spot.nearest(name, known) or f"; known are {listed(known)}"
                spot.at(name).wrong("PL-F006", f"{title} has no such key", f"remove it{hint}", point="key")
            else:
                rest(item, spot.at(name))
                hint = spot.nearest(name, known) if likely else ""
                if hint and not any(near in value or near in needed for near in known if f"'{near}'" in hint):
                    spot.at(name).odd("PL-F050", "is probably misspelled", hint.removeprefix("; "), point="key")

    return check


def _misspelled(name: str, unknown: Collection[str]) -> str:
    from phaseline.dsl.text.value_words import closest

    found = next((each for each in unknown if len(each) <= MAX_WORD and closest(each, (name,)) is not None), None)
    return f"; did you mean it by '{found}'?" if found else ""


def each(pattern: str, allowed: str, form: Form, *, title: str) -> Form:
    """Return a form for a mapping whose names match ``pattern`` and whose values have the form ``form``."""

    def check(value: Any, spot: FileElement) -> None:
        if not isinstance(value, dict):
            spot.wrong("PL-F004", f"is no mapping of {title}", "write each as 'name:' and its keys below", value=value)
            return
        for name, item in value.items():
            if re.fullmatch(pattern, name, re.ASCII) is None:
                spot.at(name).wrong("PL-F004", "is not valid as a name", f"use {allowed}", value=name, point="key")
            form(item, spot.at(name))

    return check


def _is_simple(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and SPECIAL.search(value) is None and len(value) < 100


TEXTS: Final = rows(text(), of="texts")
ID: Final = r"[0-9a-zA-Z_-]+"
ID_ALLOWED: Final = "letters, digits, '-' and '_'"
