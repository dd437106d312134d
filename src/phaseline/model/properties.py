"""Runtime properties as documents: what changed between two readings, and how changes are merged (C4).

Changes are paths, so that two operations may work on one document at the same time. A document is
never changed in place: ``merge`` copies the levels it touches, so whoever holds the former one keeps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint import Value
    from phaseline.model.rows import Path

SCALARS = frozenset({str, int, float, bool, type(None)})
"""Types whose values may be shared, because nobody can change them."""


def copy(value: Value) -> Value:
    """A value that shares nothing changeable with ``value``."""
    if type(value) in SCALARS:
        return value
    if isinstance(value, dict):
        return {key: item if type(item) in SCALARS else copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if type(item) in SCALARS else copy(item) for item in value]
    return value


def copy_mapping(value: Mapping[str, Value]) -> dict[str, Value]:
    """The mapping as a dict that shares nothing changeable with ``value``."""
    return {key: item if type(item) in SCALARS else copy(item) for key, item in value.items()}


def laid_over(below: Mapping[str, Value], above: Mapping[str, Value]) -> dict[str, Value]:
    """What is said above counts; of mappings that both have, name by name.

    >>> laid_over({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4}})
    {'a': 1, 'b': {'c': 4, 'd': 3}}
    """
    found = {**below, **above}
    for name, value in above.items():
        under = below.get(name)
        if isinstance(value, dict) and isinstance(under, dict):
            found[name] = laid_over(under, value)
    return found


def diff(before: Mapping[str, Value], after: Mapping[str, Value]) -> tuple[dict[Path, Value], tuple[Path, ...]]:
    """({path: value written}, paths removed) that lead from ``before`` to ``after``, as deep as mappings go.

    The values written are those of ``after`` itself. Lists count as one value. Numbers and booleans that are equal but of different types have changed.

    >>> diff({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 1, "c": 4}, "e": 5})
    ({('a', 'c'): 4, ('e',): 5}, (('d',),))
    """
    written: dict[Path, Value] = {}
    removed: list[Path] = []
    _compare(before, after, (), written, removed)
    return written, tuple(removed)


def _compare(
    before: Mapping[str, Value], after: Mapping[str, Value], path: Path, written: dict[Path, Value], removed: list[Path]
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
    """True when both would be written alike: equal, and of the same types all the way down."""
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
    return one == other


def merge(
    document: Mapping[str, Value], written: Mapping[Path, Value], removed: Sequence[Path] = ()
) -> dict[str, Value]:
    """The document with changes made, as a new one; missing levels are made, what is not there need not be removed.

    The new document shares the values written: they must not be changed afterwards.

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


def _level(top: dict[str, Value], path: Path, fresh: set[int], *, make: bool) -> dict[str, Value] | None:
    """The mapping at ``path``, each level on the way copied once so that the former document stays as it was."""
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


def storable(value: object, path: str = "") -> Value:
    """The value as JSON would bring it back: own copies, tuples as lists, keys as text.

    Raises ``TypeError`` naming the path of what cannot be stored, such as an open file.
    """
    kind = type(value)
    if kind in SCALARS:
        return cast("Value", value)
    if isinstance(value, dict):
        return {str(key): storable(item, f"{path}.{key}" if path else str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item, f"{path}[{place}]") for place, item in enumerate(value)]
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return cast("Value", plain(value))
    raise TypeError(f"'{path}' is of type {kind.__name__}, which cannot be stored")
