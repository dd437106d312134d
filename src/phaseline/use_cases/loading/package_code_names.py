"""Check that a package contains the code that it names. Modules are parsed but not imported, so that no code runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem
from phaseline.packages.format import problem_report

if TYPE_CHECKING:
    from phaseline.catalog.files.package_files import PackageFiles
    from phaseline.model.packages.package import Package

CODE = "PL-F042"
PYTHON = "python"
"""Name of the task type for Python functions, and of the folder in which these are searched by default."""


@frozen
class _Named:
    """A reference to code in a file of the package: ``module:name``, or a module alone."""

    file: str
    path: str
    target: str
    folders: tuple[str, ...]

    @property
    def module(self) -> str:
        """Return the name of the module."""
        return self.target.partition(":")[0]

    @property
    def name(self) -> str:
        """Return the name after the colon up to its first dot, or "" if the reference is a module alone."""
        return self.target.partition(":")[2].partition(".")[0]


def code_problems(files: PackageFiles, package: Package) -> list[Problem]:
    """Return PL-F042 for each name that its module lacks, as a warning if the module may be installed elsewhere."""
    sources = {file.path: file for file in files.tree.files if not file.is_folder}
    found: list[Problem] = []
    for named in _named(package):
        path = _path_of(named, sources)
        if path is None:
            what = f"the package has no module {named.module}"
            mend = "put it into a folder of its code, or see that it is installed where the engine runs"
            found.append(_problem(files, package, named, what, mend, "warning"))
            continue
        names = _names_in(files.tree.content(sources[path])) if named.name else None
        if isinstance(names, str):
            mend = f"correct {path}: python -m py_compile {path}"
            found.append(_problem(files, package, named, f"{path} cannot be read as Python: {names}", mend, "error"))
        elif names is not None and named.name not in names:
            public = sorted(name for name in names if not name.startswith("_"))
            mend = (
                f"use {problem_report.listed(public)}{problem_report.nearest(named.name, public)}"
                if public
                else "it has no names"
            )
            found.append(_problem(files, package, named, f"there is no {named.name} in {path}", mend, "error"))
    return found


def _named(package: Package) -> Iterator[_Named]:
    code = package.code
    for place, hook in enumerate(code.hooks):
        yield _Named("metadata.yaml", f"hooks[{place}]", hook.target, code.paths)
    for group, names in code.entry_points.items():
        for name, target in names.items():
            yield _Named("metadata.yaml", f"python.entry_points.{group}.{name}", target, code.paths)
    folders = tuple(dict.fromkeys(("", PYTHON, *code.paths)))
    for file, tasks in (("tasks.yaml", package.stage_tasks), ("deployment_tasks.yaml", package.granular_tasks)):
        for task in tasks:
            if task.type == PYTHON:
                path = f"[{task.index}].parameters.function"
                yield _Named(file, path, str(task.parameters.get("function")), folders)


def _path_of(named: _Named, sources: Collection[str]) -> str | None:
    """Return which of the package's files (``sources``) is the named module, or None if none of them is."""
    below = named.module.replace(".", "/")
    for folder in named.folders:
        begin = f"{folder.strip('/')}/{below}".removeprefix("./").lstrip("/")
        for path in (f"{begin}/__init__.py", f"{begin}.py"):
            if path in sources:
                return path
    return None


def _names_in(source: bytes) -> set[str] | str | None:
    """Return the top-level names of a module, or None if they are known only after an import.

    Return a text with the reason if the module cannot be parsed.
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError) as error:
        return f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
    names = set(_bound(body))
    return None if names & {"*", "__getattr__"} else names


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements bind, including those inside ``if``, ``try``, ``with`` and loops."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
        else:
            for node in ast.iter_child_nodes(statement):
                if isinstance(node, ast.stmt):
                    yield from _bound([node])
                elif isinstance(node, ast.ExceptHandler | ast.match_case):
                    yield from _bound(node.body)
                else:
                    yield from (
                        one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
                    )


def _problem(
    files: PackageFiles, package: Package, named: _Named, what: str, mend: str, severity: Literal["error", "warning"]
) -> Problem:
    message = f"{package}: {named.file}, {named.path}: '{named.target}': {what}"
    return Problem(CODE, message, mend, _place(files, package, named), severity)


def _place(files: PackageFiles, package: Package, named: _Named) -> Place:
    """Return the first line of the file that contains the reference."""
    for number, line in enumerate(files.documents.get(named.file, b"").decode("utf-8", "replace").splitlines(), 1):
        if named.target in line:
            return Place(named.file, number, line.index(named.target) + 1, named.path, line, str(package))
    return Place(named.file, path=named.path, subject=str(package))
