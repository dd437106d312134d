"""Table of the built-in intrinsic functions: their names, versions, forms of arguments, and when they can be evaluated.

Third-party functions are in ``third_party``.
A new function needs a row here and a computation in ``lookup_functions`` or ``string_functions``. If it looks up a new
kind of value it also needs a method of ``Scope``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from phaseline.dsl.functions import argument_forms as forms
from phaseline.dsl.functions.third_party import ANNOUNCED
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.blueprint import Value

SELF, SOURCE, TARGET = "SELF", "SOURCE", "TARGET"
REFERENCES: Final = frozenset({SELF, SOURCE, TARGET})

ELSEWHERE: Final = frozenset({"get_capability", "get_group_capability", "get_environment_capability", "get_consumers"})
"""Functions that read other deployments; ``other_deployments`` evaluates them."""


@frozen
class IntrinsicFunction:
    """One intrinsic function. ``since`` is the minor DSL version that introduced it.

    ``form`` checks an argument, ``example`` shows a right one, and ``raises`` is the class that Cloudify raises for a
    wrong one. ``is_extension`` is True for functions that exist only in the extended language (decision 15).
    """

    name: str
    kind: Literal["hybrid", "runtime"]
    form: forms.Form
    example: str
    since: int = 0
    names_node: bool = False
    raises: str = "ValueError"
    is_extension: bool = False

    def complaint(self, argument: Value) -> str | None:
        """Return what is wrong with an argument, or None."""
        return self.form(argument, is_function)


_NODE = "node, SELF, SOURCE or TARGET"
_CHECKED = "FunctionValidationError"

FUNCTIONS: Final[dict[str, IntrinsicFunction]] = {
    function.name: function
    for function in (
        IntrinsicFunction(
            "get_input", "hybrid", forms.name_or_path("the name of an input", least=1), "{get_input: port}"
        ),
        IntrinsicFunction("get_property", "hybrid", forms.path(_NODE), "{get_property: [web, port]}", names_node=True),
        IntrinsicFunction("get_attribute", "runtime", forms.path(_NODE), "{get_attribute: [web, ip]}", names_node=True),
        IntrinsicFunction(
            "get_attributes_list", "runtime", forms.path(_NODE), "{get_attributes_list: [web, ip]}", names_node=True
        ),
        IntrinsicFunction(
            "get_attributes_dict",
            "runtime",
            forms.paths,
            "{get_attributes_dict: [web, ip, [disk, size]]}",
            names_node=True,
        ),
        IntrinsicFunction(
            "get_secret",
            "runtime",
            forms.name_or_path("the name of a secret"),
            "{get_secret: password}",
            raises=_CHECKED,
        ),
        IntrinsicFunction(
            "get_capability", "runtime", forms.path("deployment"), "{get_capability: [network, address]}"
        ),
        IntrinsicFunction(
            "get_group_capability", "runtime", forms.group_path, "{get_group_capability: [edge, address]}"
        ),
        IntrinsicFunction(
            "get_environment_capability",
            "runtime",
            forms.name_or_path("the name of a capability"),
            "{get_environment_capability: address}",
            raises=_CHECKED,
        ),
        IntrinsicFunction("get_label", "runtime", forms.label, "{get_label: [team, 0]}", raises=_CHECKED),
        IntrinsicFunction("get_sys", "runtime", forms.system, "{get_sys: [deployment, id]}"),
        IntrinsicFunction("get_consumers", "runtime", forms.one_of(forms.CONSUMERS), "{get_consumers: ids}"),
        IntrinsicFunction("concat", "hybrid", forms.parts, "{concat: ['http://', {get_input: host}]}", since=1),
        IntrinsicFunction("merge", "hybrid", forms.mappings, "{merge: [{a: 1}, {get_input: more}]}", since=3),
        IntrinsicFunction(
            "string_find",
            "hybrid",
            forms.texts("[text, what to find]", 2, 2),
            "{string_find: [a-b, '-']}",
            raises=_CHECKED,
        ),
        IntrinsicFunction(
            "string_replace",
            "hybrid",
            forms.texts("[text, old, new] with or without how often", 3, 4),
            "{string_replace: [a-b, '-', '_']}",
            raises=_CHECKED,
        ),
        IntrinsicFunction(
            "string_split",
            "hybrid",
            forms.texts("[text, separator] with or without the place of one part", 2, 3),
            "{string_split: [a-b, '-', 0]}",
            raises=_CHECKED,
        ),
        IntrinsicFunction("string_lower", "hybrid", forms.text, "{string_lower: {get_input: name}}", raises=_CHECKED),
        IntrinsicFunction("string_upper", "hybrid", forms.text, "{string_upper: {get_input: name}}", raises=_CHECKED),
        IntrinsicFunction("to_string", "hybrid", forms.anything, "{to_string: {get_input: port}}", is_extension=True),
    )
}
"""All built-in functions: {name: function}."""


def function_name(value: object) -> str | None:
    """Return the name of the function that a value is, or None.

    A function is a mapping whose only key, except ``type``, names a function.

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
    return key if key in FUNCTIONS or ANNOUNCED.knows(key) else None


def has_none_at_all(mapping: Mapping[str, Value]) -> bool:
    """Return True for a mapping without nested values that cannot be a function, not even a misspelt one.

    This cheap test saves the full search for functions in most mappings.

    >>> has_none_at_all({"port": 80}), has_none_at_all({"get_input": "port"}), has_none_at_all({"ports": [80]})
    (True, False, False)
    """
    for value in mapping.values():
        if value.__class__ is dict or value.__class__ is list:
            return False
    if len(mapping) > 2:
        return True
    return not any(key in FUNCTIONS or key.startswith(_BEGINNINGS) or ANNOUNCED.knows(key) for key in mapping)


def meant_function(value: object) -> str | None:
    """Return the function whose name is misspelt as the only key of a mapping.

    Return "" if the key looks like a function's name but resembles none, and None if it does not look like one. Only
    keys that begin like a function's name are considered, because other mappings with one key are usually data.

    >>> meant_function({"get_propety": ["web", "port"]}), meant_function({"get_rich": "quick"}), meant_function({"port": 80})
    ('get_property', '', None)
    """
    if value.__class__ is not dict or len(value) != 1:
        return None
    ((key, argument),) = value.items()
    if key.__class__ is not str or not key.startswith(_BEGINNINGS) or key in FUNCTIONS:
        return None
    from phaseline.dsl.text.value_words import closest

    near = closest(key, _NAMES)
    if key.startswith(("get_", "string_")):
        return near or ""
    function = FUNCTIONS.get(near or "")
    if function is None or len(key) > len(function.name) or function.complaint(argument):
        return None
    return near


_NAMES = tuple(name for name, function in FUNCTIONS.items() if not function.is_extension)
_BEGINNINGS = ("ge", "gte", "GET", "Get", "con", "cnc", "str", "srt", "mer")


def is_function(value: object) -> bool:
    """Return True for a mapping that is an intrinsic function."""
    return value.__class__ is dict and function_name(value) is not None


def contains_functions(value: object) -> bool:
    """Return True if a value is a function or contains one at any depth."""
    if value.__class__ is dict:
        return function_name(value) is not None or any(map(contains_functions, value.values()))
    if value.__class__ is list:
        return any(map(contains_functions, value))
    return False
