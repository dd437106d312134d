"""Functions that installed distributions offer (B40): names are known at once, code is imported when it is used.

All parts of the process share one table of functions, like ``sys.path``. The program calls ``ANNOUNCED.look_in`` once,
to set how the table is filled. A mapping with one key is looked up here only if it is not a built-in function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.dsl.functions.scope import Scope
    from phaseline.model.blueprint.blueprint import Value


class AnnouncedFunctionError(Exception):
    """An error raised by a third-party function. ``kind`` is the name of the exception class that it raised."""

    def __init__(self, message: str, mend: str, kind: str) -> None:
        """Store the message, the advice how to mend the error (``mend``), and the name of the exception class."""
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.kind = kind


class AnnouncedFunction(Protocol):
    """A third-party function. Each method raises ``AnnouncedFunctionError`` for any exception of its code."""

    def check(self, written: Mapping[str, Value]) -> None:
        """Check the arguments as written in the blueprint; they may contain functions."""
        ...

    def check_in(self, written: Mapping[str, Value], plan: Mapping[str, object]) -> None:
        """Check the arguments together with the plan of the whole blueprint."""
        ...

    def evaluate(self, written: Mapping[str, Value], scope: Scope) -> Value:
        """Return the value for evaluated arguments; functions in this value are evaluated afterwards."""
        ...


class FunctionFinder(Protocol):
    """Finds the functions of installed distributions."""

    def names(self) -> Collection[str]:
        """Return the names of all offered functions, without importing their code."""
        ...

    def load(self, name: str) -> AnnouncedFunction:
        """Import the function of this name. Raises ``AnnouncedFunctionError`` if that fails."""
        ...


class ThirdPartyFunctions:
    """All third-party functions that this process knows."""

    def __init__(self) -> None:
        """Create an empty table."""
        self._finder: Callable[[], FunctionFinder] | None = None
        self._found: FunctionFinder | None = None
        self._names: frozenset[str] | None = frozenset()
        self._expected: frozenset[str] = frozenset()
        self._loaded: dict[str, AnnouncedFunction] = {}

    def look_in(self, finder: Callable[[], FunctionFinder] | None) -> None:
        """Set how third-party functions are found: at the first lookup, ``finder`` creates the object that finds them.

        With None there are no third-party functions.
        """
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
        """A value for comparison: it stays equal as long as the same names count as functions."""
        return self._finder, self._expected

    def knows(self, name: str) -> bool:
        """Return True for a name that a distribution offers, or that a stored blueprint uses as a function."""
        names = self._look() if self._names is None else self._names
        return name in names or name in self._expected

    def function(self, name: str) -> AnnouncedFunction:
        """Return the function ``name``. Raises ``AnnouncedFunctionError`` if it is not installed or not importable."""
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
