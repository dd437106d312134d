"""Functions that installed distributions announce (B40): known by name at once, imported when a blueprint uses one.

Installed distributions are a fact of the process, like ``sys.path``, and so is this table: the shell sets once where to
look (``ANNOUNCED.look_in``). A mapping with one key is looked up here only if it is not a built-in function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.dsl.functions.scope import Scope
    from phaseline.model.blueprint.blueprint import Value


class AnnouncedFunctionError(Exception):
    """An error raised by a third-party function, or a fault of the function itself. ``kind``: the class that it raised."""

    def __init__(self, message: str, mend: str, kind: str) -> None:
        """``mend``: what to do about it."""
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.kind = kind


class AnnouncedFunction(Protocol):
    """A third-party function. Each method raises ``AnnouncedFunctionError`` for any exception of its code."""

    def check(self, written: Mapping[str, Value]) -> None:
        """Check the arguments as written; they may contain functions."""
        ...

    def check_in(self, written: Mapping[str, Value], plan: Mapping[str, object]) -> None:
        """Check the arguments within the plan of the whole blueprint."""
        ...

    def evaluate(self, written: Mapping[str, Value], scope: Scope) -> Value:
        """The function's value for evaluated arguments; functions in this value are evaluated afterwards."""
        ...


class FunctionFinder(Protocol):
    """Knows what is installed."""

    def names(self) -> Collection[str]:
        """The names of all functions that are announced; imports nothing."""
        ...

    def load(self, name: str) -> AnnouncedFunction:
        """Import the function of this name. Raises ``AnnouncedFunctionError`` if that fails."""
        ...


class ThirdPartyFunctions:
    """The third-party functions in this process."""

    def __init__(self) -> None:
        """Start without any function."""
        self._finder: Callable[[], FunctionFinder] | None = None
        self._found: FunctionFinder | None = None
        self._names: frozenset[str] | None = frozenset()
        self._expected: frozenset[str] = frozenset()
        self._loaded: dict[str, AnnouncedFunction] = {}

    def look_in(self, finder: Callable[[], FunctionFinder] | None) -> None:
        """Use ``finder`` from now on, called at the first lookup; None: there are no functions."""
        if finder is self._finder:
            return
        self._finder = finder
        self._found = None
        self._names = frozenset() if finder is None else None
        self._loaded = {}

    def expect(self, names: Collection[str]) -> None:
        """Treat these names as functions even if they are not installed, because a stored blueprint uses them."""
        if not self._expected.issuperset(names):
            self._expected |= frozenset(names)

    @property
    def known(self) -> object:
        """An object that is equal to an earlier one while the set of known functions is unchanged."""
        return self._finder, self._expected

    def knows(self, name: str) -> bool:
        """True for the name of a function that is announced, or was when a blueprint was read."""
        names = self._look() if self._names is None else self._names
        return name in names or name in self._expected

    def function(self, name: str) -> AnnouncedFunction:
        """The function itself. Raises ``AnnouncedFunctionError`` if it cannot be imported, or is installed no longer."""
        found = self._loaded.get(name)
        if found is None:
            names = self._look() if self._names is None else self._names
            if self._found is None or name not in names:
                message = f"the function '{name}' is not installed any longer"
                raise AnnouncedFunctionError(message, "install the distribution that brought it", "ImportError")
            found = self._loaded[name] = self._found.load(name)
        return found

    def _look(self) -> frozenset[str]:
        assert self._finder is not None, "names are looked up only if there is a finder"
        self._found = self._finder()
        self._names = frozenset(self._found.names())
        return self._names


ANNOUNCED = ThirdPartyFunctions()
