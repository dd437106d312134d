"""Bringing a deployment to another blueprint, and showing beforehand what that would do (W60).

Walk of ``deployments update shop new.yaml``: the file is read with the inputs of the deployment, and those given over
them; ``revise`` says what comes and goes; the plan is made of what the planner foresees, and is kept together with the new
blueprint (``Aim``); the execution names the plan, and its planner takes the blueprint over when its turn has come.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.model.frozen import altered, frozen
from phaseline.model.problem import ProblemsError
from phaseline.model.sealing import hidden_inputs
from phaseline.model.stored_plans import PLAN, Aim
from phaseline.use_cases.asking import Ticket
from phaseline.use_cases.claiming import lets_be, refuse_busy
from phaseline.use_cases.finding import find_deployment
from phaseline.use_cases.installing import AS_SET
from phaseline.use_cases.loading import load
from phaseline.use_cases.moving import refuse_moved
from phaseline.use_cases.opening import opened_inputs
from phaseline.use_cases.own_workflows import planner_of, unknown_workflow
from phaseline.use_cases.owning import conduct
from phaseline.use_cases.plans import Planned, foresee_rounds, summaries
from phaseline.use_cases.storing import refuse_missing_secrets, sealed_inputs
from phaseline.use_cases.surrounding import new_execution, with_stops
from phaseline.use_cases.suspended import refuse_suspended
from phaseline.use_cases.undisturbed import undisturbed
from phaseline.use_cases.watching import Nobody

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from phaseline.model.blueprint import Blueprint, Value
    from phaseline.model.differences import Change
    from phaseline.model.execution import Request
    from phaseline.model.problem import Problem
    from phaseline.model.rows import DeploymentRow
    from phaseline.model.topology import Topology
    from phaseline.plan.revising import Revision
    from phaseline.use_cases.installing import Manner
    from phaseline.use_cases.values import ExecutionView
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace

Schedules = Mapping[str, dict[str, "Value"]]
NOT_STORED = -1
"""Stands for the number of a plan that is not kept (yet)."""


@frozen
class UpdateOrder:
    """Which deployment is brought to which blueprint. ``inputs``: over those that it has; ``parameters``: of the workflow.

    ``plugin_folders`` None: as before. ``runtime_only``: as of an ``Order``.
    """

    deployment: str
    file: str
    inputs: Mapping[str, Value] = field(default_factory=dict)
    plugin_folders: Sequence[str] | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    runtime_only: bool = False


@frozen
class PreparedUpdate:
    """An update that can be meant: everything was checked, nothing is stored."""

    deployment: DeploymentRow
    topology: Topology
    states: np.ndarray
    request: Request
    aim: Aim
    revision: Revision
    steps: tuple[Change, ...]
    warnings: tuple[Problem, ...]


def update(
    place: Workplace,
    order: UpdateOrder,
    *,
    manner: Manner = AS_SET,
    watcher: Watcher | None = None,
    detach: bool = False,
) -> ExecutionView:
    """Bring a deployment to a blueprint; the execution as it ended, or with ``detach`` as it began. Its plan is kept.

    Raises: ``ProblemsError`` with everything that ``prepare_update`` finds, PL-P041 for nodes that would have to be
    replaced although that is not allowed, PL-C016 as ``workflows.start``.
    """
    from phaseline.plan.workflows.taking_over import refuse_replaced
    from phaseline.plan.workflows.update import ALLOW_REPLACE

    found = prepare_update(place, order, manner=manner)
    if order.parameters.get(ALLOW_REPLACE) is not True:
        refuse_replaced(found.revision)
    return carry_out(place, found, watcher, detach=detach)


def carry_out(
    place: Workplace, found: PreparedUpdate, watcher: Watcher | None = None, *, detach: bool = False
) -> ExecutionView:
    """Bring a deployment to what was prepared; its plan is kept. Raises: PL-C016."""
    from phaseline.use_cases.stored_plans import keep

    refuse_busy(place.store, found.deployment, found.topology, found.request)
    planned = planned_update(place, found)
    for warning in planned.warnings:
        (watcher or Nobody()).noticed(f"warning {warning}; {warning.mend}")
    kept = keep(place, found.deployment, found.request, planned, found.aim)
    (watcher or Nobody()).noticed(f"{planned.text.partition(chr(10))[0]}; see it whole: phaseline plans show {kept.id}")
    request = altered(found.request, parameters={**found.request.parameters, PLAN: kept.number})
    if found.aim.packages:
        from phaseline.use_cases.packages.types import bring_imports

        bring_imports(place, found.deployment.number, found.aim.packages)
    new = new_execution(place, found.deployment.number, request, watcher=watcher)
    row = place.store.create_execution(new, asks=True, beside=lets_be(found.topology, request))
    place.store.stored_plans.apply(kept.number, row.number)
    return conduct(place, Ticket(row), watcher, detach=detach)


def plan_update(place: Workplace, order: UpdateOrder, *, save: bool = False, manner: Manner = AS_SET) -> Planned:
    """What an update would do now. ``save``: the plan is kept, to be applied later."""
    from phaseline.use_cases.stored_plans import keep

    found = prepare_update(place, order, manner=manner)
    planned = planned_update(place, found, asks_hooks=True)
    if not save:
        return planned
    return altered(planned, id=keep(place, found.deployment, found.request, planned, found.aim).id)


@undisturbed()
def prepare_update(place: Workplace, order: UpdateOrder, *, manner: Manner = AS_SET) -> PreparedUpdate:
    """The blueprint to come with its inputs, and what becomes of the deployment.

    Raises: ``ProblemsError`` with PL-C010, PL-C024, PL-C043, everything that is wrong with the blueprint, its inputs or the
    parameters, or that forbids the revision.
    """
    from phaseline.plan.requests import check
    from phaseline.plan.steps import steps, values_of_inputs
    from phaseline.plan.workflows.taking_over import UPDATE, refuse_forbidden, refuse_other, revised
    from phaseline.plan.workflows.update import AUTO_CORRECT_TYPES

    store = place.store
    row = find_deployment(store, order.deployment, to_change=True)
    refuse_moved(place, row)
    topology = store.topology(row.number)
    refuse_other(topology)
    states = np.frombuffer(bytes(store.states(row.number)), np.uint8)
    refuse_suspended(row.name, UPDATE, topology, states)
    request = manner.request(UPDATE, place, {**order.parameters, PLAN: NOT_STORED})
    problems = check(topology, request)
    if problems:
        raise ProblemsError(problems)
    former = opened_inputs(place, row.number)
    folders = row.code.plugin_folders if order.plugin_folders is None else order.plugin_folders
    loaded = load(
        place,
        order.file,
        inputs=order.inputs,
        plugin_folders=tuple(folders),
        yes_many=True,
        runtime_only=order.runtime_only or topology.blueprint.runtime_only,
        former=former,
        auto_correct=order.parameters.get(AUTO_CORRECT_TYPES) is True,
    )
    refuse_missing_secrets(place, loaded.blueprint)
    hidden = hidden_inputs(topology.blueprint) | hidden_inputs(loaded.blueprint)
    values, changed = values_of_inputs(former, loaded.inputs, frozenset(hidden))
    blueprint = _carried_over(topology.blueprint, loaded.blueprint, now=place.clock.now())
    aim = Aim(
        blueprint,
        sealed_inputs(place, loaded),
        loaded.code,
        suffixes=int.from_bytes(os.urandom(8)) >> 1,
        changed_inputs=tuple(sorted(changed)),
        uses=loaded.uses,
        former=_former(place, row, topology, changed) if request.take_back else None,
        packages=tuple(loaded.packages),
    )
    _refuse_unknown(place, aim, request)
    revision = revised(topology, aim)
    refuse_forbidden(revision)
    return PreparedUpdate(
        deployment=row,
        topology=topology,
        states=states,
        request=with_stops(place, request, topology, revision.finished, deployment=row.number),
        aim=aim,
        revision=revision,
        steps=(*values, *steps(topology.blueprint, blueprint, revision.changed)),
        warnings=loaded.warnings,
    )


def _former(place: Workplace, row: DeploymentRow, topology: Topology, changed: AbstractSet[str]) -> Aim:
    """What the deployment is now, so that it can be brought back to it."""
    used = place.store.stored_blueprints.of_deployment(row.number)
    return Aim(
        topology.blueprint,
        place.store.inputs(row.number),
        row.code,
        suffixes=int.from_bytes(os.urandom(8)) >> 1,
        changed_inputs=tuple(sorted(changed)),
        uses={namespace: version.number for namespace, version in used.items()},
        counts=dict(topology.counts),
    )


def _refuse_unknown(place: Workplace, aim: Aim, request: Request) -> None:
    """Raise PL-P009 for a ``workflow_id`` that the new blueprint does not have; what it maps to is loaded."""
    from phaseline.plan.workflows.handing_over import WORKFLOW_ID

    name = request.parameters.get(WORKFLOW_ID)
    if isinstance(name, str) and planner_of(place, aim.blueprint, aim.code, name) is None:
        raise unknown_workflow(name, aim.blueprint)


@undisturbed()
def planned_update(place: Workplace, found: PreparedUpdate, *, asks_hooks: bool = False) -> Planned:
    """The plan of a prepared update, as a value and as text. ``asks_hooks``: with what hook classes say beforehand.

    Raises: PL-F069 if packages allow no such number of instances with their roles.
    """
    from phaseline.plan.foresight import doubts
    from phaseline.plan.update_summary import summarise_update
    from phaseline.plan.update_text import update_text
    from phaseline.plan.workflows.update import ALLOW_REPLACE
    from phaseline.use_cases.packages.limits import limits_foreseen

    allowed = altered(found.request, parameters={**found.request.parameters, ALLOW_REPLACE: True})
    foreseen = foresee_rounds(
        place,
        found.deployment,
        found.topology,
        allowed,
        found.states,
        code=found.aim.code,
        aim=altered(found.aim, revision=found.revision),
    )
    limits = limits_foreseen(place, found.deployment.number, found.request, foreseen)
    rounds = summaries(place, foreseen, found.deployment)
    summary = summarise_update(
        (found.deployment.name, found.aim.blueprint.file),
        found.revision,
        found.steps,
        found.topology.blueprint,
        found.request,
        foreseen,
        rounds,
        (*found.warnings, *doubts(found.request.workflow, foreseen), *limits),
    )
    planned = Planned(summary, update_text(summary).rstrip("\n"), summary.warnings)
    if not asks_hooks:
        return planned
    from phaseline.use_cases.previews import with_surroundings

    number = found.deployment.number
    return with_surroundings(place, planned, found.request, foreseen, deployment=number, aim=found.aim)


def _carried_over(former: Blueprint, new: Blueprint, *, now: int) -> Blueprint:
    """The new blueprint with what a deployment keeps: labels are added to, schedules added and changed, neither removed."""
    from phaseline.dsl.schedules import begun, is_said_again

    name = "default_schedules"
    labels = {key: list(values) for key, values in former.labels.items()}
    for key, values in new.labels.items():
        known = labels.setdefault(key, [])
        known += [value for value in values if value not in known]
    said = new.deployment_settings
    schedules = dict(cast("Schedules", former.deployment_settings.get(name) or {}))
    for key, schedule in cast("Schedules", begun(said, now).get(name) or {}).items():
        if key not in schedules or not is_said_again(schedules[key], schedule):
            schedules[key] = schedule
    settings: Mapping[str, Value] = {**said, **({name: dict(schedules)} if schedules else {})}
    return altered(new, labels=labels, deployment_settings=settings)
