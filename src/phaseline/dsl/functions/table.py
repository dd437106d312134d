"""The intrinsic functions as a table: name, version, when they can be known, how their arguments look.

A new function is a new row here and, if it asks for something new, a method of ``Scope``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, cast

from phaseline.dsl.suggestions import closest
from phaseline.model.blueprint import Value
from phaseline.model.frozen import frozen

SELF, SOURCE, TARGET = "SELF", "SOURCE", "TARGET"
REFERENCES: Final = frozenset({SELF, SOURCE, TARGET})


def _is_step(value: Value) -> bool:
    return isinstance(value, str) or value.__class__ is int or is_function(value)


def _complain_input(argument: Value) -> str | None:
    if isinstance(argument, list):
        fits = (
            len(argument) >= 2
            and (isinstance(argument[0], str) or is_function(argument[0]))
            and all(map(_is_step, argument))
        )
    else:
        fits = isinstance(argument, str) or is_function(argument)
    return None if fits else "takes the name of an input, or a list [name, key or index, …]"


def _complain_path(argument: Value) -> str | None:
    if (
        isinstance(argument, list)
        and len(argument) >= 2
        and all(map(_is_step, argument))
        and argument[0].__class__ is not int
    ):
        return None
    return "takes a list [node, SELF, SOURCE or TARGET; key, key or index, …]"


def _complain_list(argument: Value) -> str | None:
    return None if isinstance(argument, list) or is_function(argument) else "takes a list of the parts to join"


@frozen
class Function:
    """One intrinsic function. ``since``: minor version of the language that brought it.

    ``complaint``: what is wrong with an argument, or None. ``example`` shows the right form.
    """

    name: str
    kind: Literal["hybrid", "runtime"]
    complaint: Callable[[Value], str | None]
    example: str
    since: int = 0
    names_node: bool = False


FUNCTIONS: Final[dict[str, Function]] = {
    function.name: function
    for function in (
        Function("get_input", "hybrid", _complain_input, "{get_input: port}"),
        Function("get_property", "hybrid", _complain_path, "{get_property: [web, port]}", names_node=True),
        Function("get_attribute", "runtime", _complain_path, "{get_attribute: [web, ip]}", names_node=True),
        Function("concat", "hybrid", _complain_list, "{concat: ['http://', {get_input: host}]}", since=1),
    )
}
"""{name: function}"""

LATER: Final = {
    **dict.fromkeys(
        (
            "get_attributes_list",
            "get_attributes_dict",
            "get_secret",
            "get_capability",
            "get_group_capability",
            "get_environment_capability",
            "get_label",
            "get_sys",
            "get_consumers",
            "string_find",
            "string_replace",
            "string_split",
            "string_lower",
            "string_upper",
        ),
        0,
    ),
    "merge": 3,
}
"""{function of the language that is refused for now: minor version that brought it}"""


def function_name(value: object) -> str | None:
    """The function a value is: a mapping with one key that names a function, or with ``type`` beside it.

    >>> function_name({"get_input": "port"}), function_name({"port": 80})
    ('get_input', None)
    """
    if value.__class__ is not dict:
        return None
    if len(value) == 1:
        key = next(iter(value))
    elif len(value) == 2 and "type" in value:
        first, second = value
        key = second if first == "type" else first
    else:
        return None
    return key if key in FUNCTIONS or key in LATER else None


def meant_function(value: object) -> str | None:
    """The function that a mapping with one key is nearly, empty if it only looks like one; None if it is no function.

    Only keys that begin like the name of a function are looked at, for a mapping with one key may stand for itself.

    >>> meant_function({"get_propety": ["web", "port"]}), meant_function({"get_rich": "quick"}), meant_function({"port": 80})
    ('get_property', '', None)
    """
    if value.__class__ is not dict or len(value) != 1:
        return None
    (key,) = value
    if key.__class__ is not str or not key.startswith(_BEGINNINGS) or key in FUNCTIONS or key in LATER:
        return None
    near = closest(key, _NAMES)
    if key.startswith(("get_", "string_")):
        return near or ""
    function = FUNCTIONS.get(near or "")
    if function is None or len(key) > len(function.name) or function.complaint(cast("Value", value[key])):
        return None
    return near


_NAMES = (*FUNCTIONS, *LATER)
_BEGINNINGS = ("ge", "gte", "GET", "Get", "con", "cnc", "str", "srt")


def is_function(value: object) -> bool:
    """True for a mapping that is an intrinsic function."""
    return value.__class__ is dict and function_name(value) is not None


def contains_functions(value: object) -> bool:
    """True when a value is or holds a function, at any depth."""
    if value.__class__ is dict:
        return function_name(value) is not None or any(map(contains_functions, value.values()))
    if value.__class__ is list:
        return any(map(contains_functions, value))
    return False
