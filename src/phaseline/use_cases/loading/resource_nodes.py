"""Handle blueprint nodes that are resources: find the paths and phases that plugins define for them (decision 15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution import execution
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources import state_graph_names
from phaseline.plan.states import state_operations
from phaseline.use_cases.lookup import known_phases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.phases.plugin_set import LoadedPlugins
    from phaseline.model.blueprint.blueprint import Blueprint
    from phaseline.model.execution.execution import StatePathIndex
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.problems.problem import Problem


MOST_TOLD = 5
"""Number of plugin problems that are reported; ``plugins check`` reports all."""


def on_their_paths(ctx: RequestContext, blueprint: Blueprint) -> Blueprint:
    """Return the blueprint with a target state for each node type that is a resource, to which an install brings its nodes.

    Raises: ``ProblemsError`` with PL-P020 and PL-P021 for unknown types and targets without a path.
    """
    if not blueprint.on_path:
        return blueprint

    registry = _checked_registry(ctx, blueprint)
    return altered(
        blueprint,
        on_path={
            kind: altered(one, target=state_operations.target_of(one, kind, registry.types))
            for kind, one in blueprint.on_path.items()
        },
    )


def refused_plugins(ctx: RequestContext, blueprint: Blueprint) -> tuple[Problem, ...]:
    """Return warnings of refused plugins, because nodes would silently skip the phases of these plugins."""
    if not blueprint.on_path:
        return ()
    errors = [problem for problem in _found(ctx).problems if problem.severity == "error"]
    return tuple(
        altered(
            problem, severity="warning", mend=f"its operations are not called until this is corrected: {problem.mend}"
        )
        for problem in errors[:MOST_TOLD]
    )


def known_paths(ctx: RequestContext, blueprint: Blueprint, names: Sequence[str] = ()) -> StatePathIndex | None:
    """Return the state paths that a planner needs, or None if no node is a resource.

    ``names`` are the state names already stored for the deployment. Raises: the errors of ``on_their_paths``, for example
    because a plugin that the deployment needs was removed; then the engine must not run the deployment.
    """
    if not blueprint.on_path:
        return None

    registry = _checked_registry(ctx, blueprint)
    more = state_graph_names.missing_names(names, state_operations.states_of(blueprint, registry))
    return execution.StatePathIndex(registry, state_graph_names.state_numbers((*names, *more)))


def phases_on_paths(ctx: RequestContext, blueprint: Blueprint) -> tuple[str, ...]:
    """Return every phase that the blueprint's nodes may enter."""
    if not blueprint.on_path:
        return ()

    return state_operations.phases_of(blueprint, _registry(ctx, blueprint))


def _checked_registry(ctx: RequestContext, blueprint: Blueprint) -> PhaseRegistry:
    registry = _registry(ctx, blueprint)
    problems = tuple(state_operations.path_problems(blueprint, registry))
    if problems:
        raise ProblemsError(problems)
    return registry


def _registry(ctx: RequestContext, blueprint: Blueprint) -> PhaseRegistry:
    """Return the known phases, together with the blueprint's node types as resource types and its own state paths."""
    return _found(ctx).registry.of_blueprint(blueprint)


def _found(ctx: RequestContext) -> LoadedPlugins:
    return known_phases.found_phases(ctx)
