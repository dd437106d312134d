"""Modules that libraries import at once and commands hardly ever use: each is loaded when something in it is asked for.

Python's own ``LazyLoader`` does the same, but loads a module as soon as a second one imports it, and before Python 3.12
two threads could see a module that is half loaded (docs/adr/0020).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """A module whose name and place are known; the first thing that is missing in it loads it, into this very object."""

    def __getattr__(self, name: str) -> Any:
        """What the module has under that name, once it is loaded."""
        if name == "__path__":  # asked of everything that something is imported from; packages have it from the start
            raise AttributeError(f"module {self.__name__!r} is no package")
        load(self)
        return getattr(self, name)

    def __dir__(self) -> Iterable[str]:
        """All its names, as of any module."""
        load(self)
        return dir(self)


_loading = RLock()
_under_way: set[str] = set()


def put_off(name: str, known: Mapping[str, object] | None = None) -> None:
    """Let a module that nobody has imported yet be loaded later; ``known`` is in it until then.

    A module that cannot be found is left to whoever imports it. Of a part of a package that is not loaded yet, ``bind``
    has to be called when that is.
    """
    if name in sys.modules:
        return
    spec = _found(name)
    if spec is None or spec.origin is None:
        return
    module = DeferredModule(name)
    module.__spec__, module.__loader__, module.__file__, module.__package__ = (
        spec,
        spec.loader,
        spec.origin,
        spec.parent,
    )
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    vars(module).update(known or {})
    sys.modules[name] = module
    package = sys.modules.get(name.rpartition(".")[0])
    if package is not None:
        bind(package, name)


def bind(package: ModuleType, name: str) -> None:
    """Let a package have its part under its own name, as an import does; nothing if the package knows it already."""
    vars(package).setdefault(name.rpartition(".")[2], sys.modules[name])


def _found(name: str) -> ModuleSpec | None:
    """Where a module lies; the package that it is part of is looked for, not loaded."""
    package = name.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(name)
    around = _found(package)
    return PathFinder.find_spec(name, around.submodule_search_locations) if around is not None else None


def load(module: ModuleType) -> None:
    """Load a module that was put off. What it lacks while it is being loaded is missing, as in any import."""
    with _loading:
        name = module.__name__
        if type(module) is not DeferredModule:
            return
        if name in _under_way:
            raise AttributeError(f"module {name!r} is not loaded yet")
        assert module.__spec__ is not None
        assert module.__spec__.loader is not None
        _under_way.add(name)
        try:
            module.__spec__.loader.exec_module(module)
            module.__class__ = ModuleType  # type: ignore[assignment]  # the same layout
        finally:
            _under_way.discard(name)
