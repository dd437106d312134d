"""Preview all rounds of a workflow: call the planner again and again, as if each graph had completed.

Results of future checks are unknown. The stored results are used instead, and ``preview_warnings`` reports that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.execution import GoOn, Reshape, Round, Verdict
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, Mark
from phaseline.model.health.checks import CHECKS, HEAL, OPERATIONS, Checks, results_of
from phaseline.model.problems.problem import Problem

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare
    from phaseline.plan.graph.workflow import Planner

MOST_ROUNDS = 100
"""Largest number of rounds that a preview plans, so that it ends."""


@frozen
class PreviewedRounds:
    """The rounds of a workflow if every call completes.

    ``graphs`` are in order, each with the topology in which it runs. ``before`` is the present topology. ``topology``
    and ``states`` (uint8 by instance number) are those at the end. ``verdict`` is None if the planner gave none within
    ``MOST_ROUNDS`` rounds.
    """

    before: Topology

    graphs: tuple[tuple[Topology, Graph], ...]
    topology: Topology
    states: np.ndarray
    verdict: Verdict | None


def foresee(
    planner: Planner, topology: Topology, request: Request, history: History, declare: Declare
) -> PreviewedRounds:
    """Return the rounds of a workflow, each planned as if all rounds before it had completed."""
    graphs: list[tuple[Topology, Graph]] = []
    before = topology
    for _ in range(MOST_ROUNDS):
        answer = planner(topology, request, history, declare)
        assert not isinstance(answer, GoOn), "only a retry continues a graph"
        if isinstance(answer, Verdict):
            return PreviewedRounds(before, tuple(graphs), topology, history.states, answer)
        if isinstance(answer, Reshape):
            topology, counts = answer.topology, {}
            added = np.zeros(len(topology) - len(history.states), np.uint8)
            states = np.concatenate((history.states, added))
        else:
            graphs.append((topology, answer))
            counts, states = _all_well(answer), states_after(answer, history.states)
            history = altered(history, checks=checks_after(answer, history.checks))
        done = Round(answer.name, history.attempt, counts)
        history = altered(history, states=states, rounds=(*history.rounds, done))
    return PreviewedRounds(before, tuple(graphs), topology, history.states, None)


def states_after(graph: Graph, states: np.ndarray) -> np.ndarray:
    """Return the states, uint8 by instance number, after every entry of the graph has completed or passed."""
    found = states.copy()
    final = np.array([(-1, *policy.enter, *policy.leave)[-1] for policy in graph.policies])
    kinds = np.repeat([step.kind for step in graph.steps], [step.count for step in graph.steps])
    reached = np.where(kinds == SubjectKind.INSTANCE, final[graph.policy], -1)
    who = (reached >= 0).nonzero()[
        0
    ]  # in the order of each instance's sequence, so that the last of several states stays
    found[graph.subject[who]] = reached[who]
    return found


def checks_after(graph: Graph, checks: Checks) -> Checks:
    """Return the results of checks after the graph, if every check finds the same as before and every heal succeeds.

    Instances that were never checked count as healthy.
    """
    phases = [step for step in graph.steps if step.phase in OPERATIONS]
    if not phases:
        return checks
    columns = dict(checks.columns)
    for step in phases:
        subjects = graph.subject[step.first : step.first + step.count]
        found = results_of(step.phase, step.kind, np.ones(len(subjects), np.uint8), np.zeros(len(subjects), bool))
        if found is None or not found[1].any():
            continue
        kind, results = found
        column = columns[kind] = checks.column(kind, max(len(columns.get(kind, ())), int(subjects.max(initial=-1)) + 1))
        told = results if step.phase == HEAL else np.where(column[subjects] == 0, results, column[subjects])
        column[subjects] = told
        checks = Checks(columns)
    return checks


def preview_warnings(workflow: str, foreseen: PreviewedRounds) -> tuple[Problem, ...]:
    """Return warnings about previewed rounds: they depend on results of checks (PL-P033), or will fail (PL-P034)."""
    found = []
    asked = sum(step.count for _, graph in foreseen.graphs for step in graph.steps if step.phase in CHECKS)
    if asked and foreseen.graphs[-1][1].name != workflow:
        what = f"{asked:,} checks find" if asked > 1 else "the check finds"
        found.append(
            Problem(
                "PL-P033",
                f"what {what} cannot be foreseen",
                "the plan assumes the results of the last checks, and that instances never checked are healthy",
                severity="warning",
            )
        )
    verdict = foreseen.verdict
    if verdict is not None and verdict.status is ExecutionStatus.FAILED:
        mend = "read the reason before you start it: the steps shown run all the same"
        found.append(
            Problem(
                "PL-P034", f"in the present state '{workflow}' will fail: {verdict.reason}", mend, severity="warning"
            )
        )
    return tuple(found)


def _all_well(graph: Graph) -> dict[str, int]:
    absent = int(np.count_nonzero(graph.marks & Mark.ABSENT))
    counts = {EntryStatus.COMPLETED.word: len(graph) - absent, EntryStatus.PASSED.word: absent}
    return {word: count for word, count in counts.items() if count}
