"""Facts about a plugin's module, read from its text: its functions, its imports, and lines that are
no valid Python 3.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal

from phaseline.catalog.code.declarations import imported_names, literal, top_level
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.problems.problem import Place, Problem
from phaseline.records.text_errors import SHOWN_LINE

MAX_SOURCE_BYTES = 4 * 1024 * 1024
"""Largest size of a module in bytes."""
MAX_REPORTED = 20
"""Largest number of ``except X, e:`` lines of one module that are reported."""
OLD_EXCEPT = re.compile(
    r"^(?P<head>[ \t]*except[ \t]+)(?P<kind>[\w.]+|\([^()]*\))[ \t]*,[ \t]*(?P<name>[a-z_]\w*)[ \t]*:", re.MULTILINE
)
"""Pattern of ``except X, name:``, the Python 2 form of ``except X as name:``.

A second name that begins with a capital letter does not match, because it is probably another exception class.
"""


@frozen
class FunctionText:
    """A function, read from its text. ``arguments`` is the number of its required arguments, -1 if unknown."""

    name: str
    line: int
    column: int
    arguments: int = -1
    is_async: bool = False
    decorators: tuple[ast.expr, ...] = ()

    @property
    def form(self) -> Literal["handle", "handle_one"]:
        """How a phase calls this function: ``handle_one`` for each resource, or ``handle`` once for all resources.

        A function of two arguments gets one resource and its data; a function of one argument gets all resources.
        """
        return "handle_one" if self.name == "handle_one" or self.arguments == 2 else "handle"


@frozen
class ModuleSource:
    """The text of a module: its functions by name, and the constants that its decorators refer to.

    ``is_open``: the module may have functions that its text does not show. ``imports``: {module imported at the top:
    line}.
    """

    file: str
    lines: tuple[str, ...] = ()
    functions: Mapping[str, FunctionText] | None = None
    is_open: bool = False
    origins: Mapping[str, str] | None = None
    constants: Mapping[str, object] | None = None
    imports: Mapping[str, int] | None = None
    problems: tuple[Problem, ...] = ()

    def place(self, line: int, column: int = 1) -> Place:
        """Return a line and column of this module as a place for problems."""
        text = self.lines[line - 1][:SHOWN_LINE] if 0 < line <= len(self.lines) else ""
        return Place(self.file, line, column, text=text)


def read_source(content: bytes, file: str, package: str = "") -> ModuleSource:
    """Read the text of a module of ``package``.

    If it is not valid Python 3, the result has only problems (PL-D002, PL-D003).
    """
    if len(content) > MAX_SOURCE_BYTES:
        mend = f"keep modules of plugins below {MAX_SOURCE_BYTES // 1024 // 1024} MiB"
        return ModuleSource(file, problems=(Problem("PL-D050", "the module is too large", mend, Place(file)),))
    text = content.decode("utf-8", "replace")
    shown = ModuleSource(file, tuple(text.splitlines()))
    old = [_old_spelling(found, text, shown) for found in islice(OLD_EXCEPT.finditer(text), MAX_REPORTED)]
    modern = OLD_EXCEPT.sub(r"\g<head>\g<kind> as \g<name>:", text) if old else content
    try:
        tree = ast.parse(modern, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problems = [*old, _syntax(error, shown)]
        problems.sort(key=lambda problem: problem.place.line)
        return ModuleSource(file, shown.lines, problems=tuple(problems))
    return altered(_read(tree, shown, package), problems=tuple(old))


def _old_spelling(found: re.Match[str], text: str, shown: ModuleSource) -> Problem:
    line = text.count("\n", 0, found.start("kind")) + 1
    column = found.start("kind") - found.start() + 1
    kind, name = found["kind"], found["name"]
    mend = f"write `except {kind} as {name}:`; plugins are written in Python 3"
    return Problem("PL-D003", f"`except {kind}, {name}:` is the spelling of Python 2", mend, shown.place(line, column))


def _syntax(error: Exception, shown: ModuleSource) -> Problem:
    line, column = (error.lineno or 1, error.offset or 1) if isinstance(error, SyntaxError) else (1, 1)
    what = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
    mend = "correct the line; plugins are written in Python 3"
    return Problem("PL-D002", f"the module is not valid Python: {what}", mend, shown.place(line, max(column, 1)))


def _read(tree: ast.Module, shown: ModuleSource, package: str) -> ModuleSource:
    functions: dict[str, FunctionText] = {}
    origins: dict[str, str] = {}
    constants: dict[str, object] = {}
    is_open = False
    for statement in top_level(tree.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            functions[statement.name] = _function(statement)
            is_open |= statement.name == "__getattr__"
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            found = imported_names(statement, package)
            is_open |= "*" in found
            origins.update(found)
            functions.update({name: FunctionText(name, statement.lineno, 1) for name in found})
        elif isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            constants.update({name: literal(statement.value, constants) for name in names})
            functions.update({name: FunctionText(name, statement.lineno, 1) for name in names})
        elif isinstance(statement, ast.ClassDef):
            functions[statement.name] = FunctionText(statement.name, statement.lineno, 1)
    return ModuleSource(
        shown.file, shown.lines, functions, is_open, origins, constants, dict(_imports(tree, shown)), ()
    )


def _function(statement: ast.FunctionDef | ast.AsyncFunctionDef) -> FunctionText:
    arguments = statement.args
    given = [*arguments.posonlyargs, *arguments.args]
    needed = len(given) - len(arguments.defaults)
    return FunctionText(
        statement.name,
        statement.lineno,
        statement.col_offset + 1,
        -1 if arguments.vararg is not None or arguments.kwonlyargs else needed,
        isinstance(statement, ast.AsyncFunctionDef),
        tuple(statement.decorator_list),
    )


def _imports(tree: ast.Module, shown: ModuleSource) -> Iterator[tuple[str, int]]:
    """Yield (module, line) of the imports at the top level; nothing if the module changes its search path itself."""
    if any("sys.path" in line or "site.addsitedir" in line for line in shown.lines):
        return
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            yield from ((alias.name, statement.lineno) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
            yield statement.module, statement.lineno


def missing_imports(source: ModuleSource, folders: Iterable[str]) -> Iterator[Problem]:
    """Yield PL-D005 for each module that is imported at the top level and not found.

    No module is imported for this check.
    """
    import sys

    from phaseline.catalog.code.search_path import find_spec

    search = tuple(folders)
    for module, line in (source.imports or {}).items():
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or find_spec(module, search) is not None:
            continue
        if all(finder.find_spec(top, None) is None for finder in sys.meta_path):
            message = f"the module '{module}', which is imported here, is not found"
            mend = "install its package, or put it into lib/python of the plugin's package"
            yield Problem("PL-D005", message, mend, source.place(line))
