"""``NamedTuple``: what ``typing.NamedTuple`` gives, without compiling anything when a class is declared.

``typing.NamedTuple`` compiles a function for each class and an expression for each annotation. This takes 0.9 million
instructions, eleven times as many as the class itself, although a command makes only a few objects of most classes
(docs/adr/0020). Here ``__new__`` is a closure; it is compiled when so many objects are made that this pays off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

UNTIL_COMPILED: Final = 256
"""Number of objects after which a class's ``__new__`` is compiled; doing without costs 0.3 µs for each object."""


def _quick(fields: tuple[str, ...], defaults: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a ``__new__`` made without compiling; for wrong arguments the compiled one raises the error."""
    left = UNTIL_COMPILED
    count, known, tuple_of = len(fields), frozenset(fields), tuple.__new__

    def new(cls: Any, *given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left > 0:
            if not named and len(given) == count:
                return tuple_of(cls, given)
            bound = {**defaults, **dict(zip(fields, given, strict=False)), **named}
            if bound.keys() == known and len(given) <= count and known.isdisjoint(named.keys() & fields[: len(given)]):
                return tuple_of(cls, [bound[field] for field in fields])
        cls.__new__ = staticmethod(_compiled(fields, defaults))
        return cls.__new__(cls, *given, **named)

    return new


def _compiled(fields: tuple[str, ...], defaults: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a compiled ``__new__``, as ``typing.NamedTuple`` makes it."""
    names = "".join(f"{field}, " for field in fields)
    new: FunctionType = eval(f"lambda _cls, {names}: _tuple_of(_cls, ({names}))", {"_tuple_of": tuple.__new__})  # noqa: S307
    new.__name__ = new.__qualname__ = "__new__"
    new.__defaults__ = tuple(defaults.values())
    return new


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - so that others may have it from here
else:
    try:
        from _collections import _tuplegetter as _getter
    except ImportError:  # pragma: no cover - as ``collections`` does where Python is not CPython

        def _getter(place: int, doc: str) -> property:
            return property(itemgetter(place), doc=doc)

    class _Declared(type):
        """Metaclass that turns the annotations of a class into fields, in their order."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
            fields = tuple(space.get("__annotations__", ()))
            defaults = {field: space[field] for field in fields if field in space}
            getters = {field: _getter(place, "") for place, field in enumerate(fields)}
            known = {"__match_args__": fields, "_fields": fields, "_field_defaults": defaults}
            own = {"__slots__": (), "__new__": _quick(fields, defaults)}
            return super().__new__(cls, name, bases, {**space, **getters, **known, **own})

    class NamedTuple(tuple, metaclass=_Declared):
        """Base class of all named tuples made by this module."""

        __slots__ = ()

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={one!r}' for name, one in self._asdict().items())})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes: Any) -> Any:
            return type(self)(**(self._asdict() | changes))

        @classmethod
        def _make(cls, values: Any) -> Any:
            return cls(*values)
