"""Functions that look up values: inputs, properties, attributes, secrets, labels (B41)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from phaseline.dsl.functions.errors import fail
from phaseline.dsl.functions.registry import contains_functions
from phaseline.dsl.functions.scope import NotYetKnown, Scope, descend, index_of, shown
from phaseline.dsl.functions.string_functions import Compute, Inner
from phaseline.model.blueprint.blueprint import Value


def _known(value: Value) -> Value:
    """Return ``value``, or raise ``NotYetKnown`` if it contains a function that waits for run time."""
    if contains_functions(value):
        raise NotYetKnown
    return value


def _input(arguments: Value, scope: Scope, inner: Inner) -> Value:
    name, *path = _steps(arguments)
    try:
        raw = scope.input(str(name))
    except KeyError:
        raise fail("PL-B071", f"there is no input '{name}'", "declare it under 'inputs'") from None
    found, rest = descend(_known(inner(raw, scope)), path)
    if rest:
        raise fail(
            "PL-B076",
            f"the input '{name}' has no {shown(rest[0])} in '{_dotted([name, *path])}'",
            "correct the path or the input's value",
        )
    return found


def _property(arguments: Value, scope: Scope, inner: Inner) -> Value:
    reference, *path = _steps(arguments)
    properties, within = scope.node(str(reference))
    if path[0] not in properties:
        raise fail(
            "PL-B074", f"'{reference}' has no property '{path[0]}'", "correct the name, or give the property a value"
        )
    value = inner(properties[str(path[0])], within)
    found, rest = descend(value, path[1:])
    if rest and not contains_functions(value):
        raise fail(
            "PL-B074",
            f"the property '{path[0]}' of '{reference}' has no {shown(rest[0])}",
            "correct the path or the property's value",
        )
    return _known(value if rest else found)


def _attribute(arguments: Value, scope: Scope, _inner: Inner) -> Value:
    reference, *path = _steps(arguments)
    return scope.attribute(str(reference), path)


def _attributes_list(arguments: Value, scope: Scope, _inner: Inner) -> Value:
    reference, *path = _steps(arguments)
    return [value for (value,) in scope.attributes(str(reference), [path]).values()]


def _attributes_dict(arguments: Value, scope: Scope, _inner: Inner) -> Value:
    reference, *written = cast("list[Value]", arguments)
    paths = [_steps(path) for path in written]
    names = [_dotted(path) for path in paths]
    twice = repeated(names)
    if twice:
        raise fail("PL-B074", f"'get_attributes_dict' is asked for '{twice[0]}' twice", "leave one of them out")
    found = scope.attributes(str(reference), paths)
    return {id: dict(zip(names, values, strict=True)) for id, values in found.items()}


def repeated(names: Sequence[str]) -> list[str]:
    """Return the items that occur more than once, in order."""
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def _secret(arguments: Value, scope: Scope, _inner: Inner) -> Value:
    name, *path = _steps(arguments)
    value: Value = scope.secret(str(name))
    if not path:
        return value
    try:
        value = json.loads(cast("str", value))
    except ValueError:
        raise fail(
            "PL-B074",
            f"the secret '{name}' has no parts: it is not JSON",
            f"write {{get_secret: {name}}} for the whole secret, or store JSON",
        ) from None
    found, rest = descend(value, path)
    if rest:
        raise fail("PL-B074", f"the secret '{name}' has no {shown(rest[0])}", "correct the path or the secret")
    return found


def _label(arguments: Value, scope: Scope, inner: Inner) -> Value:
    key, *place = _steps(arguments)
    values = [inner(value, scope) for value in scope.label(str(key))]
    if not place:
        return values
    index = index_of(place[0])
    if index is None or index >= len(values):
        count = f"{len(values)} value{'s' * (len(values) != 1)}"
        raise fail(
            "PL-B074", f"the label '{key}' has {count}, and none at {place[0]}", "correct the index; it begins at 0"
        )
    return values[index]


def _system(arguments: Value, scope: Scope, _inner: Inner) -> Value:
    entity, name = _steps(arguments)
    return scope.system(str(entity), str(name))


COMPUTE: dict[str, Compute] = {
    "get_input": _input,
    "get_property": _property,
    "get_attribute": _attribute,
    "get_attributes_list": _attributes_list,
    "get_attributes_dict": _attributes_dict,
    "get_secret": _secret,
    "get_label": _label,
    "get_sys": _system,
}
"""{name of a function: the Python function that looks up its value}."""


def _steps(arguments: Value) -> list[str | int]:
    """Return the arguments as a list of a name and the keys and indexes that follow it."""
    return cast("list[str | int]", arguments if isinstance(arguments, list) else [arguments])


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path))
