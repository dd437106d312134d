"""Plan workflows without running them: no code of a blueprint or plugin runs, and nothing is stored."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from phaseline.app.settings import slots
from phaseline.app.store_location import has_store
from phaseline.lang.fast_dataclasses import altered, as_dict, frozen
from phaseline.model.execution.execution import History
from phaseline.model.problems.problem import Problem
from phaseline.plan.preview import count_changes, diagram, duration_estimate, plan_summary
from phaseline.plan.preview import plan_text as preview_plan_text
from phaseline.plan.rounds import round_preview
from phaseline.use_cases.loading.blueprint_loading import deployment_name, load
from phaseline.use_cases.loading.deployment_rows import dependencies, missing_secrets
from phaseline.use_cases.loading.resource_nodes import known_paths
from phaseline.use_cases.lookup import past_durations
from phaseline.use_cases.prepare import consumers, role_limits
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec, provider_warnings, with_labels_of
from phaseline.use_cases.prepare.foreseen_stops import look_for_stops
from phaseline.use_cases.prepare.install_preparation import choose_install, choose_uninstall
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.pre_post import uses_packages
from phaseline.use_cases.prepare.pre_post_preview import with_surroundings
from phaseline.use_cases.prepare.rounds import foresee_checked, foresee_first, foresee_planned
from phaseline.use_cases.prepare.workflow_start import prepare
from phaseline.use_cases.queries.estate import planned_reads, planned_schedules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import Request, StatePathIndex
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.plan.preview.diagram import Drawing
    from phaseline.plan.preview.plan_summary import PlanSummary, RoundsPlan
    from phaseline.plan.preview.pre_post_preview import PrePostPreview
    from phaseline.plan.preview.update_summary import UpdatePlan
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart
    from phaseline.use_cases.queries.estate.planned_reads import ChangedCapability, PlannedRead
    from phaseline.use_cases.queries.estate.planned_schedules import PlannedSchedule


@frozen
class NothingToDo:
    """The reason why a plan has no steps."""

    workflow: str
    reason: str


@frozen
class PlanPreview:
    """A plan as a value and as text, with its warnings.

    ``id`` is the id of the stored plan, or empty if it is not stored. ``around`` has its hook classes and stage tasks,
    or is None if there are none. ``reads`` is what it reads of other deployments, or changes for those that read it (DP9).
    ``schedules`` are those that an install stores with the deployment (SC11).
    """

    summary: PlanSummary | RoundsPlan | UpdatePlan | NothingToDo
    text: str
    warnings: tuple[Problem, ...] = ()
    id: str = ""
    around: PrePostPreview | None = None
    reads: tuple[PlannedRead | ChangedCapability, ...] = ()
    schedules: Sequence[PlannedSchedule] = ()

    @property
    def is_empty(self) -> bool:
        """Return True if the plan does nothing: no call, no added, removed or changed instance, and no other effect."""
        plan = self.summary
        if isinstance(plan, NothingToDo):
            return True
        counted = any(getattr(plan, name, ()) for name in ("resized", "differences", "changes", "instances"))
        rounds = any(one.instances or one.resized for one in getattr(plan, "rounds", ()))
        return not (plan.calls or counted or rounds)

    @property
    def made_anew(self) -> Mapping[str, int]:
        """Return {node: number of its instances} that an update would reinstall."""
        nodes = getattr(self.summary, "nodes", ())
        return {node.name: node.again for node in nodes if getattr(node, "again", 0)}

    @property
    def drawing(self) -> Drawing:
        """Return a diagram of the nodes that the plan concerns."""
        plan = self.summary
        summaries = (plan,) if isinstance(plan, plan_summary.PlanSummary) else getattr(plan, "rounds", ())
        return diagram.of_plan(self.text.partition("\n")[0], summaries)

    @property
    def value(self) -> object:
        """Return the whole plan as a value for programs."""
        more: dict[str, object] = {} if self.around is None else {"around": self.around}
        if self.reads:
            more |= {"reads": self.reads}
        if self.schedules:
            more |= {"schedules": self.schedules}
        if not more:
            return self.summary
        return {item.name: getattr(self.summary, item.name) for item in fields(self.summary)} | more


def plan_install(
    ctx: RequestContext, order: DeploymentSpec, *, open_types: bool = False, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> PlanPreview:
    """Return the plan of an installation of a blueprint. Raises ``ProblemsError`` with all problems.

    If there is a store, the order's name for the deployment is checked, as an install checks it. With ``open_types``,
    types from missing definition files become open types.
    """
    name = None if order.name is None else deployment_name(order.file, order.name)
    loaded = load(
        ctx,
        order.file,
        inputs=order.inputs,
        plugin_folders=order.plugin_folders,
        yes_many=order.yes_many,
        open_types=open_types,
        needs_code=False,
    )
    loaded = with_labels_of(ctx, loaded, order)
    _, request, replaces = choose_install(ctx, name, loaded, manner)
    providers = provider_warnings(ctx, name or "(new)", loaded.blueprint, is_plan=True)
    found = altered(loaded, warnings=(*loaded.warnings, *missing_secrets(ctx, loaded.blueprint), *providers))
    given = manner.breakpoints
    planned = plan_made(ctx, request, name or "(new)", found, yes_many=order.yes_many, replaces=replaces, given=given)
    if has_store(ctx.app) and dependencies(loaded.blueprint):
        planned = with_reads(planned, planned_reads.planned_reads(ctx, loaded.blueprint))
    if not loaded.blueprint.deployment_settings.get("default_schedules"):
        return planned
    schedules = planned_schedules.planned_schedules(loaded.blueprint, ctx.clock.now())
    return altered(planned, schedules=schedules, text=f"{planned.text}\n\n{planned_schedules.planned_text(schedules)}")


def with_reads(planned: PlanPreview, reads: tuple[PlannedRead | ChangedCapability, ...]) -> PlanPreview:
    """Return the plan with what it reads of other deployments, or changes for them."""
    lines = "\n".join(f"  {one}" for one in reads)
    return altered(planned, text=f"{planned.text}\n{lines}", reads=reads) if reads else planned


def plan_made(
    ctx: RequestContext,
    request: Request,
    name: str,
    loaded: LoadedBlueprint,
    *,
    yes_many: bool = True,
    replaces: int = 0,
    given: Sequence[Breakpoint] = (),
) -> PlanPreview:
    """Return the plan, with its warnings, of the first execution of a deployment ``name`` that is not stored yet.

    ``yes_many``: allow more than a million relationship calls. ``replaces``: number of the deployment that it replaces,
    whose enabled packages it keeps. ``given``: breakpoints of this execution only.
    """
    foreseen = foresee_first(ctx, request, loaded)
    stops = look_for_stops(ctx, given, request, foreseen)
    warnings = (*loaded.warnings, *limits(ctx, replaces, request, foreseen), *stops)
    planned = _planned(ctx, request, foreseen, warnings, yes_many=yes_many)
    return with_surroundings(ctx, planned, request, foreseen, deployment=replaces, made=(name, loaded))


def preview_uninstall(
    ctx: RequestContext, name: str, *, ignore_failure: bool = False, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> tuple[DeploymentRow, Request, PlanPreview]:
    """Return the deployment, its uninstall request, and the plan of an uninstall now.

    Raises: PL-C010 if there is no such deployment, PL-C024 if its folder is missing.
    """
    row, topology, request = choose_uninstall(ctx, name, manner, ignore_failure=ignore_failure, to_change=False)
    history = History(ctx.store.states(row.number), paths=_paths(ctx, row, topology))
    foreseen = foresee_checked(ctx, topology, row.code, request, history)
    stops = look_for_stops(ctx, manner.breakpoints, request, foreseen, row.number)
    warnings = (*stops, *consumers.foreseen(ctx, row, topology, request))
    found = _planned(ctx, request, foreseen, warnings, row, yes_many=True)
    return row, request, with_surroundings(ctx, found, request, foreseen, deployment=row.number)


def preview_workflow(
    ctx: RequestContext, order: WorkflowStart, *, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> tuple[DeploymentRow, Request, PlanPreview]:
    """Return the deployment, the request, and the plan of running a workflow now.

    Raises ``ProblemsError`` with all problems that ``prepare`` finds.
    """
    found = prepare(ctx, order, manner=manner)
    checks = ctx.store.checks(found.deployment.number, only_results=True).checks
    history = History(found.states, paths=_paths(ctx, found.deployment, found.topology), checks=checks)
    foreseen = foresee_planned(ctx, found.topology, found.deployment.code, found.request, history, found.own)
    row, request = found.deployment, found.request
    stops = look_for_stops(ctx, manner.breakpoints, request, foreseen, row.number)
    besides = frozenset((row.number, *(one.number for one in found.first)))
    readers = consumers.foreseen(ctx, row, found.topology, request, besides)
    warnings = (*found.warnings, *limits(ctx, row.number, request, foreseen), *stops, *readers)
    planned = _planned(ctx, request, foreseen, warnings, row, yes_many=True)
    return row, request, with_surroundings(ctx, planned, request, foreseen, deployment=row.number)


def limits(ctx: RequestContext, deployment: int, request: Request, foreseen: PreviewedRounds) -> Sequence[Problem]:
    """Return warnings of packages about the numbers of instances after a plan.

    Raises: PL-F069, as the workflow itself would.
    """
    if not uses_packages(ctx, deployment):
        return ()

    return role_limits.limits_foreseen(ctx, deployment, request, foreseen)


def summaries(
    ctx: RequestContext, foreseen: PreviewedRounds, row: DeploymentRow | None = None, *, yes_many: bool = True
) -> tuple[PlanSummary, ...]:
    """Return the rounds in readable form. For an existing deployment (``row``) they have estimated durations."""
    pools = as_dict(slots(ctx.settings))
    found = tuple(
        plan_summary.summarise(shape, graph, slots=pools, yes_many=yes_many) for shape, graph in foreseen.graphs
    )
    took = {} if row is None else past_durations.took_before(ctx.store, row.number)
    return tuple(altered(one, expected_s=duration_estimate.expected_s(one.phases, took)) for one in found)


def _paths(ctx: RequestContext, row: DeploymentRow, topology: Topology) -> StatePathIndex | None:
    return known_paths(ctx, topology.blueprint, ctx.store.state_names(row.number))


def _planned(
    ctx: RequestContext,
    request: Request,
    foreseen: PreviewedRounds,
    warnings: tuple[Problem, ...],
    row: DeploymentRow | None = None,
    *,
    yes_many: bool,
) -> PlanPreview:
    if not foreseen.graphs:
        reason = (foreseen.verdict.reason if foreseen.verdict else "") or "nothing is to be done"
        return PlanPreview(NothingToDo(request.workflow, reason), f"{request.workflow}: {reason}", warnings)
    warnings = (*warnings, *round_preview.preview_warnings(request.workflow, foreseen))
    rounds = summaries(ctx, foreseen, row, yes_many=yes_many)
    changes = count_changes.resized(foreseen.before, foreseen.topology)
    if len(rounds) == 1:
        summary = altered(rounds[0], warnings=(*warnings, *rounds[0].warnings), resized=changes)
        return PlanPreview(summary, preview_plan_text.plan_text(summary).rstrip("\n"))
    whole = plan_summary.in_rounds(request.workflow, rounds, warnings, changes)
    return PlanPreview(whole, preview_plan_text.rounds_text(whole).rstrip("\n"))
