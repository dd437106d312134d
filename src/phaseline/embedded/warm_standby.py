"""Load the code of an engine while its process waits to own the store, so that a takeover is short (HA5).

No deployment is loaded: an owner reads those of open executions in milliseconds.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext

MODULES = (
    "phaseline.run.loop.engine",
    "phaseline.run.executors.local_executor",
    "phaseline.run.executors.process_executor",
    "phaseline.app.callers",
    "phaseline.calls.batches.caller_registry",
    "phaseline.calls.batches.local_channel",
    "phaseline.calls.deployments.removed_instances",
    "phaseline.dsl.functions.topology_view",
    "phaseline.catalog.plugin_catalog",
    "phaseline.catalog.code.function_loader",
    "phaseline.plan.graph.operation_arguments",
    "phaseline.vault.vault",
)
"""Modules that an engine imports when it begins, and before its first call."""


def warm_up(ctx: RequestContext) -> None:
    """Import the modules of an engine, and read the phase plugins of the settings."""
    for name in MODULES:
        import_module(name)
    if ctx.settings.plugin_folders:
        from phaseline.use_cases.lookup.known_phases import read

        with suppress(ProblemsError):  # an engine that begins reports it
            read(ctx, ctx.settings.plugin_folders)
