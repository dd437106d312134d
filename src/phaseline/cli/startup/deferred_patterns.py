"""Patterns that a library compiles while it is imported and that most commands never use: compiled when first asked.

PyYAML compiles ten; that took three quarters of its import, a tenth of the instructions of a small install. The C parser,
which reads our blueprints, needs none of them.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any


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
