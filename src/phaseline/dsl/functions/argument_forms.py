"""Check the form of each intrinsic function's arguments.

A form is a function that returns a message about what is wrong with an argument, or None if the argument is right.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from phaseline.model.blueprint.blueprint import Value

IsFunction: TypeAlias = Callable[[object], bool]
"""Function that decides whether a value is an intrinsic function or a plain value."""
Form: TypeAlias = Callable[[Value, IsFunction], str | None]
"""Check of an argument: (argument, test for intrinsic functions) -> what is wrong, or None."""

SYSTEM: dict[str, tuple[str, ...]] = {"tenant": ("name",), "deployment": ("id", "name", "blueprint", "owner")}
"""{entity that ``get_sys`` can ask about: its properties}."""
CONSUMERS = ("ids", "names", "count")
"""Possible arguments of ``get_consumers``."""


def _is_step(value: Value, is_function: IsFunction) -> bool:
    return isinstance(value, str) or value.__class__ is int or is_function(value)


def _is_path(value: Value, is_function: IsFunction, *, least: int = 2) -> bool:
    """Return True for a list of at least ``least`` names, keys or indexes, the first of which is a name."""
    return (
        isinstance(value, list)
        and len(value) >= least
        and value[0].__class__ is not int
        and all(_is_step(step, is_function) for step in value)
    )


def name_or_path(what: str, *, least: int = 2) -> Form:
    """Return the form for a name, or for a list [name, key or index, …] of at least ``least`` items."""

    def form(value: Value, is_function: IsFunction) -> str | None:
        fits = isinstance(value, str) or is_function(value) or _is_path(value, is_function, least=least)
        return None if fits else f"takes {what}, or a list [name, key or index, …]"

    return form


def path(what: str) -> Form:
    """Return the form for a list [name, key or index, …] with at least one key or index."""

    def form(value: Value, is_function: IsFunction) -> str | None:
        return None if _is_path(value, is_function) else f"takes a list [{what}; key, key or index, …]"

    return form


def paths(value: Value, is_function: IsFunction) -> str | None:
    """Return a complaint unless the argument is a list [node, key or list of keys, …]."""
    fits = (
        isinstance(value, list)
        and len(value) >= 2
        and (isinstance(value[0], str) or is_function(value[0]))
        and all(_is_step(item, is_function) or _is_path(item, is_function, least=1) for item in value[1:])
    )
    return None if fits else "takes a list [node, SELF, SOURCE or TARGET; key or list of keys, …]"


def group_path(value: Value, is_function: IsFunction) -> str | None:
    """Return a complaint unless the argument is a list [group, capability or list of capabilities, …], optionally
    followed by keys or indexes.
    """
    fits = (
        isinstance(value, list)
        and len(value) >= 2
        and all(_is_step(item, is_function) for place, item in enumerate(value) if place != 1)
        and (_is_step(value[1], is_function) or isinstance(value[1], list))
    )
    return None if fits else "takes a list [group, capability or list of capabilities, key or index, …]"


def label(value: Value, is_function: IsFunction) -> str | None:
    """Return a complaint unless the argument is the key of a label, or a list [key, index of one of the label's
    values].
    """
    if isinstance(value, str) or is_function(value):
        return None
    fits = (
        isinstance(value, list)
        and len(value) == 2
        and (isinstance(value[0], str) or is_function(value[0]))
        and (value[1].__class__ is int or (isinstance(value[1], str) and value[1].isdecimal()) or is_function(value[1]))
    )
    return None if fits else "takes the key of a label, or a list [key, index]"


def system(value: Value, is_function: IsFunction) -> str | None:
    """Return a complaint unless the argument is a list [entity, property] of two names; whether these exist is checked
    elsewhere.
    """
    fits = (
        isinstance(value, list)
        and len(value) >= 2
        and all(isinstance(item, str) or is_function(item) for item in value)
    )
    return None if fits else "takes a list [tenant or deployment, property]"


def one_of(words: Collection[str]) -> Form:
    """Return the form for exactly one of the given words."""

    def form(value: Value, is_function: IsFunction) -> str | None:
        return (
            None
            if (isinstance(value, str) and value in words) or is_function(value)
            else f"takes one of {', '.join(words)}"
        )

    return form


def parts(value: Value, is_function: IsFunction) -> str | None:
    """Return a complaint unless the argument is a list of parts to join."""
    return None if isinstance(value, list) or is_function(value) else "takes a list of the parts to join"


def mappings(value: Value, is_function: IsFunction) -> str | None:
    """Return a complaint unless the argument is a list of mappings."""
    if is_function(value):
        return None
    if not isinstance(value, list):
        return "takes a list of mappings"
    wrong = [item for item in value if not isinstance(item, dict)]
    return f"takes a list of mappings, and {wrong[0]!r} is none" if wrong else None


def texts(what: str, least: int, most: int) -> Form:
    """Return the form for a list of ``least`` to ``most`` items: the first ``least`` are texts, all further ones whole
    numbers.

    ``what`` describes the list in a message.
    """

    def form(value: Value, is_function: IsFunction) -> str | None:
        fits = (
            isinstance(value, list)
            and least <= len(value) <= most
            and all(isinstance(item, str) or is_function(item) for item in value[:least])
            and all(item.__class__ is int or is_function(item) for item in value[least:])
        )
        return None if fits or is_function(value) else f"takes a list {what}"

    return form


def text(value: Value, is_function: IsFunction) -> str | None:
    """Return a complaint unless the argument is one text."""
    return None if isinstance(value, str) or is_function(value) else "takes a text"


def anything(_value: Value, _is_function: IsFunction) -> str | None:
    """Accept any argument."""
    return None
