"""Deferred modules: each is loaded on first use, because libraries import them but commands hardly ever use them.

Python's ``LazyLoader`` is similar, but loads a module as soon as a second module imports it. Before Python 3.12, two
threads could also see a module that is half loaded (docs/adr/0018).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """A module whose name and file are known. Reading an attribute that it does not have yet loads the module."""

    def __getattr__(self, name: str) -> Any:
        """Load the module and return its attribute with this name."""
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
    """A module spec that is searched for when one of its attributes is read, because each search takes time."""

    def __init__(self, name: str) -> None:
        """Keep the name and the present search path; folders of plugins that are added later are not searched."""
        self.name = name
        self._places = (*sys.path,)
        self._initializing = False  # every import of the module reads it

    def __getattr__(self, name: str) -> Any:
        """Search for the spec and return its attribute with this name. Raises: ``ModuleNotFoundError``."""
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
"""{attribute of a module: attribute of its spec with the same value}"""
_loading = RLock()
_under_way: set[str] = set()


def put_off(name: str, known: Mapping[str, object] | None = None, *, is_package: bool = False) -> None:
    """Defer a module that exists and is not imported yet. Until it is loaded, it has the attributes ``known``.

    For a module in a package that is not loaded yet, call ``bind`` once the package is loaded.
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
    """Set a deferred module as an attribute of its package, as an import does, unless the package has the attribute."""
    vars(package).setdefault(name.rpartition(".")[2], sys.modules[name])


def _found(name: str, places: Sequence[str]) -> ModuleSpec | None:
    """Return the spec of a module; its package is searched for but not loaded."""
    package = name.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(name, places)
    around = _found(package, places)
    return PathFinder.find_spec(name, around.submodule_search_locations) if around is not None else None


def load(module: ModuleType) -> None:
    """Load a deferred module. While it is loading, missing attributes raise an error as in any import."""
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
