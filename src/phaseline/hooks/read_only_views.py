"""Read-only views of values for hooks. Each level of a nested value is wrapped when it is first accessed.

Hooks see live data, because deep copies of ten thousand instances take a fifth of a second. Mappings and lists are
wrapped in objects that raise ``ReadOnlyError``, with the path of the value, if a hook writes to them. ``thaw`` returns
a deep copy that may be changed.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from typing import Any, Generic, NoReturn, Self, TypeAlias, TypeVar, cast

from phaseline.model.deployment.runtime_properties import SCALARS, copy

T = TypeVar("T")
Path: TypeAlias = "str | Unwritten | tuple[Path, object]"
"""Path of a value, for messages: a name, a view, or (path of the container, key). ``path_text`` turns it into text."""


class Dot(str):
    """Key of a path that is an attribute's name; it is shown as ``.name`` instead of ``['name']``."""

    __slots__ = ()


class ReadOnlyError(TypeError, AttributeError):
    """Raised if a hook tries to change a read-only view; the text has the path of the value."""

    def __init__(self, path: Path) -> None:
        """Make the error. ``path``: the path of the value, such as ``stack.resources['web_1'].name``."""
        path = path_text(path)
        super().__init__(
            f"{path} cannot be written: views of hooks are read-only; thaw() returns a copy that can be changed"
        )
        self.path = path


class kept(Generic[T]):  # noqa: N801 - used like property
    """A property that is computed once, like ``functools.cached_property``, but without its lock, at a tenth of the
    cost.
    """

    def __init__(self, work_out: Callable[[Any], T]) -> None:
        """Decorate a method without arguments; objects of its class must have a ``__dict__``."""
        self._work_out, self._name, self.__doc__ = work_out, work_out.__name__, work_out.__doc__

    def __get__(self, one: Any, _owner: object = None) -> T:
        """Compute the value, and store it in the object, which returns it directly from now on."""
        value = one.__dict__[self._name] = self._work_out(one)
        return value


class Unwritten:
    """Base class of views for hooks: setting or deleting an attribute raises ``ReadOnlyError``. See ``filled``."""

    __slots__ = ()

    @property
    def path(self) -> Path:
        """The path by which a hook accesses this view, such as ``stack.resources['web_1']``."""
        raise NotImplementedError

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise ReadOnlyError((self, Dot(name)))

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError((self, Dot(name)))


def filled(one: object, **values: object) -> None:
    """Set attributes of a view while it is being made, bypassing its write protection."""
    for name, value in values.items():
        object.__setattr__(one, name, value)


def read_only(value: object, path: Path) -> Any:
    """Return a view of a value: a wrapper for a mapping or list, otherwise the value itself.

    ``path`` is used in messages.

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
    """Return a deep copy of a value, made of plain dicts and lists, that the caller may change."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return copy(cast("Any", value))


def path_text(path: Path) -> str:
    """Return a path as text.

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
    """A read-only view of a mapping. It is a dict, so that code which requires a dict (json, isinstance) accepts it.

    Each value is wrapped when it is first accessed.
    """

    __slots__ = ("_above", "_key")

    def __init__(self, below: Mapping[Any, Any], above: Path, key: object = "") -> None:
        """Wrap the mapping ``below``.

        Its path is ``above`` itself, or, if ``key`` is given, this key in the container ``above``.
        """
        dict.__init__(self, below)
        self._above = above
        self._key = key

    @property
    def _path(self) -> Path:
        return (self._above, self._key) if self._key != "" else self._above

    def __getitem__(self, key: Any) -> Any:
        """Return the value of a key, wrapped if necessary."""
        value = dict.__getitem__(self, key)
        if type(value) in SCALARS:
            return value
        seen = read_only(value, (self._path, key))
        if seen is not value:
            dict.__setitem__(self, key, seen)
        return seen

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, wrapped if necessary, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what dict.get is made of

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys. Defined so that ``dict(...)`` and ``**`` read the wrapped values.

        Without this method they would copy the unwrapped values directly.
        """
        return dict.__iter__(self)

    def values(self) -> Any:
        """Return the values, wrapped if necessary."""
        return ValuesView(self)

    def items(self) -> Any:
        """Return the (key, value) pairs, with values wrapped if necessary."""
        return ItemsView(self)

    iteritems = items
    itervalues = values

    def thaw(self) -> dict[Any, Any]:
        """Return a deep copy that the caller may change."""
        copied: dict[Any, Any] = thaw(self)
        return copied

    def copy(self) -> dict[Any, Any]:
        """Return a plain dict with these items, whose values are still read-only."""
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
    """A read-only view of a list: a tuple of wrapped items. Trying to change it raises
    ``ReadOnlyError`` with its path.
    """

    _path: Path

    def __new__(cls, below: Any, path: Path) -> Self:
        """Wrap the items of a list or tuple. ``path``: the path by which a hook accesses it, for messages."""
        made = super().__new__(cls, [read_only(item, (path, at)) for at, item in enumerate(below)])
        made.__dict__["_path"] = path
        return made

    def __eq__(self, other: object) -> bool:
        """Compare the view with a list or tuple as a list would."""
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def thaw(self) -> list[Any]:
        """Return a deep copy that the caller may change."""
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
