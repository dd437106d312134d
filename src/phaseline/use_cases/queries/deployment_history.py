"""The history of a deployment: its creation, its executions and the decisions of operators, each with its actor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.details import DetailQuery
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.read_ahead import ReadAhead

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads

SHOWN_PARAMETERS = 5
"""Number of parameters of an execution that are shown; of the remaining ones only the count is shown."""
LONGEST = 60
"""Number of characters after which a shown parameter value is cut off."""
WORTH_TELLING_MS = 1_000
"""Shortest wait (ms) between request and start of an execution for which the history has a line "began"."""


@frozen
class Happening:
    """One event in the history of a deployment.

    ``at`` is its time in ms, ``what`` the action. ``details`` has for example parameters or a reason. ``execution`` is
    the id of the execution that the event belongs to; it is empty for the creation of the deployment.
    """

    at: int
    actor: str
    what: str
    details: str = ""
    execution: str = ""


@frozen
class DeploymentHistory:
    """The last events of a deployment, oldest first. ``total``: number of all its events, shown or not."""

    deployment: str
    happenings: Sequence[Happening]
    total: int


def deployment_history(ctx: RequestContext, name: str, *, limit: int | None = None) -> DeploymentHistory:
    """Return the events of a deployment since its creation, or only the last ``limit``. Raises: PL-C010, PL-C013."""
    store = ctx.store
    row = find_deployment(store, name)
    found = [Happening(row.created_at, row.created_by, "created", f"from {row.blueprint_file}")]
    reads, executions = ReadAhead(store), store.executions(row.number)
    reads.read(DetailQuery(requests_of=[execution.number for execution in executions]))
    for execution in executions:
        found.extend(_of_execution(reads, execution))
    found.sort(key=lambda one: one.at)
    return DeploymentHistory(row.name, found[-limit:] if limit is not None else found, len(found))


def _of_execution(store: ExecutionReads, row: ExecutionRow) -> Iterator[Happening]:
    yield Happening(row.created_at, row.created_by, f"{row.request.workflow} asked for", _parameters(row), row.id)
    for request in store.requests_of(row.number):
        if request.kind is not RequestKind.START:
            refused = request.answer is not None and not request.answer.get("done", True)
            why = str(request.body.get("reason") or request.body.get("how") or "")
            details = ", ".join(filter(None, [why, "refused" if refused else ""]))
            yield Happening(request.at, request.actor.name, request.kind.value, details, row.id)
    if row.started_at and row.started_at - row.created_at >= WORTH_TELLING_MS:
        yield Happening(row.started_at, "", f"{row.request.workflow} began", "", row.id)
    if row.ended_at:
        yield Happening(row.ended_at, "", f"{row.request.workflow} {row.status.value}", row.reason, row.id)


def _parameters(row: ExecutionRow) -> str:
    given = [(name, value) for name, value in row.request.parameters.items() if value not in ([], {}, None, "", False)]
    told = [f"{name}={_short(value)}" for name, value in given[:SHOWN_PARAMETERS]]
    left = len(given) - len(told)
    return ", ".join(told) + (f" and {left} more" if left else "")


def _short(value: Value) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
