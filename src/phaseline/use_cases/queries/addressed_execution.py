"""Find the execution that a command acts on when the user names only a deployment.

This need not be the latest execution of the deployment: an earlier one may be open, or may be the one to retry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.use_cases.lookup.entries import last_own_graph
from phaseline.use_cases.lookup.find import find_execution
from phaseline.use_cases.queries.unfinished import unfinished

if TYPE_CHECKING:
    from phaseline.model.graph.status import EntryStatus
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore

NAMED = 5
"""Number of executions that the error PL-C018 names when a command fits several executions."""


def find_open(
    store: TenantStore, id: str | None, deployment: str | None, word: str, applies: Callable[[ExecutionRow], bool]
) -> ExecutionRow:
    """Return the execution with this id; without an id, the only open execution for which ``applies`` is true.

    If ``applies`` is true for no open execution of the deployment, return the latest execution. ``word``: the command,
    for the error text. Raises: the errors of ``find_execution``; PL-C018 with the ids if several executions fit.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    if id is not None:
        return latest
    return _only(word, [row for row in store.executions(latest.deployment, only_open=True) if applies(row)]) or latest


def find_started(store: TenantStore, id: str | None, deployment: str | None, word: str) -> ExecutionRow:
    """Return the execution with this id; without an id, the only open execution of the deployment that has begun.

    If no open execution has begun, return the only queued one; if the deployment has no open execution, return its
    latest. ``word``: the command, for the error text. Raises: the errors of ``find_open``.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    if id is not None:
        return latest
    rows = store.executions(latest.deployment, only_open=True)
    return _only(word, [row for row in rows if row.started_at] or rows) or latest


def the_fitting_one(
    store: TenantStore, id: str | None, deployment: str | None, word: str, choose: Callable[[ExecutionRow], object]
) -> ExecutionRow:
    """Return the execution with this id; without an id, the only execution for which ``choose`` raises no problem.

    Try the open executions of the deployment and its latest execution. If ``choose`` raises for all of them, return the
    latest. ``word``: the command, for the error text. Raises: the errors of ``find_open``.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    if id is not None:
        return latest
    rows = [row for row in store.executions(latest.deployment, only_open=True) if row.number != latest.number]
    if not rows:
        return latest
    return _only(word, [row for row in (*rows, latest) if _does(choose, row)]) or latest


def find_failed(
    store: TenantStore, id: str | None, deployment: str | None, statuses: Sequence[EntryStatus]
) -> ExecutionRow:
    """Return the execution with this id; without an id, the execution of the deployment that a retry should act on.

    This is normally the latest execution. If the latest has completed, or is queued and has not begun, return the only
    earlier unfinished execution that has entries with one of ``statuses``; if there is no such execution, the latest.
    Raises: the errors of ``find_open``.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    is_queued = latest.status is ExecutionStatus.QUEUED and not latest.started_at
    if id is not None or latest.request.workflow == REACH_WORKFLOW:
        return latest
    if not (latest.status is ExecutionStatus.COMPLETED or is_queued):
        return latest

    others = [row for row in unfinished(store, latest.deployment) if row.number != latest.number]
    return _only("retry", [row for row in others if _has(store, row, statuses)]) or latest


def _only(word: str, rows: Sequence[ExecutionRow]) -> ExecutionRow | None:
    if len(rows) > 1:
        names = ", ".join(row.id for row in rows[:NAMED]) + (", …" if len(rows) > NAMED else "")
        mend = f"name one of them: phaseline executions {word} {rows[0].id}"
        raise problem_error(
            "PL-C018", f"which execution of '{rows[0].deployment_name}'? It may be one of: {names}", mend
        )
    return rows[0] if rows else None


def _does(choose: Callable[[ExecutionRow], object], row: ExecutionRow) -> bool:
    try:
        choose(row)
    except ProblemsError:
        return False
    return True


def _has(store: TenantStore, row: ExecutionRow, statuses: Sequence[EntryStatus]) -> bool:
    last = last_own_graph(store, row)
    return last is not None and bool(np.isin(store.statuses(last.id), statuses).any())
