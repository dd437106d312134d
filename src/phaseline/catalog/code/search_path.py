"""The search path of module files: folders with a deployment's plugins, and a module's file without importing it."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.deployment.code_location import CodeLocation

PLUGINS_FOLDER = "plugins"
"""Folder beside a blueprint that holds its own plugins."""
PACKAGE_MARKS = ("setup.py", "pyproject.toml", "setup.cfg")
"""A folder with one of these is a source distribution: its modules are in it, or in its ``src``."""
SHIM = str(Path(__file__).resolve().parents[2] / "compat" / "cloudify" / "shim")
"""Folder of the packages that foreign plugins import (``cloudify`` and its companions)."""


@lru_cache(maxsize=1024)
def search_path(code: CodeLocation) -> tuple[str, ...]:
    """Folders with plugin modules of a deployment, first found first used; those that do not exist are left out.

    The blueprint's ``plugins`` folder, then those of stored blueprints that it imports, then the deployment's plugin
    folders, then those of its plugin packages; source distributions in each of them (a folder with a ``setup.py`` or ``pyproject.toml``) are searched beside
    their modules.
    """
    found: list[str] = []
    beside = (code.blueprint_folder, *(folder for _, folder in code.imported))
    own = [os.path.join(folder, PLUGINS_FOLDER) for folder in beside]  # noqa: PTH118 - hot, text in, text out
    for folder in (*own, *code.plugin_folders, *code.packages):
        found.extend(_with_distributions(Path(folder)))
    return tuple(dict.fromkeys(found))


def _with_distributions(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    found = [str(folder)]
    for below in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        if any((below / mark).is_file() for mark in PACKAGE_MARKS):
            found.extend(str(path) for path in (below, below / "src") if path.is_dir())
    return found


def find_spec(module: str, folders: Sequence[str] | None) -> ModuleSpec | None:
    """The spec of a dotted module along ``folders`` (None: ``sys.path``), importing neither it nor its parents."""
    search: Sequence[str] | None = folders
    spec: ModuleSpec | None = None
    name = ""
    for part in module.split("."):
        if name and search is None:
            return None
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, search)
        if spec is None:
            return None
        search = list(spec.submodule_search_locations) if spec.submodule_search_locations is not None else None
    return spec


def find_installed(module: str) -> ModuleSpec | None:
    """The spec of a dotted module among what is installed, also in ways of its own; neither it nor its parents are imported."""
    from importlib.util import find_spec as spec_of

    top, _, rest = module.partition(".")
    spec = spec_of(top)
    return spec if spec is None or not rest else find_spec(rest, list(spec.submodule_search_locations or ()))


def source_file(module: str, code: CodeLocation) -> str | None:
    """The source file of a module: in the deployment's folders, then our shim, then what is installed; None if unknown."""
    for folders in (search_path(code), [SHIM], None):
        spec = find_spec(module, folders)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            return spec.origin
    return None


def offer_shim() -> None:
    """Let ``import cloudify`` find our packages, before any that may be installed under the same names."""
    if SHIM not in sys.path:
        sys.path.insert(0, SHIM)


def split(implementation: str) -> tuple[str, str]:
    """``module.function`` as (module, function)."""
    module, _, function = implementation.strip().rpartition(".")
    return module, function
