"""Modules that libraries import at once and commands hardly ever use: each is loaded when something in it is asked for.

Python's own ``LazyLoader`` does the same, but loads a module as soon as a second one imports it, and before Python 3.12
two threads could see a module that is half loaded (docs/adr/0018).

Patterns that a library compiles while it is imported wait likewise: PyYAML compiles ten, three quarters of its import, a tenth of the
instructions of a small install. The C parser, which reads our blueprints, needs none of them.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
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


class LaterPattern:
    """Stands for the pattern of these arguments of ``re.compile``. A copy of it is an ordinary pattern."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        """Nothing is compiled yet, so nothing is wrong yet either."""
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """What the pattern has under that name; asked once, then it is here."""
        if name == "_arguments":  # of an object that is being made
            raise AttributeError(name)
        found = getattr(re.compile(*self._arguments), name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """As the pattern itself."""
        return re.compile, self._arguments


class _Deferring(ModuleType):
    """``re`` as a module sees it while it is imported."""

    compile = LaterPattern

    def __getattr__(self, name: str) -> Any:
        return getattr(re, name)


_RE = _Deferring("re")


def _import(name: str, *others: Any, **options: Any) -> Any:
    return _RE if name == "re" else builtins.__import__(name, *others, **options)


class _Loader(SourceFileLoader):
    """Runs a module that compiles nothing at once. No other module is touched by that."""

    def exec_module(self, module: ModuleType) -> None:
        """With ``re`` as it is for everybody, once the module is imported."""
        own = vars(module)
        own["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)
        if own.get("re") is _RE:
            own["re"] = re


def spec_of(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Where the module lies, and that it is imported this way; nothing where it is no ordinary file."""
    spec = PathFinder.find_spec(name, path)
    if spec is None or type(spec.loader) is not SourceFileLoader:
        return None
    spec.loader = _Loader(spec.loader.name, spec.loader.path)
    return spec
