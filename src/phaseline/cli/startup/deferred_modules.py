"""Deferred modules: libraries import them at once, commands hardly ever use them; each is loaded on first use.

Python's own ``LazyLoader`` does the same, but loads a module as soon as a second one imports it, and before Python 3.12
two threads could see a module that is half loaded (docs/adr/0018).

Patterns that a library compiles while it is imported are deferred too. PyYAML compiles ten: three quarters of its import, a tenth of the
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
    """A module whose name and file are known; the first missing attribute loads the module, into this object."""

    def __getattr__(self, name: str) -> Any:
        """Load the module and return its attribute of that name."""
        if name == "__path__":  # Python asks every imported-from module for it; packages have it from the start
            raise AttributeError(f"module {self.__name__!r} is no package")
        load(self)
        return getattr(self, name)

    def __dir__(self) -> Iterable[str]:
        """Load the module and return all its names."""
        load(self)
        return dir(self)


_loading = RLock()
_under_way: set[str] = set()


def put_off(name: str, known: Mapping[str, object] | None = None) -> None:
    """Defer a module that is not imported yet; until it is loaded it holds ``known``.

    A module that cannot be found is left to the import statement. For a part of a package that is not loaded yet, call
    ``bind`` once the package is loaded.
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
    """Set the part as an attribute of its package, as an import does; nothing if the package has it already."""
    vars(package).setdefault(name.rpartition(".")[2], sys.modules[name])


def _found(name: str) -> ModuleSpec | None:
    """The spec of a module; its package is searched for, not loaded."""
    package = name.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(name)
    around = _found(package)
    return PathFinder.find_spec(name, around.submodule_search_locations) if around is not None else None


def load(module: ModuleType) -> None:
    """Load a deferred module. An attribute that it lacks during loading is missing, as in any import."""
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
    """A placeholder for the pattern of these arguments of ``re.compile``. A copy of it is an ordinary pattern."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        """Keep the arguments; nothing is compiled, so no error is raised yet."""
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the pattern; looked up once, then kept here."""
        if name == "_arguments":  # copy and pickle ask an object that is being made
            raise AttributeError(name)
        found = getattr(re.compile(*self._arguments), name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the pattern itself."""
        return re.compile, self._arguments


class _Deferring(ModuleType):
    """The module ``re`` as a library sees it while it is imported."""

    compile = LaterPattern

    def __getattr__(self, name: str) -> Any:
        return getattr(re, name)


_RE = _Deferring("re")


def _import(name: str, *others: Any, **options: Any) -> Any:
    return _RE if name == "re" else builtins.__import__(name, *others, **options)


class _Loader(SourceFileLoader):
    """A loader that runs a module without compiling its patterns. No other module is affected."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then give it the ordinary ``re`` again."""
        own = vars(module)
        own["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)
        if own.get("re") is _RE:
            own["re"] = re


def spec_of(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """The spec of the module with this loader; None if it is no ordinary file."""
    spec = PathFinder.find_spec(name, path)
    if spec is None or type(spec.loader) is not SourceFileLoader:
        return None
    spec.loader = _Loader(spec.loader.name, spec.loader.path)
    return spec
