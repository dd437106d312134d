"""``@frozen``: what ``@dataclass(frozen=True, slots=True)`` gives, without compiling anything when a class is declared.

A dataclass writes six methods as text and compiles them, which takes about a millisecond; a command declares 130 such
classes and makes a handful of objects of most. Here the methods are closures, and only a class of which many objects
are made gets the compiled ``__init__`` of a dataclass (docs/adr/0010). ``fields``, ``replace`` and ``asdict`` of the
standard library work as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, make_dataclass
from operator import attrgetter
from typing import Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")
Columns = tuple[Field[Any], ...]

UNTIL_COMPILED: Final = 64
"""Objects of a class until compiling its ``__init__`` (0.6 ms) costs less than going without (4 µs an object)."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(declared: type[T]) -> type[T]:
    """The class with slots, and with the methods of a frozen dataclass.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0)
    (Point(x=1, y=0), True)
    """
    made = dataclass(init=False, repr=False, eq=False, slots=True)(declared)
    columns = fields(made)  # type: ignore[arg-type]  # what the line above made is a dataclass
    assert all(column.init and not column.kw_only for column in columns), f"{made}: a case for @dataclass itself"
    methods = {
        "__init__": _init_of(made, columns),
        "__repr__": _repr_of(columns),
        **_of_comparing(made, columns),
        "__setattr__": _refuse,
        "__delattr__": _refuse,
    }
    for name, method in methods.items():
        if name not in declared.__dict__:
            setattr(made, name, method)
    return made


def _reader(columns: Columns) -> Callable[[object], tuple[Any, ...]]:
    """What gives the values of an object as a tuple."""
    names = tuple(column.name for column in columns)
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _of_comparing(made: type, columns: Columns) -> dict[str, Callable[..., Any]]:
    compared = _reader(tuple(column for column in columns if column.compare))
    values = _reader(columns)

    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(compared(self))

    def reduced(self: object) -> tuple[type, tuple[Any, ...]]:
        return made, values(self)

    return {"__eq__": equal, "__hash__": hashed, "__reduce__": reduced}


def _repr_of(columns: Columns) -> Callable[[object], str]:
    shown = tuple(column.name for column in columns if column.repr)

    def shown_as(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return shown_as


def _init_of(made: type, columns: Columns) -> Callable[..., None]:
    """Binds the arguments one by one; whatever is unusual about them is left to the compiled form to say."""
    setters = {column.name: getattr(made, column.name).__set__ for column in columns}
    needed = {column.name for column in columns if column.default is column.default_factory is MISSING}
    others = tuple(column for column in columns if column.name not in needed)
    left = UNTIL_COMPILED

    def init(self: object, *given: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        bound = dict(zip(setters, given, strict=False))
        bound.update(named)
        if left <= 0 or len(bound) < len(given) + len(named) or not needed <= bound.keys() <= setters.keys():
            compiled = _compiled(made, columns)
            setattr(made, "__init__", compiled)  # noqa: B010 - mypy would ask whether a subclass agrees
            compiled(self, *given, **named)
            return
        for column in others:
            if column.name not in bound:
                bound[column.name] = column.default if column.default_factory is MISSING else column.default_factory()
        for name, value in bound.items():
            setters[name](self, value)

    return init


def _compiled(made: type, columns: Columns) -> Callable[..., None]:
    """The ``__init__`` of a dataclass with the same fields."""
    same = [
        (column.name, object, field(default=column.default, default_factory=column.default_factory))
        for column in columns
    ]
    init: Callable[..., None] = vars(make_dataclass(made.__name__, same, frozen=True, eq=False, repr=False))["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    return init


def _refuse(_self: object, name: str, *_value: object) -> None:
    raise FrozenInstanceError(f"field {name!r} of a frozen class cannot be changed")
