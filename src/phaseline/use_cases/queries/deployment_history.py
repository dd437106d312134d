"""The history of a deployment with the actor of each event: its creation, its executions and the decisions of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.find import find_deployment

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.store import Store

SHOWN_PARAMETERS = 5
"""The number of parameters of an execution that are shown; the others are counted."""
LONGEST = 60
"""The number of characters of a parameter's value that are shown."""
WORTH_TELLING_MS = 1_000
"""A wait shorter than this before an execution began gets no line."""


@frozen
class Happening:
    """One event: time (ms), actor, action, and details such as parameters or reasons.

    ``execution``: the execution to which the event belongs.
    """

    at: int
    actor: str
    what: str
    details: str = ""
    execution: str = ""


@frozen
class DeploymentHistory:
    """The last of ``total`` events, oldest first."""

    deployment: str
    happenings: Sequence[Happening]
    total: int


def deployment_history(ctx: RequestContext, name: str, *, limit: int | None = None) -> DeploymentHistory:
    """Return the history since the deployment was created. Raises: PL-C010, PL-C013."""
    store = ctx.store
    row = find_deployment(store, name)
    found = [Happening(row.created_at, row.created_by, "created", f"from {row.blueprint_file}")]
    for execution in store.executions(row.number):
        found.extend(_of_execution(store, execution))
    found.sort(key=lambda one: one.at)
    return DeploymentHistory(row.name, found[-limit:] if limit is not None else found, len(found))


def _of_execution(store: Store, row: ExecutionRow) -> Iterator[Happening]:
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
