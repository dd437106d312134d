"""Deferred patterns: those that a library compiles while it is imported are compiled when they are used.

PyYAML compiles ten: three quarters of its import, a tenth of the instructions of a small install. The C parser, which reads our
blueprints, needs none of them.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any


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
