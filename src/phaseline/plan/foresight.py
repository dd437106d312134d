"""All rounds of a workflow before any of them runs: the planner is asked again as if each graph had gone well.

What depends on what will be found (a check, a failure) cannot be foreseen; planners that ask for it say so themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution import Reshape, Round, Verdict
from phaseline.model.frozen import altered, frozen
from phaseline.model.graph import SubjectKind
from phaseline.model.status import EntryStatus, Mark

if TYPE_CHECKING:
    from phaseline.model.execution import History, Request
    from phaseline.model.graph import Graph
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare
    from phaseline.plan.workflow import Planner

MOST_ROUNDS = 100
"""Planners that want more rounds than this are not followed further."""


@frozen
class Foreseen:
    """What will be if all goes well. ``graphs`` in order, each with the topology in which it runs.

    ``topology`` and ``states`` (uint8 by instance number): those in the end. ``verdict``: None where ``MOST_ROUNDS`` did not
    reach it.
    """

    graphs: tuple[tuple[Topology, Graph], ...]
    topology: Topology
    states: np.ndarray
    verdict: Verdict | None


def foresee(planner: Planner, topology: Topology, request: Request, history: History, declare: Declare) -> Foreseen:
    """The rounds of a workflow, each asked for as if all before it had gone well."""
    graphs: list[tuple[Topology, Graph]] = []
    for _ in range(MOST_ROUNDS):
        answer = planner(topology, request, history, declare)
        if isinstance(answer, Verdict):
            return Foreseen(tuple(graphs), topology, history.states, answer)
        if isinstance(answer, Reshape):
            topology, counts = answer.topology, {}
            added = np.zeros(len(topology) - len(history.states), np.uint8)
            states = np.concatenate((history.states, added))
        else:
            graphs.append((topology, answer))
            counts, states = _all_well(answer), states_after(answer, history.states)
        done = Round(answer.name, history.attempt, counts)
        history = altered(history, states=states, rounds=(*history.rounds, done))
    return Foreseen(tuple(graphs), topology, history.states, None)


def states_after(graph: Graph, states: np.ndarray) -> np.ndarray:
    """The states, uint8 by instance number, when every entry of the graph has completed or passed."""
    found = states.copy()
    final = np.array([(-1, *policy.enter, *policy.leave)[-1] for policy in graph.policies])
    kinds = np.repeat([step.kind for step in graph.steps], [step.count for step in graph.steps])
    reached = np.where(kinds == SubjectKind.INSTANCE, final[graph.policy], -1)
    who = (reached >= 0).nonzero()[0]  # in the order of each instance's sequence: of several states the last one stays
    found[graph.subject[who]] = reached[who]
    return found


def _all_well(graph: Graph) -> dict[str, int]:
    absent = int(np.count_nonzero(graph.marks & Mark.ABSENT))
    counts = {EntryStatus.COMPLETED.word: len(graph) - absent, EntryStatus.PASSED.word: absent}
    return {word: count for word, count in counts.items() if count}
