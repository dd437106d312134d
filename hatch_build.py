"""Ships the examples with the package, so that ``phaseline demo`` plays them also without a clone."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ExamplesInside(BuildHookInterface):  # type: ignore[type-arg]  # the interface does not say what it is generic in
    """``examples/`` goes into wheels; an editable install finds it at the top of the clone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder unless the install is editable."""
        if version == "standard":
            build_data["force_include"]["examples"] = "phaseline/demo/examples"
