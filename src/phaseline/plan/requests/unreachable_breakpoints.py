"""Find breakpoints that fit the deployment, but at which no instance would stop in one execution (H46).

Example, ``install --break pre-stop=db``: the install is previewed with this breakpoint, and none of its graphs has an
entry of ``pre-stop`` on an instance of ``db``. The calls of an install are known before it runs unless one fails, so
the request is refused. The calls of a heal depend on the results of checks, so the problem is only a warning there.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution.breakpoints import PREFIX
from phaseline.model.graph.graph import SubjectKind, phase_of
from phaseline.model.graph.status import ExecutionStatus, Mark
from phaseline.model.problems.problem import Problem
from phaseline.plan.workflows import PLANNERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import Request
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.plan.rounds.round_preview import PreviewedRounds

BY_WHAT_IS_FOUND = frozenset({"heal", "update", "restore", "scale"})
"""Workflows whose next calls depend on results of checks, or on failures, so that a preview may be wrong."""
NAMED = 8
"""Largest number of operations that a problem names as calls at which a breakpoint would work."""


def is_foreseen(request: Request, foreseen: PreviewedRounds) -> bool:
    """Return True if the preview shows all operations that can be called.

    Then a breakpoint at which no instance stops in the preview will not stop any instance in the run either.
    """
    if request.workflow not in PLANNERS or request.workflow in BY_WHAT_IS_FOUND:
        return False
    verdict = foreseen.verdict
    is_good = verdict is not None and verdict.status is ExecutionStatus.COMPLETED
    return is_good and not (request.take_back or request.retries.subgraph_retries)


def unmet_stops(
    given: Sequence[Breakpoint], request: Request, foreseen: PreviewedRounds, *, is_sure: bool
) -> Iterator[Problem]:
    """Yield PL-P047 for each breakpoint in ``given`` at which no instance stops in the preview.

    ``request`` is the previewed request, with these breakpoints. ``is_sure`` makes each problem an error; otherwise it
    is a warning.
    """
    for one in given:
        if any(_stops(one, topology, graph) for topology, graph in foreseen.graphs):
            continue
        called = ", ".join(_called(one, foreseen)[:NAMED])
        instead = f"their calls: {called}" if called else "they have no calls"
        limit = "" if is_sure else " if all goes well and checks find the same as before"
        yield Problem(
            "PL-P047",
            f"no instance stops at the breakpoint {one} in this '{request.workflow}'{limit}",
            f"{instead}; to keep it for other workflows: phaseline breakpoints add {quote(str(one))} -d NAME",
            severity="error" if is_sure else "warning",
        )


def _stops(one: Breakpoint, topology: Topology, graph: Graph) -> bool:
    return any(_concerned(one, topology, graph, step).any() for step in graph.steps if step.phase == one.phase)


def _concerned(one: Breakpoint, topology: Topology, graph: Graph, step: Step) -> np.ndarray:
    """Return which entries of a step are on instances that the breakpoint names, bool."""
    by_node = np.array([one.concerns(node.name) for node in topology.nodes], bool)
    found: np.ndarray = by_node[topology.node[graph.subject[step.first : step.first + step.count]]]
    return found


def _called(one: Breakpoint, foreseen: PreviewedRounds) -> list[str]:
    """Return the short names of the operations and phases that are called on instances named by the breakpoint.

    An operation's short name is the last part of its name; the short name of a phase is its whole name.
    """
    found: dict[str, None] = {}
    for topology, graph in foreseen.graphs:
        for step in graph.steps:
            if step.kind is not SubjectKind.INSTANCE or step.phase.startswith(PREFIX):
                continue
            is_called = (graph.marks[step.first : step.first + step.count] & Mark.ABSENT) == 0
            if (is_called & _concerned(one, topology, graph, step)).any():
                found[phase_of(step.phase) or step.phase.rpartition(".")[2]] = None
    return list(found)
