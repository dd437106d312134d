"""Functions for blueprints that installed distributions announce by entry points (B40).

The functions' names are read from the distributions' metadata. A function's module is imported only when a blueprint
uses the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from phaseline.catalog.code.entry_points import is_announced
from phaseline.dsl.functions.third_party import AnnouncedFunctionError
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from importlib.metadata import EntryPoint

    from phaseline.dsl.functions.scope import Scope
    from phaseline.dsl.functions.third_party import AnnouncedFunction
    from phaseline.model.blueprint.blueprint import Value

    Guard = Callable[[str, str], AbstractContextManager[None]]
    Adapter = Callable[[str, Callable[..., object], Guard], AnnouncedFunction]

OWN_GROUP = "phaseline.functions"
"""Phaseline's entry-point group: each entry point is a Python function that gets the evaluated argument from the
blueprint.
"""
ANCESTOR_GROUP = "cloudify.tosca.ext.functions"
"""Cloudify's entry-point group: each entry point is a class with ``parse_args``, ``validate`` and ``evaluate``."""


@frozen
class FunctionPlace:
    """An announced function: its name, the distribution (``package``), the distribution's version, and where the code
    is.

    ``target`` is the value of the entry point. ``file`` is empty if the module is not found.
    """

    name: str
    package: str
    version: str
    target: str
    file: str


class InstalledFunctions:
    """The functions that installed distributions announce; implements ``dsl.functions.third_party.FunctionFinder``.

    If a name is announced repeatedly, an entry point of Phaseline's group wins over one of Cloudify's group. Within a
    group, the distribution whose name comes first in the alphabet wins.
    """

    def __init__(self, adapt: Adapter, before_code: Callable[[], None] | None = None) -> None:
        """Read the metadata, unless no distribution on the path names one of the groups.

        ``adapt`` wraps a class of Cloudify's group as a function. ``before_code`` is called before a function is
        imported.
        """
        self._adapt, self._before_code = adapt, before_code
        self._points = _announced_points()

    def names(self) -> frozenset[str]:
        """Return the names of all announced functions."""
        return frozenset(self._points)

    def load(self, name: str) -> AnnouncedFunction:
        """Import the announced function of this name, and wrap it so that blueprints can use it."""
        from phaseline.catalog.code.search_path import offer_shim

        point = self._points[name]
        mend = f"repair or remove the distribution '{_distribution(point)}', or write the value itself"
        offer_shim()
        if self._before_code is not None:
            self._before_code()
        with guarded(f"the function '{name}' cannot be imported", mend):
            found = point.load()
            if not callable(found):
                raise TypeError(f"{point.value} is not callable")
        if point.group == OWN_GROUP:
            return OwnFunction(name, found)
        return self._adapt(name, found, guarded)


def function_places() -> Iterator[FunctionPlace]:
    """Yield all announced functions by name, without importing any."""
    from phaseline.catalog.code.search_path import find_spec

    for name, point in sorted(_announced_points().items()):
        spec = find_spec(point.module, None)
        version = point.dist.version if point.dist is not None else ""
        file = spec.origin or "" if spec is not None else ""
        yield FunctionPlace(name, _distribution(point), version, point.value, file)


def _announced_points() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    if is_announced(OWN_GROUP, ANCESTOR_GROUP):
        from importlib.metadata import entry_points

        for group in (ANCESTOR_GROUP, OWN_GROUP):
            points = sorted(entry_points(group=group), key=_distribution, reverse=True)
            found.update((point.name, point) for point in points)
    return found


@contextmanager
def guarded(what: str, mend: str) -> Iterator[None]:
    """Run plugin code in a ``with`` block, and turn its exceptions into ``AnnouncedFunctionError``.

    ``ProblemsError`` and ``NotYetKnown``, which come from the blueprint's own evaluation, pass unchanged. ``what``
    names the code at the beginning of the message, and ``mend`` is the advice how to correct the error.
    """
    from phaseline.dsl.functions.scope import NotYetKnown

    try:
        yield
    except (ProblemsError, NotYetKnown):
        raise
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        said = str(error) or kind
        raise AnnouncedFunctionError(f"{what}: {said}", mend, kind) from error


@frozen
class OwnFunction:
    """A function of Phaseline's group. ``call`` gets the evaluated argument, and raises an exception if the argument is
    wrong.
    """

    name: str
    call: Callable[[Value], Value]

    def check(self, written: Mapping[str, Value]) -> None:
        """Do nothing: the function can check its argument only when the argument has been evaluated."""

    def check_in(self, written: Mapping[str, Value], plan: Mapping[str, object]) -> None:
        """Do nothing: the function does not know the plan."""

    def evaluate(self, written: Mapping[str, Value], scope: Scope) -> Value:  # noqa: ARG002 - the protocol's signature
        """Call the function with its evaluated argument, and return its result."""
        with guarded(f"'{self.name}'", "correct what it is given"):
            return self.call(written[self.name])


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""
