"""Entry points that a plugin package declares in its ``metadata.yaml``, for packages that are no installed
distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.deployment.code_location import CodeLocation

MARK = "metadata.yaml"
MAX_DEPTH = 10
"""Number of folders above a folder with modules that are searched for the package's ``metadata.yaml``."""


def packaged_module(name: str, group: str, code: CodeLocation) -> str | None:
    """Return the module to which a plugin package of the deployment maps this entry-point name, or None.

    Used if no module has the name itself.
    """
    found = (_announced(folder, group).get(name) for folder in code.packages)
    return next((module for module in found if module is not None), None)


@lru_cache(maxsize=256)
def _announced(folder: str, group: str) -> Mapping[str, str]:
    """Return {entry-point name: module} of the package that contains a folder with modules.

    The result is cached, because the files of a package do not change once they are written to disk.
    """
    from phaseline.packages.format.problem_report import Findings
    from phaseline.packages.format.yaml_reader import read_source

    above = (Path(folder), *list(Path(folder).parents)[:MAX_DEPTH])
    mark = next((place / MARK for place in above if (place / MARK).is_file()), None)
    source = read_source(MARK, mark.read_bytes(), Findings()) if mark is not None else None
    root = source.document.root if source is not None and source.document is not None else None
    python = root.get("python") if isinstance(root, dict) else None
    groups = python.get("entry_points") if isinstance(python, dict) else None
    names = groups.get(group) if isinstance(groups, dict) else None
    return {str(key): str(value).partition(":")[0] for key, value in names.items()} if isinstance(names, dict) else {}
