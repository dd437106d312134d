"""Whether the plugins of a blueprint are there, before anything is stored; none of them is imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problem import Place, Problem
from phaseline.plan import operations as op
from phaseline.use_cases.typos import did_you_mean

if TYPE_CHECKING:
    from phaseline.catalog import PluginCatalog
    from phaseline.model.blueprint import Blueprint, Node, Operation, Plugin
    from phaseline.model.rows import CodePlaces

OF_THE_MANAGER = "cfy_extensions"
"""The plugin of the built-in types Component, SharedResource, Blueprint and PasswordSecret."""
NOT_HERE = "PL-O001"
"""The code of what is said of a module that is nowhere to be found."""
CALLED_INTERFACES = frozenset({op.LIFECYCLE, op.VALIDATION, op.MONITORING, op.MONITORING_AGENT, op.RELATIONSHIP})
"""Interfaces of which the built-in workflows call operations; what nobody calls may be missing."""


def missing_modules(catalog: PluginCatalog, blueprint: Blueprint, code: CodePlaces) -> list[Problem]:
    """A problem for each module that operations are mapped to and that is nowhere to be found (PL-O001) or no Python (PL-O004)."""
    seen: set[str] = set()
    missing: dict[str, Problem | None] = {}
    for node, operation in _functions(blueprint):
        implementation = operation.implementation
        if implementation in seen or not _is_called(operation):
            continue
        seen.add(implementation)
        module = implementation.rpartition(".")[0]
        if module and module not in missing and catalog.declare(implementation, code) is None:
            is_missing = _is_missing(module, code)
            if is_missing:
                mend = _mend(blueprint.plugins.get(operation.plugin))
                missing[module] = _problem(module, operation.name, node, code, mend)
            else:
                missing[module] = _unreadable(module, code)
    return [problem for problem in missing.values() if problem is not None]


def _functions(blueprint: Blueprint) -> Iterator[tuple[Node, Operation]]:
    """Every operation that is mapped to a function, with its node; what nodes share, once."""
    looked_at: set[int] = set()
    for node in blueprint.nodes.values():
        tables = [node.operations]
        for relationship in node.relationships:
            tables += relationship.source_operations, relationship.target_operations
        for table in tables:
            if id(table) not in looked_at:
                looked_at.add(id(table))
                for operation in table.values():
                    if operation.form == "function":
                        yield node, operation


def _is_called(operation: Operation) -> bool:
    """Whether install or uninstall call it."""
    return operation.name.rpartition(".")[0] in CALLED_INTERFACES or operation.name == op.GET_STATE


def _is_missing(module: str, code: CodePlaces) -> bool:
    """True when neither the folders of plugins, nor what is installed, nor an entry point has the module."""
    import sys
    from importlib.metadata import entry_points

    from phaseline.catalog.places import SHIM, find_spec, search_path
    from phaseline.catalog.plugins import GROUP

    if module.partition(".")[0] in sys.builtin_module_names:
        return False
    if any(find_spec(module, folders) is not None for folders in (search_path(code), [SHIM], None)):
        return False
    return module not in {point.name for point in entry_points(group=GROUP)}


def _unreadable(module: str, code: CodePlaces) -> Problem | None:
    """Where the text of a module is no Python, so that each call of its functions would fail; None: it can be read."""
    import ast

    from phaseline.catalog.places import source_file

    file = source_file(module, code)
    try:
        if file is not None:
            ast.parse(Path(file).read_bytes(), file)
    except SyntaxError as error:
        line = (error.text or "").rstrip("\n")
        where = Place(file or "", error.lineno or 0, error.offset or 0, text=line)
        mend = "Correct this line; until then no function of the module can be called."
        return Problem("PL-O004", f"the module '{module}' cannot be read: {error.msg}", mend, where)
    except (OSError, ValueError) as error:
        mend = "Correct the file or its permissions; until then no function of the module can be called."
        return Problem("PL-O004", f"the module '{module}' cannot be read: {error}", mend, Place(file or ""))
    return None


def _mend(plugin: Plugin | None) -> str:
    """How the code of a plugin is had; None: of whatever is not a plugin's."""
    if plugin is not None and plugin.name == OF_THE_MANAGER:
        return "Leave the node out: its type has the ancestor's manager do something, which nothing here does yet."
    package = f" {plugin.package_name}" if plugin is not None and plugin.package_name else ""
    return (
        f"Install its package{package} (pip install), put it into a folder 'plugins' beside the blueprint, or name its folder "
        "with --plugins."
    )


def _problem(module: str, operation: str, node: Node, code: CodePlaces, mend: str) -> Problem:
    from phaseline.catalog.places import search_path

    folders = search_path(code)
    looked = (
        f"looked for in {', '.join(folders)} and among the installed packages" if folders else "it is not installed"
    )
    hint = did_you_mean(module.partition(".")[0], module_names(folders))
    return Problem(
        NOT_HERE,
        f"there is no module '{module}' for '{operation}' of the node '{node.name}'; {looked}",
        f"{hint[:1].upper()}{hint[1:]} {mend}".strip(),
        node.place,
    )


def module_names(folders: tuple[str, ...]) -> set[str]:
    """Names of modules and packages in the folders."""
    found = {path for folder in folders if Path(folder).is_dir() for path in Path(folder).iterdir()}
    return {path.stem for path in found if path.suffix == ".py" or path.is_dir()}
