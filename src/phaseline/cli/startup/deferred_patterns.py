"""Deferred patterns: regular expressions that a library compiles at import are compiled when first used.

PyYAML compiles ten. They take three quarters of its import time and a tenth of the instructions of a small install. The
C parser, which reads our blueprints, needs none of them.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any


class LaterPattern:
    """A placeholder for a pattern, with the arguments of ``re.compile``. A copy of it is an ordinary pattern."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        """Keep the arguments. Nothing is compiled yet, so an invalid pattern raises no error yet."""
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern and return its attribute, which is then kept in this object."""
        if name == "_arguments":  # copy and pickle ask an object that is being made
            raise AttributeError(name)
        found = getattr(re.compile(*self._arguments), name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """Make pickle and copy produce the compiled pattern."""
        return re.compile, self._arguments


class _Deferring(ModuleType):
    """A replacement for the module ``re`` that a library sees while it is imported."""

    compile = LaterPattern

    def __getattr__(self, name: str) -> Any:
        return getattr(re, name)


_RE = _Deferring("re")


def _import(name: str, *others: Any, **options: Any) -> Any:
    return _RE if name == "re" else builtins.__import__(name, *others, **options)


class _Loader(SourceFileLoader):
    """A loader that imports a single module without compiling its patterns."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then give it the ordinary module ``re``."""
        own = vars(module)
        own["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)
        if own.get("re") is _RE:
            own["re"] = re


def spec_of(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec of the module with this loader; None if the module is not an ordinary source file."""
    spec = PathFinder.find_spec(name, path)
    if spec is None or type(spec.loader) is not SourceFileLoader:
        return None
    spec.loader = _Loader(spec.loader.name, spec.loader.path)
    return spec
