"""Evaluates the words of a ``ctx`` command: attributes, paths in mappings, assignments and calls (rule S5)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, Final

_INDEXED = re.compile(r"(.+?)((?:\[\d+\])+)$")
_NOTHING: Final = object()


class IllegalPathError(RuntimeError):
    """Raised if the words of a command name something that does not exist."""


def read_words(words: Sequence[str], json_prefix: str = "@") -> list[Any]:
    """Return the words of a command line as values: words that begin with the prefix are parsed as JSON.

    >>> read_words(["logger", "info", "@[1, 2]"])
    ['logger', 'info', [1, 2]]
    """
    if not json_prefix:
        return list(words)
    return [json.loads(word[len(json_prefix) :]) if word.startswith(json_prefix) else word for word in words]


def walk(start: Any, words: Sequence[Any]) -> Any:
    """Evaluate the words of a ``ctx`` command, beginning at the object ``start``, and return the result.

    Each word names an attribute (dashes may replace underscores). In a mapping, the word is a path such as ``a.b[0].c``;
    if one more word follows, the value at the path is set to it. A callable is called with all remaining words; if the
    last of these is a mapping, it becomes keyword arguments. Raises ``IllegalPathError``, or any exception of the
    context.
    """
    current = start
    for place, word in enumerate(words):
        rest = words[place:]
        if isinstance(current, Mapping) and isinstance(word, str) and word in current:
            return _in_mapping(current, rest)
        found = _attribute(current, word)
        if found is not _NOTHING:
            current = found
        elif isinstance(current, Mapping):
            return _in_mapping(current, rest)
        elif callable(current):
            return _called(current, rest)
        else:
            raise IllegalPathError(f"illegal path: {' '.join(map(str, words[: place + 1]))}")
    return current() if callable(current) else current


def _attribute(holder: Any, word: Any) -> Any:
    if not isinstance(word, str):
        return _NOTHING
    for name in (word, word.replace("-", "_")):
        if not name.startswith("_") and hasattr(holder, name):
            return getattr(holder, name)
    return _NOTHING


def _called(target: Callable[..., Any], words: Sequence[Any]) -> Any:
    if isinstance(words[-1], dict):
        return target(*words[:-1], **words[-1])
    return target(*words)


def _in_mapping(mapping: Mapping[str, Any], words: Sequence[Any]) -> Any:
    path = words[0]
    if len(words) == 1:
        return get_path(mapping, path)
    if len(words) > 2:
        raise IllegalPathError(
            f"illegal path: {path} is followed by {len(words) - 1} words; one sets it, none reads it"
        )
    if not isinstance(mapping, MutableMapping):
        raise IllegalPathError(f"illegal path: {path} cannot be set here")
    set_path(mapping, path, words[1])
    return None


def get_path(mapping: Mapping[str, Any], path: Any) -> Any:
    """Return the value at a path. A key equal to the whole path has priority.

    >>> get_path({"a": {"b": [{"c": 7}]}}, "a.b[0].c")
    7
    """
    if path in mapping:
        return mapping[path]
    current: Any = mapping
    for key in _keys(path):
        current = _step(current, key, path)
    return current


def set_path(mapping: MutableMapping[Any, Any], path: Any, value: Any) -> None:
    """Set the value at a path; missing levels are created.

    The value of the first key is assigned again before it is changed, so that read-only properties refuse the change,
    and properties that track their changes record it.

    >>> document = {"a": {"b": 1}}
    >>> set_path(document, "a.c.d", 2)
    >>> document
    {'a': {'b': 1, 'c': {'d': 2}}}
    """
    keys: list[Any] = [path] if path in mapping else _keys(path)
    if len(keys) == 1:
        mapping[keys[0]] = value
        return
    first = keys[0]
    mapping[first] = mapping.get(first, {})
    current: Any = mapping[first]
    for key in keys[1:-1]:
        if isinstance(current, MutableMapping) and key not in current:
            current[key] = {}
        current = _step(current, key, path)
    last = keys[-1]
    if not isinstance(current, MutableMapping) and not (isinstance(current, list) and last in range(len(current))):
        raise IllegalPathError(f"illegal path: {path}")
    current[last] = value


def _step(current: Any, key: Any, path: Any) -> Any:
    if isinstance(key, int):
        if isinstance(current, list) and key < len(current):
            return current[key]
    elif isinstance(current, Mapping) and key in current:
        return current[key]
    raise IllegalPathError(f"illegal path: {path}")


def _keys(path: Any) -> list[str | int]:
    """Split a path such as ``a.b[0].c`` into its keys and indexes."""
    keys: list[str | int] = []
    for segment in str(path).split("."):
        match = _INDEXED.match(segment)
        if match is None:
            keys.append(segment)
            continue
        keys.append(match[1])
        keys.extend(int(index) for index in re.findall(r"\d+", match[2]))
    return keys
