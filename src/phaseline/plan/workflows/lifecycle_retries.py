"""Wrap a planner so that instances whose life cycle has failed go through it again, as often as requested (W5).

Example: an install in which ``web_2`` fails, with one retry allowed. The round "install" is not met, so the round
"again install" removes the remains of ``web_2``. Then the workflow's planner gets a history without that install and
plans the install again, in which started instances have nothing to do. After a failed uninstall the planner is called
again at once. The workflow's planner does not know of these retries, so it decides about a failure only when no retry
is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.plan.transforms.pipeline import Asked, weave

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import GoOn, History, Request, Reshape, Round, Verdict
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare
    from phaseline.plan.graph.workflow import Planner
    from phaseline.plan.transforms.pipeline import Walk

    Answer = Graph | Reshape | GoOn | Verdict

UP, DOWN = "install", "uninstall"
"""First words of the names of graphs in which instances go through their life cycle."""
AGAIN = "again"
"""First word of the name of the graph that removes what a failed life cycle has made."""


def retrying(planner: Planner, taking_back: Walk) -> Planner:
    """Return a planner that retries failed life cycles as requested.

    A failed instance runs the walk ``taking_back``, which removes its remains, before its life cycle is repeated.
    """

    def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Answer:
        most = request.retries.subgraph_retries
        if not most:
            return planner(topology, request, history, declare)
        last = history.rounds[-1] if history.rounds else None
        shown = _shown(history.rounds)
        if last is not None and not history.canceled:
            if _verb(last) == AGAIN and last.is_met:
                shown = shown[:-1]
            elif _may_go_again(history, last, most):
                if _verb(last) == UP:
                    graph = _taken_away(Asked(topology, request, history, declare), last, taking_back)
                    if graph is not None:
                        return graph
                else:
                    shown = shown[:-1]
        return planner(topology, request, altered(history, rounds=shown), declare)

    return plan


def _verb(done: Round) -> str:
    return done.name.partition(" ")[0]


def _shown(rounds: tuple[Round, ...]) -> tuple[Round, ...]:
    """Return the workflow's own rounds, without rounds that were repeated in the same attempt."""
    own = [done for done in rounds if _verb(done) != AGAIN]
    latest = {(done.name, done.attempt): at for at, done in enumerate(own)}
    return tuple(
        done for at, done in enumerate(own) if _verb(done) not in {UP, DOWN} or latest[done.name, done.attempt] == at
    )


def _may_go_again(history: History, last: Round, most: int) -> bool:
    """Return True if the round has failed, all its results are known, and a retry is left."""
    if _verb(last) not in {UP, DOWN} or not last.counts.get("failed"):
        return False
    if last.counts.get("unsure") or last.counts.get("canceled"):
        return False
    tries = sum(done.name == last.name and done.attempt == last.attempt for done in history.rounds)
    return most < 0 or tries <= most


def _taken_away(asked: Asked, last: Round, taking_back: Walk) -> Graph | None:
    """Return the graph that removes called instances that are not started; None if there are none."""
    called = asked.history.called(last.name)
    if called is None:
        return None
    failed: np.ndarray = called & (asked.history.states != State.STARTED) & asked.topology.is_there
    return weave(asked, f"{AGAIN} {last.name}", failed, taking_back) if failed.any() else None
