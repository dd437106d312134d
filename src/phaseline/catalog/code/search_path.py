"""The folders in which a deployment's plugin modules are searched, and a module's file without importing it."""

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
"""Name of the folder beside a blueprint that contains the blueprint's plugins."""
PACKAGE_MARKS = ("setup.py", "pyproject.toml", "setup.cfg")
"""Files that mark a folder as a source distribution: its modules are in the folder or in its subfolder ``src``."""
SHIM = str(Path(__file__).resolve().parents[2] / "compat" / "cloudify" / "shim")
"""Folder of Phaseline's replacements for the packages that Cloudify plugins import, such as ``cloudify``."""


@lru_cache(maxsize=1024)
def search_path(code: CodeLocation) -> tuple[str, ...]:
    """Return the existing folders with plugin modules of a deployment; earlier folders win over later ones.

    The order is: the blueprint's ``plugins`` folder, the ``plugins`` folders of stored blueprints that it imports, the
    deployment's plugin folders, its plugin packages. A source distribution in one of these folders (a folder with a
    ``setup.py`` or ``pyproject.toml``) is searched, too.
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
    """Return the spec of a dotted module along ``folders`` (None: ``sys.path``), or None if the module is not found.

    Neither the module nor its parent packages are imported.
    """
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
    """Return the spec of a dotted module that is installed, or None; neither the module nor its parents are imported.

    All finders of the process are asked, so that modules with an import mechanism of their own are found, too.
    """
    from importlib.util import find_spec as spec_of

    top, _, rest = module.partition(".")
    spec = spec_of(top)
    return spec if spec is None or not rest else find_spec(rest, list(spec.submodule_search_locations or ()))


def source_file(module: str, code: CodeLocation) -> str | None:
    """Return the source file of a module, or None if it is not found.

    The deployment's folders are searched first, then Phaseline's replacements for Cloudify's packages, then
    ``sys.path``.
    """
    for folders in (search_path(code), [SHIM], None):
        spec = find_spec(module, folders)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            return spec.origin
    return None


def offer_shim() -> None:
    """Make ``import cloudify`` find Phaseline's replacement, even if a package of this name is installed."""
    if SHIM not in sys.path:
        sys.path.insert(0, SHIM)


def split(implementation: str) -> tuple[str, str]:
    """Split ``module.function`` into (module, function)."""
    module, _, function = implementation.strip().rpartition(".")
    return module, function
