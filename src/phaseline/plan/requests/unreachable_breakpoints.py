"""Breakpoints that were given for one execution and at which nobody would stop in it, although they fit the deployment (H46).

Walk of ``install --break pre-stop=db``: what the install would do is foreseen with that breakpoint, and no graph of it has an entry of
``pre-stop`` on an instance of ``db``. An install calls what it calls unless something fails, so it is refused before anything runs; a heal
decides by what it finds, so there it is a warning.
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
"""Workflows in which what a check finds, or what fails, decides what is called next."""
NAMED = 8
"""So many operations are named that are called instead."""


def is_foreseen(request: Request, foreseen: PreviewedRounds) -> bool:
    """Whether nothing else can be called than what was foreseen, so that who is not met there is never met."""
    if request.workflow not in PLANNERS or request.workflow in BY_WHAT_IS_FOUND:
        return False
    verdict = foreseen.verdict
    is_good = verdict is not None and verdict.status is ExecutionStatus.COMPLETED
    return is_good and not (request.take_back or request.retries.subgraph_retries)


def unmet_stops(
    given: Sequence[Breakpoint], request: Request, foreseen: PreviewedRounds, *, is_sure: bool
) -> Iterator[Problem]:
    """PL-P047 for each of ``given`` at which nobody stops in what was foreseen. ``is_sure``: an error, otherwise a warning.

    ``request``: the one that was foreseen, with these breakpoints.
    """
    for one in given:
        if any(_stops(one, topology, graph) for topology, graph in foreseen.graphs):
            continue
        called = ", ".join(_called(one, foreseen)[:NAMED])
        instead = f"Called of them: {called}." if called else "Nothing of them is called."
        limit = "" if is_sure else " if all goes well and is found as before"
        yield Problem(
            "PL-P047",
            f"nobody stops at the breakpoint {one} in this '{request.workflow}'{limit}",
            f"{instead} To keep it for other workflows: phaseline breakpoints add {quote(str(one))} -d NAME",
            severity="error" if is_sure else "warning",
        )


def _stops(one: Breakpoint, topology: Topology, graph: Graph) -> bool:
    return any(_concerned(one, topology, graph, step).any() for step in graph.steps if step.phase == one.phase)


def _concerned(one: Breakpoint, topology: Topology, graph: Graph, step: Step) -> np.ndarray:
    """Which entries of a step are of instances that it names, bool."""
    by_node = np.array([one.concerns(node.name) for node in topology.nodes], bool)
    found: np.ndarray = by_node[topology.node[graph.subject[step.first : step.first + step.count]]]
    return found


def _called(one: Breakpoint, foreseen: PreviewedRounds) -> list[str]:
    """What is called of those that it names, by its last part; a phase by its name."""
    found: dict[str, None] = {}
    for topology, graph in foreseen.graphs:
        for step in graph.steps:
            if step.kind is not SubjectKind.INSTANCE or step.phase.startswith(PREFIX):
                continue
            is_called = (graph.marks[step.first : step.first + step.count] & Mark.ABSENT) == 0
            if (is_called & _concerned(one, topology, graph, step)).any():
                found[phase_of(step.phase) or step.phase.rpartition(".")[2]] = None
    return list(found)
