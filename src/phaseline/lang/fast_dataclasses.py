"""``@frozen``: like ``@dataclass(frozen=True, slots=True)``, but nothing is compiled when a class is declared.

A dataclass writes six methods as text and compiles them, which takes about a millisecond. A command declares 130 such
classes and creates only a few objects of most. Here the methods are closures (docs/adr/0010). The class becomes an
ordinary dataclass only when its fields are needed (``fields``, ``replace``, ``asdict``). It gets a compiled
``__init__`` after ``UNTIL_COMPILED`` objects, when compiling pays off. ``@mutable`` is the same for changeable objects.

``@shared_property`` is a property that is computed once, even if two threads read it at the same time.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, dataclass_transform

T = TypeVar("T")
Columns = dict[str, Any]
"""{name of a field: its default, ``MISSING`` if it has none, or the ``Field`` that the class gives}.

Other fields get no ``Field``, because making one for every field takes as long as making the class.
"""
_Parts = tuple[dict[str, Callable[..., None]], set[str], dict[str, Any], dict[str, Any]]
"""Setters, required fields, functions that make defaults, and defaults, each by the name of the field."""

_GIVEN: Final[Field[Any]] = field()
"""The declaration of a field without a default; it is never changed."""

UNTIL_COMPILED: Final = 64
"""Number of objects after which a class's ``__init__`` is compiled: this takes 0.6 ms and saves 4 µs an object."""

FEW_FIELDS: Final = 3
"""Largest number of fields that a compiled ``__init__`` of a frozen class sets one by one, bypassing ``__setattr__``.

With more fields it is faster to change the class of the object and back (``_compiled``).
"""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(declared: type[T]) -> type[T]:
    """Return the class with slots and the methods of a frozen dataclass.

    If the class has a ``cached_property``, its objects also have a ``__dict__``.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0)
    (Point(x=1, y=0), True)
    """
    return _made(declared, is_frozen=True)


@dataclass_transform(field_specifiers=(field,))
def mutable(declared: type[T]) -> type[T]:
    """Return what ``@dataclass(eq=False, slots=True)`` makes, without compiling; an object equals only itself."""
    return _made(declared, is_frozen=False)


def _made(declared: type[T], *, is_frozen: bool) -> type[T]:
    own = vars(declared).copy()
    del own["__dict__"], own["__weakref__"]
    columns, added = _columns(declared, own)
    names = tuple(columns)
    values_of = attrgetter(*names) if len(names) > 1 else _reader(names)
    later = _Later(declared, columns, is_frozen=is_frozen)
    beside = ("__dict__", "__weakref__") if cached_property in map(type, own.values()) else ()
    space: dict[str, Any] = {
        "__qualname__": declared.__qualname__,
        "__slots__": (*added, *beside),
        "__match_args__": names,
        "__dataclass_fields__": later,
        "__dataclass_params__": _Params(later),
        "__repr__": _repr_of(columns),
    }
    if is_frozen:
        space |= _of_comparing(columns, values_of)
    space |= own
    made = cast("type[T]", type(declared.__name__, declared.__bases__, space))
    setattr(made, "__init__", _init_of(made, columns, later))  # noqa: B010 - mypy would ask whether a subclass agrees
    FIELDS[made] = names, values_of
    return made


FIELDS: Final[dict[type, tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]]]]] = {}
"""{class made by this module: (names of its fields, function that returns an object's values in this order)}."""


def altered(one: T, **changes: Any) -> T:
    """Return a copy of an object with some fields changed, as ``dataclasses.replace`` does, but in a tenth of the time.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> altered(Point(1, 2), y=3)
    Point(x=1, y=3)
    """
    kind = type(one)
    known = FIELDS.get(kind)
    if known is None:  # an ordinary dataclass
        return cast("T", replace(cast("Any", one), **changes))
    names, values_of = known
    values = dict(zip(names, values_of(one), strict=True))
    values.update(changes)
    if len(values) > len(names):
        raise TypeError(f"{kind.__qualname__} has no field {[*values][len(names)]!r}")
    return kind(*values.values())


def as_dict(one: object) -> dict[str, Any]:
    """Return {field: value} for an object of a class made here; unlike ``dataclasses.asdict``, do not convert values.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> as_dict(Point(1))
    {'x': 1, 'y': 0}
    """
    names, values_of = FIELDS[type(one)]
    return dict(zip(names, values_of(one), strict=True))


def field_defaults(kind: type) -> dict[str, Any]:
    """Return {field: default} for a class made here; ``MISSING`` for a required field or a ``default_factory``."""
    later: _Later = vars(kind)["__dataclass_fields__"]
    return {name: said.default if isinstance(said, Field) else said for name, said in later.columns.items()}


def _copied(declared: type) -> type:
    """Return a copy of a class: two threads may call ``dataclass`` at once, which works only once for each class."""
    space = {name: value for name, value in vars(declared).items() if name not in {"__dict__", "__weakref__"}}
    return type(declared.__name__, declared.__bases__, space)


class _Later:
    """The ordinary dataclass of a class made here, created when first needed; also gives ``__dataclass_fields__``."""

    __slots__ = ("_declared", "_is_frozen", "_known", "columns")

    def __init__(self, declared: type, columns: Columns, *, is_frozen: bool) -> None:
        """Keep the class as it was written (``declared``) and its fields (``columns``)."""
        self._declared = declared
        self._is_frozen = is_frozen
        self._known: type | None = None
        self.columns = columns

    def __call__(self) -> type:
        """Return the ordinary dataclass; create it at the first call."""
        if self._known is None:
            self._known = dataclass(frozen=self._is_frozen, repr=False, eq=False)(_copied(self._declared))
        return self._known

    def __get__(self, one: object, owner: type) -> object:
        """Return ``__dataclass_fields__`` of the ordinary dataclass, which the functions of ``dataclasses`` read."""
        return vars(self())["__dataclass_fields__"]


class _Params:
    """The ``__dataclass_params__`` of a class made here, taken from its ordinary dataclass."""

    __slots__ = ("_later",)

    def __init__(self, later: _Later) -> None:
        """Keep ``later``, which returns the ordinary dataclass."""
        self._later = later

    def __get__(self, one: object, owner: type) -> object:
        """Return ``__dataclass_params__`` of the ordinary dataclass, which the functions of ``dataclasses`` read."""
        return vars(self._later())["__dataclass_params__"]


def _columns(declared: type, own: dict[str, Any]) -> tuple[Columns, list[str]]:
    """Return (fields of a class, including those of its parents; names of the fields that it adds).

    Remove the defaults of its fields from ``own``, the namespace of the class.
    """
    columns: Columns = {}
    if declared.__bases__ != (object,):
        for parent in declared.__bases__:
            if parent is not Generic:
                known = vars(parent).get("__dataclass_fields__")
                assert isinstance(known, _Later), f"{declared}: inherits from what is not frozen like it"
                columns |= known.columns
    annotations = declared.__annotations__
    added = [name for name in annotations if name not in columns] if columns else [*annotations]
    for name in annotations:
        columns[name] = own.pop(name, MISSING)
    plain = all(said.init and said.kw_only in {MISSING, False} for said in columns.values() if type(said) is Field)
    plain = plain and "ClassVar" not in "".join(map(str, annotations.values()))
    assert plain, f"{declared}: a case for @dataclass itself"
    return columns, added


def _declarations(columns: Columns) -> dict[str, Field[Any]]:
    """Return {field: its ``Field``}; make a ``Field`` for each field that has none."""
    return {
        name: said if isinstance(said, Field) else _GIVEN if said is MISSING else field(default=said)
        for name, said in columns.items()
    }


def _reader(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """Return a function that returns the values of an object's fields as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _of_comparing(columns: Columns, values: Callable[[object], tuple[Any, ...]]) -> dict[str, Callable[..., Any]]:
    """Return the methods that only a frozen class has: comparison, hash, pickling, and the refusal of changes."""
    compared = values
    if Field in map(type, columns.values()):
        names = tuple(name for name, said in columns.items() if not isinstance(said, Field) or said.compare)
        compared = values if len(names) == len(columns) else _reader(names)

    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(compared(self))

    def reduced(self: object) -> tuple[type, tuple[Any, ...]]:
        return type(self), values(self)

    return {
        "__eq__": equal,
        "__hash__": hashed,
        "__reduce__": reduced,
        "__setattr__": _raise_frozen,
        "__delattr__": _raise_frozen,
    }


def _repr_of(columns: Columns) -> Callable[[object], str]:
    def shown_as(self: object) -> str:
        shown = [name for name, said in columns.items() if not isinstance(said, Field) or said.repr]
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return shown_as


def _parts_of(made: type, columns: Columns) -> _Parts:
    needed, factories, defaults = set(), {}, {}
    for name, said in columns.items():
        is_field = isinstance(said, Field)
        default = said.default if is_field else said
        if default is not MISSING:
            defaults[name] = default
        elif is_field and said.default_factory is not MISSING:
            factories[name] = said.default_factory
        else:
            needed.add(name)
    return {name: getattr(made, name).__set__ for name in columns}, needed, factories, defaults


def _init_of(made: type, columns: Columns, later: Callable[[], type]) -> Callable[..., None]:
    """Return an ``__init__`` that binds arguments one by one; the ordinary dataclass reports wrong arguments."""
    parts: _Parts | None = None  # of most classes no object is made
    left = UNTIL_COMPILED

    def init(self: object, *given: Any, **named: Any) -> None:
        nonlocal left, parts
        left -= 1
        if parts is None:
            parts = _parts_of(made, columns)
        setters, needed, factories, defaults = parts
        bound = dict(zip(setters, given, strict=False))
        bound.update(named)
        if len(bound) < len(given) + len(named) or not needed <= bound.keys() <= setters.keys():
            vars(later())["__init__"](self, *given, **named)
        if left <= 0:
            setattr(made, "__init__", _compiled(made, columns, later))  # noqa: B010 - as above
        for name, make in factories.items():
            if name not in bound:
                bound[name] = make()
        for name, value in (defaults | bound).items():
            setters[name](self, value)

    return init


def _compiled(made: type, columns: Columns, later: Callable[[], type]) -> Callable[..., None]:
    """Return a compiled ``__init__``, which takes a third of the time of a frozen dataclass's.

    While it sets the fields of a frozen object, the object has a twin class that permits ordinary assignment. Up to
    ``FEW_FIELDS`` fields are set one by one instead, which is faster. If a twin would have another memory layout,
    return the ``__init__`` of the ordinary dataclass.
    """
    if made.__bases__ != (object,) or not columns or "__dict__" in vars(made):
        slow: Callable[..., None] = vars(later())["__init__"]
        return slow
    known: dict[str, Any] = {"_made": made, "_absent": object(), "_become": vars(object)["__class__"].__set__}
    heads, lines = [], []
    for name, said in _declarations(columns).items():
        is_needed = said.default is said.default_factory is MISSING
        heads.append(name if is_needed else f"{name}=_default_{name}")
        known[f"_default_{name}"] = known["_absent"] if said.default is MISSING else said.default
        if said.default_factory is not MISSING:
            known[f"_make_{name}"] = said.default_factory
            lines.append(f"if {name} is _absent: {name} = _make_{name}()")
    fill = [f"self.{name} = {name}" for name in columns]
    if made.__setattr__ is _raise_frozen and len(columns) <= FEW_FIELDS:
        known |= {f"_set_{name}": getattr(made, name).__set__ for name in columns}
        fill = [f"_set_{name}(self, {name})" for name in columns]
    elif made.__setattr__ is _raise_frozen:
        known["_twin"] = type(made.__name__, (), {"__slots__": tuple(columns)})
        known["_later"] = later
        of_another = f"if self.__class__ is not _made: return _later().__init__(self, {', '.join(columns)})"
        fill = [of_another, "_become(self, _twin)", *fill, "self.__class__ = _made"]
    text = "\n ".join([f"def __init__(self, {', '.join(heads)}):", *lines, *fill])
    exec(text, known)  # noqa: S102 - as a dataclass does
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    return init


def _raise_frozen(_self: object, name: str, *_value: object) -> None:
    raise FrozenInstanceError(f"field {name!r} of a frozen class cannot be changed")


if TYPE_CHECKING:
    shared_property = cached_property
else:

    class shared_property(cached_property):  # noqa: N801 - it is used as the one of the standard library
        """``functools.cached_property`` with the lock that it had up to Python 3.11: all threads get the same object."""

        def __init__(self, func: Any) -> None:
            """Keep ``func``, which computes the value from the object; it is called once for each object."""
            super().__init__(func)
            self._computing = RLock()

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value and store it in the object, from which it is then read without this method."""
            with self._computing:
                return super().__get__(instance, owner)
