"""Send a signal to a sleeping operation (spec of hooks, section 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import EntryStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.control import chosen
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import ask
from phaseline.use_cases.lookup.find import find_instance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.use_cases.commands.submission import Submission


@once("signal")
def signal(
    ctx: RequestContext,
    id: str,
    *,
    deployment: str | None = None,
    data: Value = None,
    operations: Sequence[str] = (),
    given: NewOrder | None = None,
) -> Submission:
    """Add data to the ``signals`` of an instance's sleeping operations, and call these operations now.

    ``operations``: only these (full names or their last part). If several executions are open, the first with such a
    sleeping operation gets the signal. Raises: PL-C012, PL-C013, PL-C027 for an unknown operation, PL-C080 if the
    instance is suspended, PL-C093 if none of its operations sleeps, and for a resource of a cluster.
    """
    row, topology, number = find_instance(ctx.store, id, deployment)
    whole, rows = topology.ids[number], ctx.store.executions(row.number)
    if any(one.request.workflow == REACH_WORKFLOW for one in rows):
        mend = f"signal its sleeping phases: phaseline resources signal {whole} -d {row.name} --data …"
        raise problem_error("PL-C093", f"'{whole}' is a resource, whose phases take signals", mend, subject=whole)
    refusals: list[Problem] = []
    for one in rows:
        if one.status.is_ended:
            continue
        try:
            found = chosen(ctx.store, one, [whole], operations, (EntryStatus.SLEEPING,))
        except ProblemsError as error:
            refusals.extend(error.problems)
            continue
        return ask(ctx, RequestKind.SIGNAL, one, {**found, "data": data}, given=given)
    state = int(ctx.store.states(row.number)[number])
    if state == InstanceState.SUSPENDED:
        mend = f"resume it first: phaseline resume -d {row.name}"
        raise problem_error("PL-C080", f"'{whole}' is suspended: its operations take no signals", mend, subject=whole)
    raise _asleep_nowhere(whole, rows, refusals)


def _asleep_nowhere(id: str, rows: Sequence[ExecutionRow], refusals: Sequence[Problem]) -> ProblemsError:
    """Return the error for an instance without a sleeping operation: PL-C093 with the reason, or PL-C027.

    PL-C027: all refusals are that no open execution has the operation that the signal names. The reason is the first
    other refusal, or the status of the last execution if there are no refusals.
    """
    unknown = [problem for problem in refusals if problem.code == "PL-C027"]
    if unknown and len(unknown) == len(refusals):
        return ProblemsError(unknown)
    if refusals:
        why = next(problem for problem in refusals if problem not in unknown)
        return problem_error("PL-C093", f"nothing of '{id}' waits for a signal: {why.message}", why.mend, subject=id)
    last = f"{rows[-1].id} is {rows[-1].status.value}" if rows else "the deployment has no execution"
    mend = "signal an operation of an open execution that has returned item.again() and sleeps"
    return problem_error("PL-C093", f"nothing of '{id}' waits for a signal: {last}", mend, subject=id)
