"""Read-only values for hooks, wrapped one level at a time, when they are accessed.

A hook sees live data, because deep copies of ten thousand instances take a fifth of a second. So mappings come as mappings
and lists as tuples that raise ``ReadOnlyError`` on writing, with the place. Wrapped values are kept.
``thaw`` returns a private deep copy that may be changed.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from typing import Any, Generic, NoReturn, Self, TypeAlias, TypeVar, cast

from phaseline.model.deployment.runtime_properties import SCALARS, copy

T = TypeVar("T")
Path: TypeAlias = "str | Unwritten | tuple[Path, object]"
"""The path of a value: a name, an object, or (container's path, key). It becomes text only for a message."""


class Dot(str):
    """A key that is an attribute's name."""

    __slots__ = ()


class ReadOnlyError(TypeError, AttributeError):
    """A hook wrote into what it was only to look at; the text names the place."""

    def __init__(self, path: Path) -> None:
        """``path``: the place of the refused change, such as ``stack.resources['web_1'].name``."""
        path = path_text(path)
        super().__init__(
            f"{path} cannot be written: views of hooks are read-only; thaw() returns a copy that can be changed"
        )
        self.path = path


class kept(Generic[T]):  # noqa: N801 - used like property
    """A property that is worked out once: what ``functools.cached_property`` is, without its lock (a tenth of its price)."""

    def __init__(self, work_out: Callable[[Any], T]) -> None:
        """Of a method without arguments, of a class whose objects have a ``__dict__``."""
        self._work_out, self._name, self.__doc__ = work_out, work_out.__name__, work_out.__doc__

    def __get__(self, one: Any, _owner: object = None) -> T:
        """The value, which is stored in the object from now on."""
        value = one.__dict__[self._name] = self._work_out(one)
        return value


class Unwritten:
    """What classes of this package share whose objects are shown to hooks: attributes are set once, when they are made."""

    __slots__ = ()

    @property
    def path(self) -> Path:
        """How a hook came to it."""
        raise NotImplementedError

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise ReadOnlyError((self, Dot(name)))

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError((self, Dot(name)))


def filled(one: object, **values: object) -> None:
    """Set attributes of such an object while it is being made."""
    for name, value in values.items():
        object.__setattr__(one, name, value)


def read_only(value: object, path: Path) -> Any:
    """The value as hooks see it: itself if it cannot be changed, else wrapped. ``path``: how they came to it.

    >>> seen = read_only({"ports": [80, {"to": 443}]}, "inputs")
    >>> seen["ports"]
    (80, {'to': 443})
    >>> seen["ports"][1]["to"] = 444
    Traceback (most recent call last):
      ...
    phaseline.hooks.read_only_views.ReadOnlyError: inputs['ports'][1]['to'] cannot be written: views of hooks are read-only; thaw() returns a copy that can be changed
    """
    kind = type(value)
    if kind in SCALARS or kind is SeenMapping or kind is SeenList:
        return value
    if kind is dict or isinstance(value, Mapping):
        return SeenMapping(cast("Mapping[Any, Any]", value), path)
    if isinstance(value, list | tuple):
        return SeenList(value, path)
    return value


def thaw(value: object) -> Any:
    """A deep copy that belongs to the caller alone: plain dicts and lists, writable."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return copy(cast("Any", value))


def path_text(path: Path) -> str:
    """The way as text.

    >>> path_text((("stack", Dot("inputs")), "port"))
    "stack.inputs['port']"
    """
    if isinstance(path, str):
        return path
    if isinstance(path, Unwritten):
        return path_text(path.path)
    before, key = path
    return f"{path_text(before)}.{key}" if isinstance(key, Dot) else f"{path_text(before)}[{key!r}]"


class SeenMapping(dict[Any, Any]):
    """A mapping that is only read. It is a dict, so that everything that asks for one (json, isinstance) takes it.

    Its items are those of the mapping below it, each wrapped when it is first touched.
    """

    __slots__ = ("_above", "_key")

    def __init__(self, below: Mapping[Any, Any], above: Path, key: object = "") -> None:
        """Wrap this mapping. ``above``: the path of its container, with this ``key``; without a key, its own path."""
        dict.__init__(self, below)
        self._above = above
        self._key = key

    @property
    def _path(self) -> Path:
        return (self._above, self._key) if self._key != "" else self._above

    def __getitem__(self, key: Any) -> Any:
        """The value, wrapped."""
        value = dict.__getitem__(self, key)
        if type(value) in SCALARS:
            return value
        seen = read_only(value, (self._path, key))
        if seen is not value:
            dict.__setitem__(self, key, seen)
        return seen

    def get(self, key: Any, default: Any = None) -> Any:
        """The value, wrapped, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what dict.get is made of

    def __iter__(self) -> Iterator[Any]:
        """The keys. Defined here, so that ``dict(...)`` and ``**`` read the wrapped items and do not bypass them."""
        return dict.__iter__(self)

    def values(self) -> Any:
        """The values, wrapped."""
        return ValuesView(self)

    def items(self) -> Any:
        """The pairs, values wrapped."""
        return ItemsView(self)

    iteritems = items
    itervalues = values

    def thaw(self) -> dict[Any, Any]:
        """A deep copy of its own, writable."""
        copied: dict[Any, Any] = thaw(self)
        return copied

    def copy(self) -> dict[Any, Any]:
        """A plain dict with the same items, whose values are still read-only."""
        return dict(self.items())

    def __deepcopy__(self, _memo: object) -> dict[Any, Any]:
        return self.thaw()

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.thaw(),)

    def __or__(self, other: Any) -> Any:
        return self.copy() | dict(other)

    def __ror__(self, other: Any) -> Any:
        return dict(other) | self.copy()

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def __setitem__(self, key: Any, _value: Any) -> NoReturn:
        raise ReadOnlyError((self._path, key))

    def __delitem__(self, key: Any) -> NoReturn:
        raise ReadOnlyError((self._path, key))

    def __ior__(self, _other: Any) -> NoReturn:
        raise ReadOnlyError(self._path)

    def _refuse(self, *_given: Any, **_named: Any) -> NoReturn:
        raise ReadOnlyError(self._path)

    update = setdefault = pop = popitem = clear = _refuse


class SeenList(tuple[Any, ...]):  # noqa: SLOT001 - a tuple can have no slots that are filled
    """A read-only list: a tuple of wrapped items that names its path if code tries to change it."""

    _path: Path

    def __new__(cls, below: Any, path: Path) -> Self:
        """Of the items of a list or tuple; ``path``: how a hook came to it."""
        made = super().__new__(cls, [read_only(item, (path, at)) for at, item in enumerate(below)])
        made.__dict__["_path"] = path
        return made

    def __eq__(self, other: object) -> bool:
        """Whatever a list is equal to: it stands for one."""
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def thaw(self) -> list[Any]:
        """A deep copy of its own, writable."""
        copied: list[Any] = thaw(self)
        return copied

    def __deepcopy__(self, _memo: object) -> list[Any]:
        return self.thaw()

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self.thaw(),)

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise ReadOnlyError((self._path, Dot(name)))

    def __setitem__(self, place: object, _value: object) -> NoReturn:
        raise ReadOnlyError((self._path, place))

    def __delitem__(self, place: object) -> NoReturn:
        raise ReadOnlyError((self._path, place))

    def _refuse(self, *_given: Any, **_named: Any) -> NoReturn:
        raise ReadOnlyError(self._path)

    __iadd__ = append = extend = insert = remove = pop = clear = sort = reverse = _refuse
