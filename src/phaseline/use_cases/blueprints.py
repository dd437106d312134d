"""Checking a blueprint without running or storing anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.use_cases.loading import read
from phaseline.use_cases.values import Validated

if TYPE_CHECKING:
    from phaseline.use_cases.workplace import Workplace


def validate(place: Workplace, file: str, *, plugin_folders: Sequence[str] = ()) -> Validated:
    """What is in the blueprint, and warnings. Raises ``ProblemsError`` with everything that is wrong with it."""
    from phaseline.dsl.placement import placement_of

    blueprint, _ = read(place, file, plugin_folders)
    placement = placement_of(blueprint)
    return Validated(
        file=file,
        version=blueprint.version,
        nodes=len(blueprint.nodes),
        inputs=tuple(blueprint.inputs),
        warnings=blueprint.warnings,
        host_plugins=placement.hosts,
        central_plugins=placement.central,
        workflow_plugins=placement.workflows,
    )
