"""Delete deployments. A deployment with installed instances is abandoned instead, with its hooks and its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phaseline.calls.deployments import blocking_consumers
from phaseline.lang.fast_dataclasses import as_dict
from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.commands import adopt
from phaseline.use_cases.commands.orders import given_orders
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import SubmissionFor
from phaseline.use_cases.lookup.blocking_executions import in_the_way, is_read
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.queries.deployments import briefs, living_count, open_execution, raise_if_inner, unread
from phaseline.views.views import DeploymentView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.use_cases.commands.submission import Submission
    from phaseline.views.views import ExecutionView


def _deleted_again(
    ctx: RequestContext, found: GivenOrder, arguments: Mapping[str, object]
) -> DeploymentView | SubmissionFor[DeploymentView]:
    seen: Any = found.answer
    if found.executions:
        return _when_abandoned(given_orders.submitted(ctx, found, arguments), DeploymentView(**seen))
    return DeploymentView(**seen)


@once("delete", _deleted_again)
def delete_deployment(
    ctx: RequestContext, name: str, *, force: bool = False, given: NewOrder | None = None
) -> DeploymentView | SubmissionFor[DeploymentView]:
    """Delete a deployment and return its view. Its name becomes free; its executions stay stored.

    With ``force``, a deployment with installed instances is abandoned: hook classes are called, and its document is
    stored for 30 days. Raises: PL-C115 if a component of another deployment has made it (unless ``force``); PL-C015 while
    instances are installed (unless ``force``), or if a hook refuses; PL-C016 while an execution is open, PL-C131 while a
    living deployment reads it (unless ``force``).
    """
    store = ctx.store
    row = find_deployment(store, name, to_change=True)
    raise_if_open(store, row)
    if not force:
        raise_if_inner(store, row)
    flaw = unread(store, row)
    if flaw:
        return _delete_unreadable(ctx, row, flaw, force=force, given=given)
    if not force:
        _raise_if_read(ctx, row)
    living = living_count(store, row)
    if living and not force:
        message = f"{living} instance{'s' * (living != 1)} of the deployment '{row.name}' may still exist"
        way = f"phaseline uninstall -d {row.name}"
        if row.kind == "resources":
            way = f"phaseline resources delete --all -d {row.name}"
        mend = f"remove the instances first: {way}; or delete only the records: --force"
        raise problem_error("PL-C015", message, mend, subject=row.name)
    seen = briefs(store, [row])[0]
    if living and row.kind == "blueprint":
        return _abandon(ctx, row, seen, given)
    _forget(ctx, row, seen, given)
    return seen


def _raise_if_read(ctx: RequestContext, row: DeploymentRow) -> None:
    """Raise PL-C131 while a living deployment reads this one (DP7)."""
    store = ctx.store
    if not is_read(store, row):
        return
    found = blocking_consumers.blocking(store, row, store.topology(row.number), blocking_consumers.Touch(None))
    blocking_consumers.raise_if_read(row, found, "delete")


def _forget(ctx: RequestContext, row: DeploymentRow, seen: DeploymentView, given: NewOrder | None) -> None:
    with ctx.store.as_one(given) as answer:
        answer.update(as_dict(seen))
        ctx.store.delete_deployment(row.number, ctx.actor)


def _delete_unreadable(
    ctx: RequestContext, row: DeploymentRow, flaw: str, *, force: bool, given: NewOrder | None
) -> DeploymentView:
    """Delete a deployment whose stored data cannot be read.

    No document is written and no hook is called, since both need this data.
    """
    if not force:
        message = (
            f"the deployment '{row.name}' cannot be read, so it is unknown which of its resources still exist: {flaw}"
        )
        raise problem_error(
            "PL-C015", message, f"delete its records: phaseline deployments delete {row.name} --force", subject=row.name
        )
    seen = briefs(ctx.store, [row])[0]
    _forget(ctx, row, seen, given)
    return seen


def _abandon(
    ctx: RequestContext, row: DeploymentRow, seen: DeploymentView, given: NewOrder | None
) -> SubmissionFor[DeploymentView]:
    """Delete a deployment with installed instances by abandoning it (decision 41)."""
    if given is not None:
        given.answer = as_dict(seen)
    return _when_abandoned(adopt.abandon(ctx, row.name, force=True, given=given), seen)


def _when_abandoned(submission: Submission, seen: DeploymentView) -> SubmissionFor[DeploymentView]:
    def answer(view: ExecutionView) -> DeploymentView:
        _raise_unless_abandoned(seen.name, view)
        return seen

    return SubmissionFor(submission, answer)


def _raise_unless_abandoned(name: str, view: ExecutionView) -> None:
    """Raise PL-C015 unless the execution that abandons the deployment has completed."""
    if view.is_good:
        return
    message = f"the records of '{name}' were not deleted: {view.id} is {view.status}" + (
        f": {view.reason}" if view.reason else ""
    )
    raise problem_error(
        "PL-C015", message, f"look at the reason, then repeat this command: phaseline executions show {view.id}"
    )


def raise_if_open(store: TenantStore, row: DeploymentRow) -> None:
    """Raise PL-C016 if an execution of the deployment is open (decision 4)."""
    found = open_execution(store, row)
    if found is not None:
        raise in_the_way(found)
