"""``@frozen``: like ``@dataclass(frozen=True, slots=True)``, but nothing is compiled when a class is declared.

A dataclass writes six methods as text and compiles them, which takes about a millisecond. A command declares 130 such
classes and creates only a few objects of most. Here the methods are closures (docs/adr/0010). The class becomes an
ordinary dataclass only when its fields are needed (``fields``, ``replace``, ``asdict``). It gets a compiled
``__init__`` once so many objects are created that this pays off.

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
Columns = dict[str, Field[Any]]
"""{name of a field: its declaration}."""
_Parts = tuple[dict[str, Callable[..., None]], set[str], dict[str, Any], dict[str, Any]]
"""What sets each field, the fields that must be given, what makes a default, the defaults."""

_GIVEN: Final[Field[Any]] = field()
"""The declaration of a field without a default; it is never changed."""

UNTIL_COMPILED: Final = 64
"""Objects of a class until compiling its ``__init__`` (0.6 ms) costs less than going without (4 µs an object)."""

FEW_FIELDS: Final = 3
"""Up to so many fields are set past the refusal of the class: to become another class and back costs as much as four."""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(declared: type[T]) -> type[T]:
    """The class with slots, and with the methods of a frozen dataclass; with a ``cached_property`` also with room beside them.

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
    """What ``@dataclass(eq=False, slots=True)`` gives, declared as cheaply: an object is equal to itself alone."""
    return _made(declared, is_frozen=False)


def _made(declared: type[T], *, is_frozen: bool) -> type[T]:
    inherited = _inherited(declared)
    columns = inherited | _columns(declared)
    values_of = _reader(tuple(columns))
    later = _Once(lambda: dataclass(frozen=is_frozen, repr=False, eq=False)(_copied(declared)))
    own = {name: value for name, value in vars(declared).items() if name not in columns}
    del own["__dict__"], own["__weakref__"]
    beside = ("__dict__", "__weakref__") if any(type(value) is cached_property for value in own.values()) else ()
    space = {
        "__qualname__": declared.__qualname__,
        "__slots__": (*(name for name in columns if name not in inherited), *beside),
        "__match_args__": tuple(columns),
        "__dataclass_fields__": _Later("__dataclass_fields__", columns, later),
        "__dataclass_params__": _Later("__dataclass_params__", columns, later),
        "__repr__": _repr_of(columns),
    }
    if is_frozen:
        space |= {**_of_comparing(columns, values_of), "__setattr__": _raise_frozen, "__delattr__": _raise_frozen}
    made = cast("type[T]", type(declared.__name__, declared.__bases__, space | own))
    setattr(made, "__init__", _init_of(made, columns, later))  # noqa: B010 - mypy would ask whether a subclass agrees
    FIELDS[made] = {name: place for place, name in enumerate(columns)}, values_of
    return made


FIELDS: Final[dict[type, tuple[dict[str, int], Callable[[object], tuple[Any, ...]]]]] = {}
"""{class declared here: ({field: its place}, what gives the values of an object in this order)}"""


def altered(one: T, **changes: Any) -> T:
    """What ``dataclasses.replace`` gives for an object of a class declared here, at a tenth of its price.

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
    places, values_of = known
    values = list(values_of(one))
    try:
        for name, value in changes.items():
            values[places[name]] = value
    except KeyError as unknown:
        raise TypeError(f"{kind.__qualname__} has no field {unknown}") from None
    return kind(*values)


def as_dict(one: object) -> dict[str, Any]:
    """{field: value} of an object of a class declared here, as ``dataclasses.asdict`` but without looking into values.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> as_dict(Point(1))
    {'x': 1, 'y': 0}
    """
    places, values_of = FIELDS[type(one)]
    return dict(zip(places, values_of(one), strict=True))


def field_defaults(kind: type) -> dict[str, Any]:
    """{field: its default} of a class declared here; ``MISSING`` for required fields."""
    later: _Later = vars(kind)["__dataclass_fields__"]
    return {name: said.default for name, said in later.columns.items()}


def _copied(declared: type) -> type:
    """The class declared once more: two threads may ask at once, and a dataclass cannot be made of one class twice."""
    space = {name: value for name, value in vars(declared).items() if name not in {"__dict__", "__weakref__"}}
    return type(declared.__name__, declared.__bases__, space)


class _Once:
    """What ``functools.cache`` makes of a function without arguments, ten times as fast."""

    __slots__ = ("_known", "_make")

    def __init__(self, make: Callable[[], type]) -> None:
        """Called when it is first needed."""
        self._make = make
        self._known: type | None = None

    def __call__(self) -> type:
        """What it gave."""
        if self._known is None:
            self._known = self._make()
        return self._known


class _Later:
    """What the standard library wants to know of a dataclass, made when it asks."""

    def __init__(self, name: str, columns: Columns, later: Callable[[], type]) -> None:
        """``later`` gives the dataclass, ``name`` is what is asked of it."""
        self.name, self.columns, self.later = name, columns, later

    def __get__(self, one: object, owner: type) -> object:
        """As the dataclass has it."""
        return vars(self.later())[self.name]


def _inherited(declared: type) -> Columns:
    columns: Columns = {}
    for parent in declared.__bases__:
        if parent not in {object, Generic}:
            known = vars(parent).get("__dataclass_fields__")
            assert isinstance(known, _Later), f"{declared}: inherits from what is not frozen like it"
            columns |= known.columns
    return columns


def _columns(declared: type) -> Columns:
    columns = {}
    for name, kind in declared.__annotations__.items():
        given = vars(declared).get(name, MISSING)
        if given is MISSING:
            said = _GIVEN
        else:
            said = given if isinstance(given, Field) else field(default=given)
        columns[name] = said
        plain = said.init and said.kw_only in {MISSING, False} and "ClassVar" not in str(kind)
        assert plain, f"{declared}.{name}: a case for @dataclass itself"
    return columns


def _reader(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """What gives the values of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _of_comparing(columns: Columns, values: Callable[[object], tuple[Any, ...]]) -> dict[str, Callable[..., Any]]:
    names = tuple(name for name, said in columns.items() if said.compare)
    compared = values if len(names) == len(columns) else _reader(names)

    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(compared(self))

    def reduced(self: object) -> tuple[type, tuple[Any, ...]]:
        return type(self), values(self)

    return {"__eq__": equal, "__hash__": hashed, "__reduce__": reduced}


def _repr_of(columns: Columns) -> Callable[[object], str]:
    def shown_as(self: object) -> str:
        shown = [name for name, said in columns.items() if said.repr]
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return shown_as


def _parts_of(made: type, columns: Columns) -> _Parts:
    needed = {name for name, said in columns.items() if said.default is said.default_factory is MISSING}
    factories = {name: said.default_factory for name, said in columns.items() if said.default_factory is not MISSING}
    defaults = {name: said.default for name, said in columns.items() if name not in needed | factories.keys()}
    return {name: getattr(made, name).__set__ for name in columns}, needed, factories, defaults


def _init_of(made: type, columns: Columns, later: Callable[[], type]) -> Callable[..., None]:
    """Binds the arguments one by one; wrong arguments are reported by the dataclass."""
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
    """An ``__init__`` at a third of the cost of a frozen dataclass's.

    While it is filled, the object has a twin class, whose attributes are set in the ordinary way; a few attributes are
    faster to set one by one. If the twin would have another memory layout, the frozen dataclass is used.
    """
    if made.__bases__ != (object,) or not columns or "__dict__" in vars(made):
        slow: Callable[..., None] = vars(later())["__init__"]
        return slow
    known: dict[str, Any] = {"_made": made, "_absent": object(), "_become": vars(object)["__class__"].__set__}
    heads, lines = [], []
    for name, said in columns.items():
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
            """``func`` is called with the object, once."""
            super().__init__(func)
            self._computing = RLock()

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The value computed first; afterwards it is stored in the object and this is not called."""
            with self._computing:
                return super().__get__(instance, owner)
