"""Find the execution to which a command applies if only its deployment is given; it may be an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.use_cases.lookup.entries import last_own_graph
from phaseline.use_cases.lookup.find import find_execution
from phaseline.use_cases.queries import stuck

if TYPE_CHECKING:
    from phaseline.model.graph.status import EntryStatus
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.store import Store

NAMED = 5
"""The number of executions named if several fit."""


def find_open(
    store: Store, id: str | None, deployment: str | None, word: str, applies: Callable[[ExecutionRow], bool]
) -> ExecutionRow:
    """The execution of this id; without an id the only open one to which the command ``word`` applies.

    If it applies to none, the result is the latest. Raises: the errors of ``find_execution``; PL-C018 with the ids if
    the command applies to several.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    if id is not None:
        return latest
    return _only(word, [row for row in store.executions(latest.deployment, only_open=True) if applies(row)]) or latest


def find_started(store: Store, id: str | None, deployment: str | None, word: str) -> ExecutionRow:
    """The execution of this id; without an id the only open one that has begun, or else the only queued one.

    Otherwise the same as ``find_open``.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    if id is not None:
        return latest
    rows = store.executions(latest.deployment, only_open=True)
    return _only(word, [row for row in rows if row.started_at] or rows) or latest


def the_fitting_one(
    store: Store, id: str | None, deployment: str | None, word: str, choose: Callable[[ExecutionRow], object]
) -> ExecutionRow:
    """The execution of this id; without an id the only one for which ``choose`` raises no problem.

    The open executions of the deployment and its latest one are tried; if none fits, the result is the latest.
    Raises: the errors of ``find_open``.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    if id is not None:
        return latest
    rows = [row for row in store.executions(latest.deployment, only_open=True) if row.number != latest.number]
    if not rows:
        return latest
    return _only(word, [row for row in (*rows, latest) if _does(choose, row)]) or latest


def find_failed(store: Store, id: str | None, deployment: str | None, statuses: Sequence[EntryStatus]) -> ExecutionRow:
    """The execution of this id; without an id the latest that can be retried.

    It is the latest execution of the deployment. If that has completed or not begun, it is the only earlier execution
    that was left unfinished and has entries with these statuses; without such an execution the latest. Raises: the
    errors of ``find_open``.
    """
    latest = find_execution(store, id, deployment, to_change=True)
    is_queued = latest.status is ExecutionStatus.QUEUED and not latest.started_at
    if id is not None or latest.request.workflow == REACH_WORKFLOW:
        return latest
    if not (latest.status is ExecutionStatus.COMPLETED or is_queued):
        return latest

    others = [row for row in stuck.unfinished(store, latest.deployment) if row.number != latest.number]
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


def _has(store: Store, row: ExecutionRow, statuses: Sequence[EntryStatus]) -> bool:
    last = last_own_graph(store, row)
    return last is not None and bool(np.isin(store.statuses(last.id), statuses).any())
