"""Explain why a function of a plugin cannot be loaded, and how to repair it."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from phaseline.catalog.code import search_path as code_search_path
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.problems.problem import Place, Problem
from phaseline.use_cases.loading.plugin_presence import module_names

if TYPE_CHECKING:
    from phaseline.model.deployment.code_location import CodeLocation

NAMED = 8
"""Number of functions of a module that a message lists if the requested one is missing."""
CODE = "PL-O002"


def load_problem(implementation: str, error: BaseException, code: CodeLocation) -> Problem:
    """Return the problem (PL-O002) for an exception raised by loading ``module.function``."""
    module, _, function = implementation.rpartition(".")
    if "/" in module or module.endswith(".py"):
        return _path(module, function)
    said = f"'{implementation}' cannot be loaded: {type(error).__name__}: {error}"
    if not module or not function:
        return _no_function(implementation, code)
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        if f"{module}.".startswith(f"{error.name}."):
            return _no_module(module, error.name, function, code)
        mend = (
            f"the module '{module}' is there, and what it imports is not: install the package that has '{error.name}' "
            "into the environment in which phaseline runs, or put the module beside the plugin"
        )
        return Problem(CODE, said, mend, _last_place(error, code))
    if isinstance(error, SyntaxError) and error.filename:
        where = Place(error.filename, error.lineno or 0, error.offset or 0, text=(error.text or "").rstrip("\n"))
        return Problem(CODE, said, "correct this line; Python cannot read the module", where)
    at = _last_place(error, code)
    if not at.file:
        found = _found(error)
        if isinstance(found, ModuleType):
            return _no_such_function(said, function, found)
        if isinstance(error, TypeError):
            return Problem(CODE, said, "name a function: this is another kind of value")
    mend = "correct the failing line: the top level of a module runs when it is imported"
    return Problem(CODE, said, mend, at)


def _no_function(word: str, code: CodeLocation) -> Problem:
    """Return the problem for a mapping that names only a module or only a function."""
    word = word.strip(".")
    message = f"'{word}' alone is no module with a function"
    example = f"{word}:create" if word in module_names(_folders(code)) else "machines:create"
    return Problem(CODE, message, f"write module:function, such as {example}")


def _path(path: str, function: str) -> Problem:
    """Return the problem for a mapping that names a file instead of a module."""
    file = Path(path.removesuffix(".py"))
    folder = "" if str(file.parent) == "." else f" --plugins {file.parent}"
    mend = f"name the module, and its folder with --plugins: phaseline plugins try {file.name}:{function}{folder}"
    return Problem(CODE, f"'{path}' is the path of a file, not the name of a module", mend)


def _no_module(module: str, missing: str, function: str, code: CodeLocation) -> Problem:
    folders = _folders(code)
    looked = f"it is looked for in {', '.join(folders)}, and among the installed packages"
    near = did_you_mean(module, module_names(folders)) if missing == module.partition(".")[0] else ""
    hint = f"{near} " if near else ""
    mend = f"{hint}correct the name, as in module:{function}, or name the folder of the module with --plugins"
    return Problem(CODE, f"there is no module '{missing}'; {looked}", mend)


def _no_such_function(said: str, function: str, module: ModuleType) -> Problem:
    """Return the problem for a module that does not have the function."""
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    near = did_you_mean(function, own)
    there = f"it has {', '.join(own[:NAMED])}{' …' if len(own) > NAMED else ''}" if own else "it has no functions"
    return Problem(CODE, said, f"correct the name; {near or there}")


def _found(error: BaseException) -> object:
    """Return the object that lacks an attribute, or None for other errors."""
    return error.obj if isinstance(error, AttributeError) else None


def _folders(code: CodeLocation) -> tuple[str, ...]:
    return code_search_path.search_path(code)


def _last_place(error: BaseException, code: CodeLocation) -> Place:
    """Return the last line of the plugin's own code that ran before the error, or an empty place if none ran."""
    folders: Sequence[Path] = [Path(folder).absolute() for folder in _folders(code)]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if any(file.is_relative_to(folder) for folder in folders):
            text = linecache.getline(frame.filename, frame.lineno or 0).rstrip("\n")
            return Place(frame.filename, frame.lineno or 0, text=text)
    return Place()
