"""Prepare updates: read the new blueprint and compute the changes of the deployment. Nothing is stored."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.dsl.nodes import schedules as nodes_schedules
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.lang.gc_pause import undisturbed
from phaseline.model.blueprint.labels import PARENT
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.execution.stored_plans import PLAN, Aim
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.model.rows import schedules as schedule_rows
from phaseline.plan.requests import request_validation
from phaseline.plan.topology import blueprint_diff
from phaseline.plan.workflows import apply_revision, delegated_update, update
from phaseline.use_cases.loading.blueprint_loading import load
from phaseline.use_cases.loading.deployment_rows import raise_if_secrets_missing, sealed_inputs
from phaseline.use_cases.loading.moved_folders import raise_if_folders_missing
from phaseline.use_cases.loading.plugin_workflows import planner_of, unknown_workflow
from phaseline.use_cases.lookup.blocking_executions import raise_if_suspended
from phaseline.use_cases.lookup.estate import parents
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.secret_reveal import opened_inputs
from phaseline.use_cases.prepare.deployment_spec import provider_warnings
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.pre_post import with_stops

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.blueprint.diff import BlueprintChange
    from phaseline.model.blueprint.labels import Label
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.plan.topology.revision import Revision
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint
    from phaseline.use_cases.prepare.options import ExecutionOptions

Schedules = Mapping[str, dict[str, "Value"]]
NOT_STORED = -1
"""Number that a plan has while it is not stored."""


@frozen
class UpdateOrder:
    """An update of a deployment to a blueprint.

    ``inputs`` override the present inputs; ``parameters`` are the workflow's parameters. If ``plugin_folders`` is None,
    the former folders are used. With ``runtime_only``, functions are evaluated when their values are needed.
    ``allow_missing_providers``: accept that deployments which the new blueprint reads do not exist (DP12).
    ``force``: update it although other deployments read what the update touches (DP7).
    """

    deployment: str
    file: str
    inputs: Mapping[str, Value] = field(default_factory=dict)
    plugin_folders: Sequence[str] | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    runtime_only: bool = False
    allow_missing_providers: bool = False
    force: bool = False


@frozen
class Present:
    """The present state of a deployment, and the request to update it."""

    deployment: DeploymentRow
    topology: Topology
    states: np.ndarray
    request: Request


@frozen
class PreparedUpdate:
    """A fully checked update that is not stored. ``given`` are breakpoints of this execution only."""

    deployment: DeploymentRow
    topology: Topology
    states: np.ndarray
    request: Request
    aim: Aim
    revision: Revision
    steps: tuple[BlueprintChange, ...]
    warnings: tuple[Problem, ...]
    given: tuple[Breakpoint, ...] = ()


@undisturbed()
def prepare_update(
    ctx: RequestContext, order: UpdateOrder, *, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> PreparedUpdate:
    """Return the new blueprint with its inputs, and the changes of the deployment.

    Raises: ``ProblemsError`` with PL-C010, PL-C024, PL-C043, all problems of the blueprint, its inputs or the
    parameters, or those of the revision.
    """
    now = present_of(ctx, order.deployment, apply_revision.UPDATE, order.parameters, manner)
    row, topology = now.deployment, now.topology
    former = opened_inputs(ctx, row.number)
    loaded = _read(ctx, order, now, former)
    hidden = hidden_inputs(topology.blueprint) | hidden_inputs(loaded.blueprint)
    values, changed = blueprint_diff.values_of_inputs(former, loaded.inputs, frozenset(hidden))
    before = _as_labelled(topology.blueprint, frozenset(ctx.store.labels.of(row.number)))
    if PARENT in loaded.blueprint.labels:
        parents.raise_if_parents_unfit(ctx.store, row.name, loaded.blueprint.labels)
    blueprint = _carried_over(before, loaded.blueprint, now=ctx.clock.now())
    aim = Aim(
        blueprint,
        sealed_inputs(ctx, loaded),
        loaded.code,
        suffixes=int.from_bytes(os.urandom(8)) >> 1,
        changed_inputs=tuple(sorted(changed)),
        uses=loaded.uses,
        former=_former(ctx, row, topology, before, changed) if now.request.take_back else None,
        packages=tuple(loaded.packages),
    )
    _raise_if_unknown_workflow(ctx, aim, now.request)
    kept = _kept_schedules(ctx, row, before, blueprint)
    return brought_to(ctx, now, aim, values, (*loaded.warnings, *kept))


def present_of(
    ctx: RequestContext, name: str, workflow: str, parameters: Mapping[str, Value], manner: ExecutionOptions
) -> Present:
    """Return a deployment that may be updated, and the request of the workflow that updates it.

    Raises: ``ProblemsError`` with PL-C010, PL-C024, PL-C043, PL-P043, or all problems of the parameters.
    """
    store = ctx.store
    row = find_deployment(store, name, to_change=True)
    raise_if_folders_missing(ctx, row)
    topology = store.topology(row.number)
    apply_revision.raise_if_other_modification(topology)
    states = store.states(row.number)
    raise_if_suspended(row.name, workflow, topology, states)
    request = manner.request(workflow, ctx, {**parameters, PLAN: NOT_STORED}, topology)
    problems = request_validation.check(topology, request)
    if problems:
        raise ProblemsError(problems)
    return Present(row, topology, states, request)


def brought_to(
    ctx: RequestContext,
    now: Present,
    aim: Aim,
    values: Sequence[BlueprintChange],
    warnings: tuple[Problem, ...] = (),
) -> PreparedUpdate:
    """Return the prepared update of a deployment to ``aim``, the new blueprint with its inputs and code.

    ``values`` are the changes of its inputs. Raises: problems of the revision.
    """
    revision = apply_revision.revised(now.topology, aim)
    apply_revision.raise_if_forbidden(revision)
    request = with_stops(ctx, now.request, now.topology, revision.finished, deployment=now.deployment.number)
    told = (*values, *blueprint_diff.steps(now.topology.blueprint, aim.blueprint, revision.changed))
    given = now.request.breakpoints
    return PreparedUpdate(now.deployment, now.topology, now.states, request, aim, revision, told, warnings, given)


def _read(ctx: RequestContext, order: UpdateOrder, now: Present, former: Mapping[str, Value]) -> LoadedBlueprint:
    """Load the new blueprint with the former inputs, overridden by the given ones."""
    folders = now.deployment.code.plugin_folders if order.plugin_folders is None else order.plugin_folders
    loaded = load(
        ctx,
        order.file,
        inputs=order.inputs,
        plugin_folders=tuple(folders),
        yes_many=True,
        runtime_only=order.runtime_only or now.topology.blueprint.runtime_only,
        former=former,
        auto_correct=order.parameters.get(update.AUTO_CORRECT_TYPES) is True,
    )
    raise_if_secrets_missing(ctx, loaded.blueprint)
    providers = provider_warnings(
        ctx, now.deployment.name, loaded.blueprint, allow_missing=order.allow_missing_providers
    )
    return altered(loaded, warnings=(*loaded.warnings, *providers)) if providers else loaded


def _former(
    ctx: RequestContext, row: DeploymentRow, topology: Topology, blueprint: Blueprint, changed: AbstractSet[str]
) -> Aim:
    """Return the present deployment in the form of an update's aim, so that an update can be rolled back to it."""
    used = ctx.store.stored_blueprints.of_deployment(row.number)
    return Aim(
        blueprint,
        ctx.store.inputs(row.number),
        row.code,
        suffixes=int.from_bytes(os.urandom(8)) >> 1,
        changed_inputs=tuple(sorted(changed)),
        uses={namespace: version.number for namespace, version in used.items()},
        counts=dict(topology.counts),
    )


def _raise_if_unknown_workflow(ctx: RequestContext, aim: Aim, request: Request) -> None:
    """Raise PL-P009 if the request names a workflow (``workflow_id``) that the new blueprint does not have.

    A workflow that exists is loaded, so that errors in loading it are raised too.
    """
    name = request.parameters.get(delegated_update.WORKFLOW_ID)
    if isinstance(name, str) and planner_of(ctx, aim.blueprint, aim.code, name) is None:
        raise unknown_workflow(name, aim.blueprint)


def _as_labelled(former: Blueprint, kept: AbstractSet[Label]) -> Blueprint:
    """Return the present blueprint without labels that a user has removed from the deployment.

    Otherwise an update or its rollback would add these labels again.
    """
    labels = {
        key: [value for value in values if not isinstance(value, str) or (key, value) in kept]
        for key, values in former.labels.items()
    }
    return altered(former, labels={key: values for key, values in labels.items() if values})


def _kept_schedules(ctx: RequestContext, row: DeploymentRow, former: Blueprint, new: Blueprint) -> tuple[Problem, ...]:
    """Return a warning for each schedule that differs from the new blueprint and stays, since a user made it so (SC10)."""
    if not any(each.deployment_settings.get("default_schedules") for each in (former, new)):
        return ()
    kept = schedule_rows.schedule_sync(ctx.store.schedules.all(row.number), new.deployment_settings).kept
    return tuple(
        Problem(
            "PL-C145",
            f"the schedule '{one.name}' stays as a user has made it, not as the new blueprint has it",
            f"to have that of the blueprint, first: phaseline schedules delete {one.name} -d {row.name}",
            severity="warning",
        )
        for one in kept
    )


def _carried_over(former: Blueprint, new: Blueprint, *, now: int) -> Blueprint:
    """Return the new blueprint with the labels of the former one added to its own.

    No label is removed. Schedules are those of the new blueprint (SC10); one that is written as in the former blueprint
    keeps its times, because ``+2 weeks`` would count from now again.
    """
    name = "default_schedules"
    labels = {key: list(values) for key, values in former.labels.items()}
    for key, values in new.labels.items():
        known = labels.setdefault(key, [])
        known += [value for value in values if value not in known]
    said = new.deployment_settings
    earlier = cast("Schedules", former.deployment_settings.get(name) or {})
    schedules = dict(cast("Schedules", nodes_schedules.begun(said, now).get(name) or {}))
    for key in earlier.keys() & schedules.keys():
        if nodes_schedules.is_said_again(earlier[key], schedules[key]):
            schedules[key] = earlier[key]
    settings: Mapping[str, Value] = {**said, **({name: dict(schedules)} if schedules else {})}
    return altered(new, labels=labels, deployment_settings=settings)
