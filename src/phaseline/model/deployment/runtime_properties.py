"""Runtime properties as documents: differences between two versions, and merging of changes (C4).

A change is a path with a value, so that two operations may change one document at the same time. A document is never
changed in place: ``merge`` copies the levels that it changes, so code that still holds the old document sees it
unchanged.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Value

PropertyPath = tuple[str, ...]
"""Path into a document, such as ``("network", "ip")``."""
SCALARS = frozenset({str, int, float, bool, type(None)})
"""Immutable types, whose values may be shared."""
MAX_DEPTH = 100
"""Deepest nesting of mappings and lists in a value, because code that walks a value recurses once for each level."""
MAX_INT_BITS = 14_000
"""Most bits of an integer, because Python refuses to convert integers of more than 4,300 digits to text."""
MAX_CHARS = 32 * 1024 * 1024
"""Most characters that are converted at once for storing, including names."""
VALUE_CHARS = 32
"""Number of characters added to the length of each value when sizes are limited, so that many short values count, too."""
SHOWN_CHARS, SHOWN_STEPS = 100, 12
"""Most characters, and most steps (keys or indexes), of the path that a message shows for a value that cannot be stored."""


def copy(value: Value) -> Value:
    """Return a copy that shares no mutable part with ``value``."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, dict):
        return {key: item if type(item) in SCALARS else copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if type(item) in SCALARS else copy(item) for item in value]
    return value


def copy_mapping(value: Mapping[str, Value]) -> dict[str, Value]:
    """Return a dict that equals the mapping and shares no mutable part with it."""
    return {key: item if type(item) in SCALARS else copy(item) for key, item in value.items()}


def overlaid(below: Mapping[str, Value], above: Mapping[str, Value]) -> dict[str, Value]:
    """Return the merged properties: the values of ``above`` win; mappings present in both are merged name by name.

    >>> overlaid({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4}})
    {'a': 1, 'b': {'c': 4, 'd': 3}}
    """
    found = {**below, **above}
    for name, value in above.items():
        under = below.get(name)
        if isinstance(value, dict) and isinstance(under, dict):
            found[name] = overlaid(under, value)
    return found


def diff(
    before: Mapping[str, Value], after: Mapping[str, Value]
) -> tuple[dict[PropertyPath, Value], tuple[PropertyPath, ...]]:
    """Return ({path: value written}, paths removed), which change ``before`` to ``after``; mappings are compared at every level.

    The written values are the objects in ``after``, not copies. A list counts as one value. Values that are equal but
    have different types (such as 1, 1.0 and True) count as changed.

    >>> diff({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 1, "c": 4}, "e": 5})
    ({('a', 'c'): 4, ('e',): 5}, (('d',),))
    """
    written: dict[PropertyPath, Value] = {}
    removed: list[PropertyPath] = []
    _compare(before, after, (), written, removed)
    return written, tuple(removed)


def _compare(
    before: Mapping[str, Value],
    after: Mapping[str, Value],
    path: PropertyPath,
    written: dict[PropertyPath, Value],
    removed: list[PropertyPath],
) -> None:
    for key, value in after.items():
        here = (*path, key)
        if key not in before:
            written[here] = value
            continue
        former = before[key]
        if former is value:
            continue
        if isinstance(former, dict) and isinstance(value, dict) and value:
            _compare(former, value, here, written, removed)
        elif not is_same(former, value):
            written[here] = value
    removed.extend((*path, key) for key in before if key not in after)


def is_same(one: Value, other: Value) -> bool:
    """Return True when both values are stored in the same way: equal, with equal types at every level."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        others = cast("dict[str, Value]", other)
        return len(one) == len(others) and all(
            key in others and is_same(item, others[key]) for key, item in one.items()
        )
    if isinstance(one, list):
        items = cast("list[Value]", other)
        return len(one) == len(items) and all(is_same(a, b) for a, b in zip(one, items, strict=True))
    return one == other or (one != one and other != other)  # noqa: PLR0124 - a stored NaN counts as unchanged


def merge(
    document: Mapping[str, Value], written: Mapping[PropertyPath, Value], removed: Sequence[PropertyPath] = ()
) -> dict[str, Value]:
    """Return a new document with the changes applied; missing levels are created, and removing a missing value is no error.

    The new document contains the objects in ``written``, so callers must not change them afterwards.

    >>> merge({"a": {"b": 1}}, {("a", "c"): 2}, [("a", "b")])
    {'a': {'c': 2}}
    """
    merged = dict(document)
    if not removed and all(len(path) == 1 for path in written):
        merged.update({path[0]: value for path, value in written.items()})
        return merged
    fresh: set[int] = {id(merged)}
    for path in removed:
        level = _level(merged, path[:-1], fresh, make=False)
        if level is not None:
            level.pop(path[-1], None)
    for path, value in written.items():
        level = _level(merged, path[:-1], fresh, make=True)
        assert level is not None
        level[path[-1]] = value
    return merged


def _level(top: dict[str, Value], path: PropertyPath, fresh: set[int], *, make: bool) -> dict[str, Value] | None:
    """Return the mapping at ``path``, or None. Each level on the path is copied once, so the original stays unchanged."""
    level = top
    for key in path:
        below = level.get(key)
        if not isinstance(below, dict):
            if not make:
                return None
            below = {}
            level[key] = below
            fresh.add(id(below))
        elif id(below) not in fresh:
            below = dict(below)
            level[key] = below
            fresh.add(id(below))
        level = below
    return level


class Unstorable(TypeError):
    """A value contains a part that cannot be stored; the message names the part and its path."""


class Storing:
    """Converter of values from plugins to values that JSON can store; raises ``Unstorable`` for others.

    The limits of size hold for everything that one converter converts together.
    """

    __slots__ = ("_left", "_steps")

    def __init__(self) -> None:
        """Create a converter that has converted nothing."""
        self._left = MAX_CHARS
        self._steps: list[str | int] = []

    def take(self, value: object, path: str = "") -> Value:
        """Return the value as JSON would read it back. ``path`` is the path of the value, for messages.

        Raises: ``Unstorable`` with the path of a part that cannot be stored.
        """
        self._steps = [path]
        try:
            return self._taken(value)
        except Unstorable as error:
            raise Unstorable(f"'{self._place()}' {error}") from None
        except Exception as error:  # for example a mapping of a plugin's own class whose items cannot be read
            raise Unstorable(f"'{self._place()}' cannot be read: {type(error).__name__}") from error

    def _taken(self, value: object) -> Value:
        self._count(VALUE_CHARS)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            if value.bit_length() > MAX_INT_BITS:
                raise Unstorable(f"is an integer of more than {MAX_INT_BITS} bits; store it as a text")
            return int.__int__(value)
        if isinstance(value, float):
            if not isfinite(value):
                raise Unstorable(f"is {float.__repr__(value)}, a number that JSON does not know; store it as a text")
            return float.__float__(value)
        if not isinstance(value, dict | list | tuple):
            raise Unstorable(f"is of type {type(value).__name__}, which cannot be stored")
        if len(self._steps) > MAX_DEPTH:
            raise Unstorable(f"is nested more than {MAX_DEPTH} levels deep, or contains itself")
        if isinstance(value, dict):
            return {self._text(name): self._below(name, item) for name, item in _named(value)}
        return [self._below(place, item) for place, item in enumerate(value)]

    def _below(self, step: str | int, value: object) -> Value:
        self._steps.append(step)
        found = self._taken(value)
        self._steps.pop()
        return found

    def _text(self, text: str) -> str:
        self._count(len(text))
        return text if type(text) is str else str.__str__(text)

    def _count(self, chars: int) -> None:
        self._left -= chars
        if self._left < 0:
            raise Unstorable(
                f"makes the document longer than {MAX_CHARS:,} characters; store a reference to the data instead"
            )

    def _place(self) -> str:
        """Return the path of the value that is being converted, such as ``network.ports[0]``."""
        steps = [f"[{step}]" if isinstance(step, int) else f".{step:.{SHOWN_CHARS}}" for step in self._steps]
        return "".join(steps[:SHOWN_STEPS]).lstrip(".")


def _named(mapping: dict[object, object]) -> Iterator[tuple[str, object]]:
    """Yield the items of a mapping with their keys as text."""
    for key, item in mapping.items():
        yield key if isinstance(key, str) else str(key), item


def storable(value: object, path: str = "") -> Value:
    """Return a copy of the value as JSON would read it back: tuples as lists, keys as text.

    Raises: ``Unstorable``, a ``TypeError``, with the path of a part that cannot be stored, such as an open file.

    >>> storable({"a": (1, {2: "b"})})
    {'a': [1, {'2': 'b'}]}
    """
    return Storing().take(value, path)
