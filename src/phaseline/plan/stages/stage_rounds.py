"""Run the stage tasks of packages as rounds before and after the rounds of a workflow's body (Fuel document, source 4).

``plan.stages.stage_tasks`` decides which tasks are due and builds their graphs; this module decides when they run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.execution import GoOn, Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph.verdicts import verdict
from phaseline.plan.stages import stage_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.execution.execution import History, Reshape, Round
    from phaseline.model.execution.pre_post import PrePost
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.transforms.pipeline import Asked

STAGE = "stage "
"""Prefix of the names of rounds with stage tasks."""
BEFORE, AFTER = STAGE + "pre_deployment", STAGE + "post_deployment"


def within(
    asked: Asked, around: PrePost, body: Callable[[], Graph | Reshape | GoOn | Verdict]
) -> Graph | Reshape | GoOn | Verdict:
    """Return the next round: the stage tasks that are due, or the answer of the body's planner.

    If tasks have failed, the body's planner is not called; a retry continues the failed tasks.
    """
    if not around.stages:
        return body()

    history = asked.history
    opening, closing = _last(history, BEFORE), _last(history, AFTER)
    for done in (opening, closing):
        if done is not None and not done.is_met:
            return _stopped(asked, done)
    if opening is None and not history.canceled:
        graph = stage_tasks.before(asked, around, body)
        if graph is not None:
            return graph
    answer = body()
    if closing is None and not history.canceled:
        graph = stage_tasks.after(asked, around, answer)
        if graph is not None:
            return graph
    return answer


def _stopped(asked: Asked, done: Round) -> Verdict | GoOn:
    """Return the answer after failed tasks: a retry continues them; otherwise the execution ends."""
    history = asked.history
    if done.attempt < history.attempt and not history.canceled and not history.is_afresh:
        return GoOn(done.name)
    found = verdict(history, done)
    told = [text for _, text in history.said(done.name) if text]
    return Verdict(found.status, "; ".join(told)) if told and found.status is ExecutionStatus.FAILED else found


def _last(history: History, name: str) -> Round | None:
    """Return the last round of this name in any attempt, because a retry does not repeat tasks; None if none exists."""
    found = [done for done in history.rounds if done.name == name]
    return found[-1] if found else None
