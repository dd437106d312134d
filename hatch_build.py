"""Ships examples and pages with the package: ``phaseline demo`` and ``phaseline docs`` work without a clone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ExamplesInside(BuildHookInterface):  # type: ignore[type-arg]  # the interface does not say what it is generic in
    """``examples/`` and the pages of ``docs/`` go into wheels; an editable install finds them at the top of the clone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folders unless the install is editable."""
        if version == "standard":
            build_data["force_include"]["examples"] = "phaseline/demo/examples"
            docs = Path(self.root) / "docs"
            for page in sorted(docs.rglob("*.md")):
                name = page.relative_to(docs).as_posix()
                build_data["force_include"][f"docs/{name}"] = f"phaseline/manual/{name}"
