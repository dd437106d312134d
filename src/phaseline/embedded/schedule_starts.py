"""What the clockwork of this process needs: the times of schedules, and checked executions of their workflows (SC8, SC9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.app import schedule_times
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.model.rows.rows import Actor
from phaseline.run.loop.clockwork import Clockwork
from phaseline.use_cases.commands import keep_plan, start_workflow
from phaseline.use_cases.prepare import plan_preview, pre_post, workflow_start
from phaseline.use_cases.prepare.options import ExecutionOptions

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.execution.stored_plans import StoredPlan
    from phaseline.model.rows.rows import NewExecution
    from phaseline.model.rows.schedules import ScheduleRow
    from phaseline.model.schedules.schedule_spec import ScheduleSpec
    from phaseline.plan.recurrence.occurrences import Occurrences


def clockwork(ctx: RequestContext) -> Clockwork:
    """Return the clockwork for the store of this process."""
    return Clockwork(ctx.app.store.firings, ScheduleStarts(ctx))


class ScheduleStarts:
    """Implements ``run.loop.clockwork.Starts`` with the use cases of this process."""

    def __init__(self, ctx: RequestContext) -> None:
        """``ctx``: of the engine; each execution is prepared in the context of the user that created its schedule."""
        self._ctx = ctx

    def occurrences(self, spec: ScheduleSpec, now: int) -> Occurrences:
        """Return the times of a schedule. Raises: PL-B159."""
        return schedule_times.occurrences_of(spec, now)

    def prepare(self, row: ScheduleRow, at: int) -> NewExecution | StoredPlan:
        """Return the checked execution that a schedule starts, as its creator would start it by hand (SC9).

        A dry run is a plan. Raises: the problems with which a start by hand would be refused; PL-C010, PL-C146.
        """
        ctx, spec = altered(self._ctx, actor=Actor(row.created_by, row.tenant)), row.spec
        found = ctx.store.listings.deployments(DeploymentQuery(numbers=(row.deployment,)))
        if not found:
            raise problem_error("PL-C010", "its deployment is gone", "delete the schedule")
        is_forced = bool(spec.arguments.get("force"))
        order = workflow_start.WorkflowStart(
            spec.workflow,
            found[0].name,
            spec.parameters,
            allow_custom=bool(spec.arguments.get("allow_custom_parameters")),
            force=is_forced,
        )
        manner = ExecutionOptions(if_busy="force" if is_forced else "wait")
        if spec.arguments.get("dry_run"):
            deployment, request, planned = plan_preview.preview_workflow(ctx, order, manner=manner)
            return keep_plan.new_plan(ctx, deployment, request, planned)
        prepared = workflow_start.prepare(ctx, order, manner=manner)
        if prepared.first:
            names = ", ".join(one.name for one in prepared.first)
            raise problem_error("PL-C146", f"it would uninstall other deployments first: {names}", "start it by hand")
        request = start_workflow.guarded_request(ctx, prepared, order)
        new, _warnings = pre_post.new_execution(ctx, row.deployment, request)
        return altered(new, cause=CauseKey("schedule", row.number, str(at)))
