"""The names that a module binds at its top level, read from its text without importing the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_BY_OTHER_MEANS: Final = frozenset(
    {"__getattr__", "globals", "locals", "vars", "setattr", "exec", "eval", "modules", "__dict__"}
)
"""Names whose use in a module shows that the module may have names which do not appear in its text."""
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def bound_names(file: str) -> frozenset[str] | None:
    """Return all names that the module in a file binds, or None if its text is unreadable or may not show all of them.

    >>> import inspect; "bound_names" in bound_names(inspect.getfile(bound_names))
    True
    """
    try:
        tree = ast.parse(Path(file).read_bytes(), file)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names: set[str] = set()
    for part in _outside_of_scopes(tree):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(part.name)
        elif isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.Attribute):
            names.add(part.attr)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in part.names)
        elif isinstance(part, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and part.name:
            names.add(part.name)
    if "*" in names or _BY_OTHER_MEANS & names or _declares_globals(tree):
        return None
    return frozenset(names)


def _outside_of_scopes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the syntax nodes that run when the module is imported, without the bodies of functions and classes."""
    waiting = [tree]
    while waiting:
        for part in ast.iter_child_nodes(waiting.pop()):
            yield part
            if isinstance(part, _SCOPES):
                waiting += getattr(part, "decorator_list", [])
            else:
                waiting.append(part)


def _declares_globals(tree: ast.AST) -> bool:
    """Return True if any function of the module has a ``global`` statement, and so may bind names of the module."""
    return any(isinstance(part, ast.Global) for part in ast.walk(tree))
