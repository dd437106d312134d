"""Find the hook classes and stage tasks of a workflow, for its plan.

Hook classes that have a method for plans are called (H36). Their methods ``pre`` and ``post`` are not called.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from phaseline.app import app_context
from phaseline.app.store_location import has_store
from phaseline.calls.deployments import call_subjects, deployment_cache, hook_lookups
from phaseline.calls.protocol import call
from phaseline.calls.threads import guarded_calls
from phaseline.hooks import call_arguments, caller, hook_context, lifecycle_hook, time_limited_threads
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import OutcomeKind
from phaseline.plan.preview import pre_post_preview
from phaseline.plan.rounds import task_subjects
from phaseline.plan.stages import task_listing
from phaseline.use_cases.prepare import pre_post

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.app.app_context import RequestContext
    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.protocol.call import ExecutionContext
    from phaseline.hooks.time_limited_threads import BoundedThreads
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.execution import Request
    from phaseline.model.execution.pre_post import PinnedHookClass, PrePost
    from phaseline.model.execution.stored_plans import Aim
    from phaseline.model.packages.stage_tasks import Stages
    from phaseline.model.packages.task_listing import TaskRow
    from phaseline.plan.preview.pre_post_preview import HookForeseen
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint
    from phaseline.use_cases.prepare.plan_preview import PlanPreview

PREVIEW = "do_preview_op"
NO_STORE = "memory:"
"""Address of an empty store, which hooks may read if there is no store yet."""


def with_surroundings(
    ctx: RequestContext,
    planned: PlanPreview,
    request: Request,
    foreseen: PreviewedRounds,
    *,
    deployment: int = 0,
    made: tuple[str, LoadedBlueprint] | None = None,
    aim: Aim | None = None,
) -> PlanPreview:
    """Return the plan with the hook classes and stage tasks that the workflow would call, if there are any.

    ``foreseen`` has the workflow's rounds. ``deployment`` is 0 for a new one, whose name and blueprint are in ``made``.
    ``aim`` is the target of an update. Raises: PL-H001, as the workflow itself would.
    """
    if not foreseen.graphs:
        return planned
    if not has_store(ctx.app):
        ctx = app_context.AppContext(altered(ctx.settings, store_url=NO_STORE), ctx.app.command).request()
    around = pre_post.pre_post_for(ctx, request, deployment)
    if around is None:
        return planned

    world = _there(ctx, deployment) if made is None else _made(ctx, *made)
    tasks = () if around.stages is None else _task_rows(around.stages, request, foreseen)
    found = pre_post_preview.PrePostPreview(_asked(ctx, around, request, world, foreseen, aim), tasks)
    return altered(planned, text=pre_post_preview.around_text(planned.text, found), around=found)


def _task_rows(stages: Stages, request: Request, foreseen: PreviewedRounds) -> tuple[TaskRow, ...]:
    """Return the tasks of packages that would run, each with the instances that the workflow's rounds would act on."""
    return task_listing.task_rows(stages, foreseen.topology, request.workflow, task_subjects.whom(request, foreseen))


def _there(ctx: RequestContext, deployment: int) -> LoadedDeployment:
    return deployment_cache.DeploymentCache(ctx.store, ctx.vault).loaded(deployment)


def _made(ctx: RequestContext, name: str, loaded: LoadedBlueprint) -> LoadedDeployment:
    """Return a deployment that is not stored yet, in the form in which stored ones are loaded."""
    return call_subjects.LoadedDeployment(
        0,
        name,
        blueprint=loaded.blueprint,
        topology=loaded.topology,
        code=loaded.code,
        inputs=loaded.inputs,
        documents={},
        states=np.zeros(len(loaded.topology), np.uint8),
        tenant=ctx.actor.tenant,
    )


def _asked(
    ctx: RequestContext,
    around: PrePost,
    request: Request,
    world: LoadedDeployment,
    foreseen: PreviewedRounds,
    aim: Aim | None,
) -> list[HookForeseen]:
    def inputs_then() -> Mapping[str, Value] | None:
        return None if aim is None else {name: ctx.vault.unsealed(value) for name, value in aim.inputs.items()}

    ground = hook_lookups.ExecutionHookLookup(0, ctx.store, lambda _: foreseen, inputs_then)
    view = call.ExecutionContext(
        "", request.workflow, request.parameters, ctx.actor.name, ctx.actor.tenant, around=around, ground=ground
    )
    threads, found = time_limited_threads.BoundedThreads(), []
    topology = foreseen.topology
    for hook in around.hooks:
        said = _preview_hook(ctx, hook, world, view, threads)
        numbers = {one: topology.number_of.get(one) for one in said.decisions}
        nodes = {one: topology.nodes[topology.node[at]].name for one, at in numbers.items() if at is not None}
        found.append(altered(said, nodes=nodes))
        decisions = {one: {**view.decisions.get(one, {}), **decided} for one, decided in said.decisions.items()}
        view = altered(view, decisions={**view.decisions, **decisions})
    return found


def _preview_hook(
    ctx: RequestContext, hook: PinnedHookClass, world: LoadedDeployment, view: ExecutionContext, threads: BoundedThreads
) -> HookForeseen:
    called = (
        pre_post_preview.BOTH
        if hook.has_pre and hook.has_post
        else pre_post_preview.ONLY_PRE
        if hook.has_pre
        else pre_post_preview.ONLY_POST
    )
    one = ctx.catalog.load_hook(hook)()
    method = getattr(one, PREVIEW, None)
    if not callable(method) or getattr(type(one), PREVIEW, None) is lifecycle_hook.LifecycleHook.do_preview_op:
        return pre_post_preview.HookForeseen(hook.name, called)
    given = call_arguments.seen(
        world, view, hook.action, hook_context.HookCall(hook.name, "preview"), settings=hook.settings
    )
    code = partial(guarded_calls.call_and_await, method, given.cnxt, given.stack, given.target, given.action)
    try:
        _, error = threads.run(partial(guarded_calls.guarded_call, code), hook.timeout_s)
    except TimeoutError:
        return pre_post_preview.HookForeseen(hook.name, called, "refuses", f"timed out after {hook.timeout_s:g} s")
    cnxt = given.cnxt
    outcome = cnxt.outcome() if error is None else caller.failed(error)
    if outcome.kind is OutcomeKind.FAILED:
        return pre_post_preview.HookForeseen(hook.name, called, "refuses", outcome.message, cnxt.warnings)
    return pre_post_preview.HookForeseen(hook.name, called, "agrees", "", cnxt.warnings, dict(cnxt.decided))
