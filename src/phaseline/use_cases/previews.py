"""What surrounds a workflow, for its plan: hook classes that want to be asked beforehand are (H36); no pre, no post is called."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import altered
from phaseline.model.status import OutcomeKind
from phaseline.use_cases.store_file import has_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.hooks.bounded import BoundedThreads
    from phaseline.model.around import Around, HookClass
    from phaseline.model.blueprint import Value
    from phaseline.model.execution import Request
    from phaseline.model.stage_tasks import Stages
    from phaseline.model.stored_plans import Aim
    from phaseline.model.task_rows import TaskRow
    from phaseline.plan.foresight import Foreseen
    from phaseline.plan.surroundings import HookForeseen
    from phaseline.run.calling import ExecutionView
    from phaseline.run.subjects import LoadedDeployment
    from phaseline.use_cases.loading import Loaded
    from phaseline.use_cases.plans import Planned
    from phaseline.use_cases.workplace import Workplace

PREVIEW = "do_preview_op"
NO_STORE = "memory:"
"""What hooks may look into where there is no store yet."""


def with_surroundings(
    place: Workplace,
    planned: Planned,
    request: Request,
    foreseen: Foreseen,
    *,
    deployment: int = 0,
    made: tuple[str, Loaded] | None = None,
    aim: Aim | None = None,
) -> Planned:
    """The plan with what surrounds it, if anything does. ``made``: of a deployment that is not there yet its name and blueprint.

    ``aim``: what an update brings it to. Raises: PL-H001 as a start would.
    """
    from phaseline.use_cases.surrounding import around_of
    from phaseline.use_cases.workplace import Workplace

    if not foreseen.graphs:
        return planned
    if not has_store(place):
        place = Workplace(altered(place.settings, store_url=NO_STORE), place.command)
    around = around_of(place, request, deployment)
    if around is None:
        return planned
    from phaseline.plan.surroundings import Surroundings, around_text

    world = _there(place, deployment) if made is None else _made(*made)
    tasks = () if around.stages is None else _task_rows(around.stages, request, foreseen)
    found = Surroundings(_asked(place, around, request, world, foreseen, aim), tasks)
    return altered(planned, text=around_text(planned.text, found), around=found)


def _task_rows(stages: Stages, request: Request, foreseen: Foreseen) -> tuple[TaskRow, ...]:
    """The tasks of packages as they would run: whom they are for is read from what the rounds of the workflow do."""
    from phaseline.plan.stage_tasks import whom
    from phaseline.plan.task_rows import task_rows

    return task_rows(stages, foreseen.topology, request.workflow, whom(request, foreseen))


def _there(place: Workplace, deployment: int) -> LoadedDeployment:
    from phaseline.run.deployments import Deployments

    return Deployments(place.store, place.vault).loaded(deployment)


def _made(name: str, loaded: Loaded) -> LoadedDeployment:
    """A deployment as it would be made."""
    from phaseline.run.subjects import LoadedDeployment

    return LoadedDeployment(
        0,
        name,
        blueprint=loaded.blueprint,
        topology=loaded.topology,
        code=loaded.code,
        inputs=loaded.inputs,
        documents={},
        states=np.zeros(len(loaded.topology), np.uint8),
    )


def _asked(
    place: Workplace,
    around: Around,
    request: Request,
    world: LoadedDeployment,
    foreseen: Foreseen,
    aim: Aim | None,
) -> list[HookForeseen]:
    from phaseline.hooks.bounded import BoundedThreads
    from phaseline.run.calling import ExecutionView
    from phaseline.run.grounds import Ground

    def inputs_then() -> Mapping[str, Value] | None:
        return None if aim is None else {name: place.vault.unsealed(value) for name, value in aim.inputs.items()}

    ground = Ground(0, place.store, lambda _: foreseen, inputs_then)
    view = ExecutionView("", request.workflow, request.parameters, place.actor.name, around=around, ground=ground)
    threads, found = BoundedThreads(), []
    topology = foreseen.topology
    for hook in around.hooks:
        said = _said(place, hook, world, view, threads)
        numbers = {one: topology.number_of.get(one) for one in said.decisions}
        nodes = {one: topology.nodes[topology.node[at]].name for one, at in numbers.items() if at is not None}
        found.append(altered(said, nodes=nodes))
        decisions = {one: {**view.decisions.get(one, {}), **decided} for one, decided in said.decisions.items()}
        view = altered(view, decisions={**view.decisions, **decisions})
    return found


def _said(
    place: Workplace, hook: HookClass, world: LoadedDeployment, view: ExecutionView, threads: BoundedThreads
) -> HookForeseen:
    from phaseline.hooks.caller import failed
    from phaseline.hooks.hook_context import HookCall
    from phaseline.hooks.lifecycle_hook import LifecycleHook
    from phaseline.hooks.seen import seen
    from phaseline.plan.surroundings import BOTH, ONLY_POST, ONLY_PRE, HookForeseen
    from phaseline.run.plugin_code import attempt, run_to_end

    called = BOTH if hook.has_pre and hook.has_post else ONLY_PRE if hook.has_pre else ONLY_POST
    one = place.catalog.load_hook(hook)()
    method = getattr(one, PREVIEW, None)
    if not callable(method) or getattr(type(one), PREVIEW, None) is LifecycleHook.do_preview_op:
        return HookForeseen(hook.name, called)
    given = seen(world, view, hook.action, HookCall(hook.name, "preview"), settings=hook.settings)
    code = partial(run_to_end, method, given.cnxt, given.stack, given.target, given.action)
    try:
        _, error = threads.run(partial(attempt, code), hook.timeout_s)
    except TimeoutError:
        return HookForeseen(hook.name, called, "refuses", f"timed out after {hook.timeout_s:g} s")
    cnxt = given.cnxt
    outcome = cnxt.outcome() if error is None else failed(error)
    if outcome.kind is OutcomeKind.FAILED:
        return HookForeseen(hook.name, called, "refuses", outcome.message, cnxt.warnings)
    return HookForeseen(hook.name, called, "agrees", "", cnxt.warnings, dict(cnxt.decided))
