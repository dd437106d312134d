"""Modules with operations in plugin folders and behind entry points, found by reading their text without importing
them.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from phaseline.catalog.code.declarations import PLAIN, read_module
from phaseline.catalog.code.search_path import find_spec, search_path
from phaseline.catalog.plugin_catalog import GROUP
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.code_location import CodeLocation

SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
MAX_FILES = 20_000
"""Largest number of modules in one folder that are searched for operations."""


@frozen
class OperationModule:
    """A module some of whose functions are decorated as operations. ``file`` is empty if the module is not found.

    ``package`` is the entry point that names the module; it is empty for a module in a plugin folder.
    """

    name: str
    file: str
    functions: tuple[str, ...]
    package: str = ""


def operation_modules(folders: Iterable[str]) -> Iterator[OperationModule]:
    """Yield the modules below the folders in the order of their paths, then those that installed distributions
    announce.
    """
    from importlib.metadata import entry_points

    seen: set[str] = set()
    tops = search_path(CodeLocation("", tuple(folders)))
    for top in tops:
        for file in _modules(Path(top), tops):
            if str(file) in seen:
                continue
            seen.add(str(file))
            parts = file.relative_to(top).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            functions = _operations(file, name)
            if functions and name:
                yield OperationModule(name, str(file), functions)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        module = point.value.partition(":")[0].strip()
        spec = find_spec(module, None)
        if spec is None or spec.origin is None:
            yield OperationModule(module, "", (), point.name)
        else:
            yield OperationModule(module, spec.origin, _operations(Path(spec.origin), module), point.name)


def _modules(top: Path, tops: Sequence[str]) -> Iterator[Path]:
    """Yield the Python files below a folder, sorted by name, that may be plugins.

    A subfolder that is itself in the search path ``tops``, such as the ``src`` of a distribution, is left out: its
    modules are found through its own entry in the path, under shorter names.
    """
    count = 0
    for folder, inner, files in os.walk(top):
        inner[:] = sorted(
            name
            for name in inner
            if not name.startswith(".") and name not in SKIPPED and not _is_top(Path(folder, name), tops)
        )
        for name in sorted(files):
            if name.endswith(".py"):
                count += 1
                if count > MAX_FILES:
                    return
                yield Path(folder, name)


def _is_top(folder: Path, tops: Sequence[str]) -> bool:
    """Return True if modules are imported from this folder as top-level ones.

    A Python package that also contains a ``setup.py`` does not count: its modules are imported from the folder above.
    """
    return str(folder) in tops and not (folder / "__init__.py").is_file()


def _operations(file: Path, module: str) -> tuple[str, ...]:
    """Return the names of the functions decorated as operations; a module that does not mention the decorator is not
    parsed.
    """
    try:
        content = file.read_bytes()
        if b"operation" not in content and b"task" not in content:
            return ()
        text = read_module(ast.parse(content, str(file)), module.rpartition(".")[0])
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()  # a call of it reports the full error
    return tuple(
        name for name, declared in text.functions.items() if declared is not PLAIN and declared.flavour != "phase"
    )
