"""Check a blueprint without running or storing anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.dsl.nodes import plugin_placement
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.composition import composition_flaws
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.loading.blueprint_loading import read_opened
from phaseline.use_cases.loading.plugin_presence import missing_modules
from phaseline.use_cases.loading.resource_nodes import refused_plugins
from phaseline.views.views import Validated

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext


def validate(
    ctx: RequestContext, file: str, *, plugin_folders: Sequence[str] = (), open_types: bool = False
) -> Validated:
    """Return the contents of the blueprint, and warnings. Raises ``ProblemsError`` with all its problems.

    Missing modules of plugins are warnings: they may exist on the machine that installs it, and no code is run (W2).
    With ``open_types``, types from missing definition files become open types, with a warning for each.
    """
    blueprint, code, opened = read_opened(ctx, file, plugin_folders, open_types=open_types)
    missing = [
        altered(problem, severity="warning")
        for problem in missing_modules(ctx.catalog, blueprint, code, opened, open_types=open_types)
    ]
    flaws = composition_flaws(blueprint)
    if flaws:
        raise ProblemsError(flaws)
    placement = plugin_placement.placement_of(blueprint)
    return Validated(
        file=file,
        version=blueprint.version,
        nodes=len(blueprint.nodes),
        inputs=tuple(blueprint.inputs),
        warnings=(*blueprint.warnings, *missing, *refused_plugins(ctx, blueprint)),
        host_plugins=placement.hosts,
        central_plugins=placement.central,
        workflow_plugins=placement.workflows,
    )
