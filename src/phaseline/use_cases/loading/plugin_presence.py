"""Check that the plugins of a blueprint exist, before anything is stored and without importing them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.catalog import plugin_catalog
from phaseline.catalog.code import module_names as code_module_names
from phaseline.catalog.code import search_path as code_search_path
from phaseline.lang import did_you_mean
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import Place, Problem
from phaseline.plan.graph import operation_names as op
from phaseline.use_cases.loading import mapped_places

if TYPE_CHECKING:
    from phaseline.catalog.plugin_catalog import PluginCatalog
    from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Plugin
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.use_cases.loading.blueprint_loading import Opened
    from phaseline.use_cases.loading.mapped_places import MappedPlaces

OF_THE_MANAGER = "cfy_extensions"
"""Name of the plugin of the built-in types Component, SharedResource, Blueprint and PasswordSecret; only SharedResource
has no functions here."""
NOT_HERE = "PL-O001"
"""Code of the problem of a module that is not found."""
NO_FUNCTION = "PL-O009"
"""Code of the problem of a function that its module lacks."""
CALLED_INTERFACES = frozenset({op.LIFECYCLE, op.VALIDATION, op.MONITORING, op.MONITORING_AGENT, op.RELATIONSHIP})
"""Interfaces whose operations built-in workflows call. Only functions of these operations must exist."""


def missing_modules(
    catalog: PluginCatalog,
    blueprint: Blueprint,
    code: CodeLocation,
    opened: Opened | None = None,
    *,
    open_types: bool = False,
) -> list[Problem]:
    """Return the problems of missing functions to which operations are mapped.

    There is one problem for each module that is not found (PL-O001) or is not valid Python (PL-O004), and for each
    function that its module lacks (PL-O009). ``opened`` has the files in which the line of the mapping is searched; if
    it is None, a problem has the position of the node. ``open_types`` is the option with which the blueprint was read.
    """
    seen: set[str] = set()
    places: MappedPlaces | None = None
    missing: dict[str, Problem | None] = {}
    for node, operation, path in _functions(blueprint):
        implementation = operation.implementation
        if implementation in seen or not _is_called(operation):
            continue
        seen.add(implementation)
        module, _, function = implementation.rpartition(".")
        key, wrong = implementation, None
        if not module:
            wrong = _without_module(operation, node)
        elif catalog.declare(implementation, code) is None and _is_unknown(module, function, code):
            wrong = _no_function(module, function, operation, node, code)
        elif module not in missing and catalog.declare(implementation, code) is None:
            key = module
            if _is_missing(module, code):
                wrong = _problem(module, operation.name, node, code, _mend(blueprint.plugins.get(operation.plugin)))
            else:
                missing[module] = _unreadable(module, code)
        if wrong is not None and opened is not None:
            places = places or _places(opened, open_types=open_types)
            wrong = altered(wrong, place=places.of(node, path))
        if wrong is not None:
            missing[key] = wrong
    return [problem for problem in missing.values() if problem is not None]


def _places(opened: Opened, *, open_types: bool) -> MappedPlaces:
    return mapped_places.MappedPlaces(opened, open_types=open_types)


def _functions(blueprint: Blueprint) -> Iterator[tuple[Node, Operation, str]]:
    """Yield (node, operation, path in the node) of each operation mapped to a function.

    An operation that several nodes share is yielded once.
    """
    looked_at: set[int] = set()
    for node in blueprint.nodes.values():
        tables = [("interfaces", node.operations)]
        for number, relationship in enumerate(node.relationships):
            tables += [
                (f"relationships[{number}].source_interfaces", relationship.source_operations),
                (f"relationships[{number}].target_interfaces", relationship.target_operations),
            ]
        for path, table in tables:
            if id(table) not in looked_at:
                looked_at.add(id(table))
                for operation in table.values():
                    if operation.form == "function":
                        yield node, operation, f"{path}.{operation.name}"


def _is_called(operation: Operation) -> bool:
    """Return True if a built-in workflow calls the operation."""
    return operation.name.rpartition(".")[0] in CALLED_INTERFACES or operation.name == op.GET_STATE


def _is_missing(module: str, code: CodeLocation) -> bool:
    """Return True if the module is neither in a folder of plugins, nor installed, nor named by an entry point."""
    import sys
    from importlib.metadata import entry_points

    if module.partition(".")[0] in sys.builtin_module_names:
        return False
    if any(
        code_search_path.find_spec(module, folders) is not None
        for folders in (code_search_path.search_path(code), [code_search_path.SHIM], None)
    ):
        return False
    return module not in {point.name for point in entry_points(group=plugin_catalog.GROUP)}


def _is_unknown(module: str, function: str, code: CodeLocation) -> bool:
    """Return True if the module certainly lacks the function: all its names can be read from its text."""
    file = code_search_path.source_file(module, code)
    names = None if file is None else code_module_names.bound_names(file)
    return names is not None and function not in names


def _no_function(module: str, function: str, operation: Operation, node: Node, code: CodeLocation) -> Problem:
    file = code_search_path.source_file(module, code) or ""
    names = sorted(name for name in code_module_names.bound_names(file) or () if not name.startswith("_"))
    hint = did_you_mean.did_you_mean(function, names)
    mend = hint or f"correct the mapping, or write the function into {file}"
    message = f"the module '{module}' has no function '{function}' for '{operation.name}' of the node '{node.name}'"
    return Problem(NO_FUNCTION, message, mend, node.place)


def _without_module(operation: Operation, node: Node) -> Problem:
    mapped = f"{operation.plugin}.{operation.implementation}"
    message = f"'{mapped}' names no module for '{operation.name}' of the node '{node.name}'"
    return Problem(NOT_HERE, message, f"write {operation.plugin}.MODULE.{operation.implementation}", node.place)


def _unreadable(module: str, code: CodeLocation) -> Problem | None:
    """Return the problem of a module that is not valid Python, or None if it is valid.

    Each call of a function of such a module would fail.
    """
    import ast

    file = code_search_path.source_file(module, code)
    try:
        if file is not None:
            ast.parse(Path(file).read_bytes(), file)
    except SyntaxError as error:
        line = (error.text or "").rstrip("\n")
        where = Place(file or "", error.lineno or 0, error.offset or 0, text=line)
        mend = "correct this line; until then no function of the module can be called"
        return Problem("PL-O004", f"the module '{module}' cannot be read: {error.msg}", mend, where)
    except (OSError, ValueError) as error:
        mend = "correct the file or its permissions; until then no function of the module can be called"
        return Problem("PL-O004", f"the module '{module}' cannot be read: {error}", mend, Place(file or ""))
    return None


def _mend(plugin: Plugin | None) -> str:
    """Return advice how to obtain the code of a plugin. ``plugin`` is None if the code belongs to no plugin."""
    if plugin is not None and plugin.name == OF_THE_MANAGER:
        return "leave the node out: nodes cannot use what another deployment has made yet"
    package = f" {plugin.package_name}" if plugin is not None and plugin.package_name else ""
    return (
        f"install its package{package} (pip install), put it into a folder 'plugins' beside the blueprint, or name its folder "
        "with --plugins"
    )


def _problem(module: str, operation: str, node: Node, code: CodeLocation, mend: str) -> Problem:
    folders = code_search_path.search_path(code)
    looked = (
        f"looked for in {', '.join(folders)} and among the installed packages" if folders else "it is not installed"
    )
    hint = did_you_mean.did_you_mean(module.partition(".")[0], module_names(folders))
    return Problem(
        NOT_HERE,
        f"there is no module '{module}' for '{operation}' of the node '{node.name}'; {looked}",
        f"{hint} {mend}".strip(),
        node.place,
    )


def module_names(folders: tuple[str, ...]) -> set[str]:
    """Return the names of modules and Python packages in the folders."""
    found = {path for folder in folders if Path(folder).is_dir() for path in Path(folder).iterdir()}
    return {path.stem for path in found if path.suffix == ".py" or path.is_dir()}
