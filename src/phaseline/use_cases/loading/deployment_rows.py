"""Convert a loaded blueprint to a stored deployment, without the values of secrets (decision 30)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.app.store_location import has_store
from phaseline.dsl.deployment import other_reads
from phaseline.dsl.deployment import secret_names as deployment_secret_names
from phaseline.dsl.functions import plan_and_runtime_scopes
from phaseline.dsl.nodes import schedules
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import NewDeployment
from phaseline.use_cases.lookup import package_types
from phaseline.vault import known_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.packages.installed import PackageUse
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.dependencies import Dependency
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint


def new_deployment(ctx: RequestContext, name: str, loaded: LoadedBlueprint, now: int, site: str = "") -> NewDeployment:
    """Return the loaded blueprint as a deployment to be stored. ``site``: the name of its site.

    Secret inputs are encrypted, and times of schedules count from now (B26). Call ``raise_if_secrets_missing`` before.
    """
    inputs = sealed_inputs(ctx, loaded)
    blueprint, topology = with_begun_schedules(loaded.blueprint, loaded.topology, now)
    packages = _packages(ctx, name, loaded) if ctx.store.has_packages else ()
    return NewDeployment(
        name, blueprint, inputs, topology, loaded.code, ctx.actor, now, uses=loaded.uses, packages=packages,
        dependencies=dependencies(blueprint), site=site,
    )  # fmt: skip


def dependencies(blueprint: Blueprint) -> Sequence[Dependency]:
    """Return the records of all functions of a blueprint that read other deployments (DP5)."""
    values = [output.value for output in (*blueprint.outputs.values(), *blueprint.capabilities.values())]
    values += [schema.default for workflow in blueprint.workflows.values() for schema in workflow.parameters.values()]
    may_read = any(isinstance(value, dict | list) and value for value in values)
    if not (may_read or blueprint.resource_tags or any(node.has_functions for node in blueprint.nodes.values())):
        return ()  # nothing is a function, which is cheap to see
    return other_reads.dependencies_of(blueprint)


def with_begun_schedules(blueprint: Blueprint, topology: Topology, now: int) -> tuple[Blueprint, Topology]:
    """Return the blueprint and topology of a new deployment, times of schedules counted from now (B26)."""
    if not blueprint.deployment_settings.get("default_schedules"):
        return blueprint, topology
    blueprint = altered(blueprint, deployment_settings=schedules.begun(blueprint.deployment_settings, now))
    return blueprint, altered(topology, blueprint=blueprint)  # a blueprint stored with it need not be read again


def _packages(ctx: RequestContext, name: str, loaded: LoadedBlueprint) -> Sequence[PackageUse]:
    """Return the packages that the deployment uses."""
    return package_types.uses_of_new(ctx, name, loaded.packages)


def sealed_inputs(ctx: RequestContext, loaded: LoadedBlueprint) -> dict[str, Value]:
    """Return the inputs in their stored form: secret ones are encrypted."""
    hidden = hidden_inputs(loaded.blueprint)
    return {
        key: value if key not in hidden or value is None else ctx.vault.seal(value)
        for key, value in loaded.inputs.items()
    }


def raise_if_secrets_missing(ctx: RequestContext, blueprint: Blueprint) -> None:
    """Raise PL-B079 with all secrets that the blueprint names but the store does not have."""
    names = deployment_secret_names.secret_names(blueprint)
    missing = ctx.vault.missing(names) if names else ()
    if missing:
        raise plan_and_runtime_scopes.no_secrets(missing)


def missing_secrets(ctx: RequestContext, blueprint: Blueprint) -> tuple[Problem, ...]:
    """Return warnings of secrets that the blueprint names but the store does not have; () without a store."""
    if not has_store(ctx.app):
        return ()
    try:
        raise_if_secrets_missing(ctx, blueprint)
    except ProblemsError as error:
        return tuple(altered(problem, severity="warning") for problem in error.problems)
    return ()


def without_hidden_defaults(blueprint: Blueprint) -> Blueprint:
    """Return the blueprint without the default values of secret inputs, which must not be stored."""
    hidden = [name for name in hidden_inputs(blueprint) if blueprint.inputs[name].default is not None]
    if not hidden:
        return blueprint
    inputs = {**blueprint.inputs, **{name: altered(blueprint.inputs[name], default=None) for name in hidden}}
    return altered(blueprint, inputs=inputs)


def without_values(error: ProblemsError, blueprint: Blueprint, inputs: Mapping[str, Value]) -> ProblemsError:
    """Return the error with the values of secret inputs masked in its messages."""
    known = known_secrets.KnownValues()
    known.learn([inputs[name] for name in hidden_inputs(blueprint) if name in inputs])
    return ProblemsError(
        altered(problem, message=known.masked(problem.message), mend=known.masked(problem.mend))
        for problem in error.problems
    )
