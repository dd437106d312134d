"""Deferred modules: libraries import them at once, commands hardly ever use them; each is loaded on first use.

Python's own ``LazyLoader`` does the same, but loads a module as soon as a second one imports it, and before Python 3.12
two threads could see a module that is half loaded (docs/adr/0018).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """A module whose name and file are known; the first missing attribute loads the module, into this object."""

    def __getattr__(self, name: str) -> Any:
        """Load the module and return its attribute of that name."""
        if name in OF_SPEC:
            if (
                name == "__path__" and self.__package__ != self.__name__
            ):  # Python asks every imported-from module for it
                raise AttributeError(f"module {self.__name__!r} is no package")
            return getattr(self.__spec__, OF_SPEC[name])
        load(self)
        return getattr(self, name)

    def __dir__(self) -> Iterable[str]:
        """Load the module and return all its names."""
        load(self)
        return dir(self)


class DeferredSpec(ModuleSpec):
    """A spec that is searched for when an attribute of it is read: a search costs as much as two classes."""

    def __init__(self, name: str) -> None:
        """Keep the name, and the places of now: folders of plugins are added later."""
        self.name = name
        self._places = (*sys.path,)
        self._initializing = False  # every import of the module reads it

    def __getattr__(self, name: str) -> Any:
        """Search for the spec and return its attribute. Raises: ``ModuleNotFoundError``."""
        if type(self) is DeferredSpec:
            found = _found(self.name, self._places)
            if found is None or found.loader is None:
                raise ModuleNotFoundError(f"No module named {self.name!r}", name=self.name)
            del self._places
            vars(self).update(vars(found))
            self.__class__ = ModuleSpec  # type: ignore[assignment]  # the same layout
            return getattr(self, name)
        raise AttributeError(name)


OF_SPEC = {"__file__": "origin", "__loader__": "loader", "__path__": "submodule_search_locations"}
"""{attribute of a module: where its spec has it}"""
_loading = RLock()
_under_way: set[str] = set()


def put_off(name: str, known: Mapping[str, object] | None = None, *, is_package: bool = False) -> None:
    """Defer a module that exists and is not imported yet; until it is loaded it holds ``known``.

    For a part of a package that is not loaded yet, call ``bind`` once the package is loaded.
    """
    if name in sys.modules:
        return
    module = DeferredModule(name)
    own = vars(module)
    del own["__loader__"]
    own["__spec__"] = DeferredSpec(name)
    own["__package__"] = name if is_package else name.rpartition(".")[0]
    if known:
        own.update(known)
    sys.modules[name] = module
    package = sys.modules.get(name.rpartition(".")[0])
    if package is not None:
        bind(package, name)


def bind(package: ModuleType, name: str) -> None:
    """Set the part as an attribute of its package, as an import does; nothing if the package has it already."""
    vars(package).setdefault(name.rpartition(".")[2], sys.modules[name])


def _found(name: str, places: Sequence[str]) -> ModuleSpec | None:
    """The spec of a module; its package is searched for, not loaded."""
    package = name.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(name, places)
    around = _found(package, places)
    return PathFinder.find_spec(name, around.submodule_search_locations) if around is not None else None


def load(module: ModuleType) -> None:
    """Load a deferred module. An attribute that it lacks during loading is missing, as in any import."""
    with _loading:
        name = module.__name__
        if type(module) is not DeferredModule:
            return
        if name in _under_way:
            raise AttributeError(f"module {name!r} is not loaded yet")
        loader: Any = module.__loader__
        vars(module).update({own: getattr(module, own) for own in OF_SPEC if hasattr(module, own)})
        _under_way.add(name)
        try:
            loader.exec_module(module)
            module.__class__ = ModuleType  # type: ignore[assignment]  # the same layout
        finally:
            _under_way.discard(name)
