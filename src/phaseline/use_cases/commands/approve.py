"""Approve the plan for which a hook waits. The approval is for exactly this plan and is stored with actor and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.rows import RequestKind
from phaseline.plan.requests.request_problems import raise_if_ended
from phaseline.use_cases.commands.orders import given_orders
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.queries.addressed_execution import find_open
from phaseline.use_cases.queries.hook_results import plan_waited_for, waiting_hooks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.use_cases.queries.hook_results import WaitingHook


@frozen
class Approved:
    """The result of an approval.

    ``runner``: the process that will continue the execution, or "" if none runs. ``objection``: why the approval does
    not count, or "" if it counts or the waiting hook has named no approvers.
    """

    execution: str
    deployment: str
    workflow: str
    plan: str
    actor: str
    runner: str
    objection: str = ""


def _approved_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> Approved:
    row = ctx.store.execution(id := str(found.answer["execution"]))
    if row is None:
        raise given_orders.gone(found, f"the execution {id}")
    return _approved(ctx, row, str(found.answer["plan"]), str(found.answer["objection"]))


@once("approve", _approved_again)
def approve(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    plan: str | None = None,
    reason: str = "",
    given: NewOrder | None = None,
) -> Approved:
    """Approve the plan for which an execution waits, and have its hook called again now.

    The hook decides whether the approval counts. ``plan``: the digest of the plan that was shown to the user; None: any
    plan for which the execution waits now. Raises: PL-C017 if the execution has ended, PL-H020 if it waits for no
    approval, PL-H021 if it waits for the approval of another plan.
    """
    row = _meant(ctx, id, deployment, plan)
    raise_if_ended(row, "nothing in it waits")
    waiting = _waiting(ctx, row)
    if not waiting:
        mend = f"look what it does: phaseline executions show {row.id}"
        raise problem_error("PL-H020", f"nothing in '{row.id}' waits for an approval", mend)
    wanted = plan_waited_for(waiting[0].note.result)
    if plan is not None and plan != wanted:
        mend = f"look what is to be done now: phaseline executions show {row.id}"
        raise problem_error("PL-H021", f"'{row.id}' waits for an approval of plan {wanted}, not of {plan}", mend)
    first = waiting[0]
    positions: list[Value] = [one.position for one in waiting if one.graph == first.graph]
    body: dict[str, Value] = {"plan": wanted, "reason": reason, "graph": first.graph, "positions": positions}
    objections = [_objection(one.note.result, ctx.actor.name) for one in waiting]
    objection = "" if "" in objections else objections[0]
    with ctx.store.as_one(given) as answer:
        answer.update({"execution": row.id, "plan": wanted, "objection": objection})
        ctx.store.ask(RequestKind.APPROVE, row.number, {"id": row.id, **body}, ctx.actor)
    return _approved(ctx, row, wanted, objection)


def _approved(ctx: RequestContext, row: ExecutionRow, plan: str, objection: str) -> Approved:
    owner = ctx.store.owner()
    runner = "" if owner is None else str(owner)
    return Approved(row.id, row.deployment_name, row.request.workflow, plan, ctx.actor.name, runner, objection)


def _meant(ctx: RequestContext, id: str | None, deployment: str | None, plan: str | None) -> ExecutionRow:
    """Return the only execution that waits for an approval of this plan.

    If no execution waits for this plan, return the only one that waits for an approval of any plan.
    """
    row = find_open(ctx.store, id, deployment, "approve", lambda row: _waits_for(_waiting(ctx, row), plan))
    if id is not None or plan is None or _waits_for(_waiting(ctx, row), plan):
        return row
    return find_open(ctx.store, None, deployment, "approve", lambda row: _waits_for(_waiting(ctx, row), None))


def _waiting(ctx: RequestContext, row: ExecutionRow) -> Sequence[WaitingHook]:
    hooks = waiting_hooks(ctx.store, ctx.store.graphs(row.number), awake=True)
    return [one for one in hooks if plan_waited_for(one.note.result)]


def _waits_for(waiting: Sequence[WaitingHook], plan: str | None) -> bool:
    """Return whether a hook waits for an approval of this plan; ``plan`` None: of any plan."""
    return any(plan in {None, plan_waited_for(one.note.result)} for one in waiting)


def _objection(data: object, actor: str) -> str:
    """Return why a hook ignores an approval by ``actor``; "" if it accepts it or names no approvers.

    ``data``: what the hook has stored about its wait.

    >>> _objection({"approvers": [], "besides": ["ann"]}, "ann"), _objection({"approvers": ["eve"]}, "bob"), _objection({}, "bob")
    ('the requesting user is not an approver', 'the approvers are: eve', '')
    """
    said = data if isinstance(data, dict) else {}
    if actor in said.get("besides", ()):
        return "the requesting user is not an approver"
    may = said.get("approvers", ())
    return f"the approvers are: {', '.join(may)}" if may and actor not in may else ""
