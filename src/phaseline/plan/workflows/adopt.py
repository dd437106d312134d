"""Plan an adoption: existing resources become a deployment, and nothing is created (spec of hooks, section 10).

The caller has already stored the deployment with its instances and their runtime properties. The graph "adopt" calls
nothing: it sets each instance to ``started``, or to another state if the document names one. Then each instance with a
check is checked, because an adoption alone does not notice a wrong id. A failed adoption can be undone: the records are
deleted, the resources are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Problem
from phaseline.plan.graph.lifecycle_sequence import Become
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import SWITCH, Parameter, Workflow
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows.check import CHECK_STATUS, NOT_THERE, build_status_graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

ADOPT = "adopt"
"""Name of the workflow, and of the graph that sets the states of the instances."""
DOCUMENT = "document"
"""Parameter: name of the document with the adopted resources. The caller that stored the deployment from it sets it."""
STATES = "states"
"""Parameter: {state: instance numbers as ranges} of the instances that do not become ``started``."""
CHECK = "check"
"""Parameter: whether the adopted instances are checked."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the graphs that set the states, then the graph that checks, then the verdict."""
    asked = Asked(topology, request, history, declare)
    last = history.rounds[-1] if history.rounds and history.rounds[-1].attempt == history.attempt else None
    if not history.canceled and (last is None or last.is_met) and not settled(history, CHECK_STATUS):
        graph = _next_state(asked) or _check(asked)
        if graph is not None:
            return graph
    if last is None:
        return Verdict(ExecutionStatus.CANCELED if history.canceled else ExecutionStatus.COMPLETED, "")
    found = verdict(history, last)
    if found.status is not ExecutionStatus.FAILED or not request.take_back:
        return found
    return Verdict(
        found.status, f"{found.reason}; its records were deleted again, nothing outside was touched", forgets=True
    )


def _check(asked: Asked) -> Graph | None:
    """Return the graph that checks all adopted instances with a check; None if there are none or no check is wanted."""
    if asked.request.parameters.get(CHECK) is False:
        return None
    return build_status_graph(
        asked, asked.topology.is_there & ~np.isin(asked.history.states, NOT_THERE), tolerant=False
    )


def _next_state(asked: Asked) -> Graph | None:
    """Return the graph, without calls, that sets instances to the next state; None if all states are set.

    A state of a path is known only if the path is known.
    """
    topology, said = asked.topology, asked.request.parameters.get(STATES)
    numbers = {state.word: int(state) for state in State}
    if asked.history.paths is not None:
        numbers |= asked.history.paths.numbers
    started = topology.is_there.copy()
    wanted: list[tuple[str, int, np.ndarray]] = []
    for word, ranges in said.items() if isinstance(said, dict) else ():
        only = np.zeros(len(topology), bool)
        only[numbers_of(ranges)] = True
        if word in numbers:
            started &= ~only
            wanted.append((f"{ADOPT} {word}", numbers[word], only))
    wanted.append((ADOPT, State.STARTED, started))
    for name, state, only in wanted:
        if state not in NOT_THERE and only.any() and settled(asked.history, name) is None:
            return weave(asked, name, only, Walk((Become(state),)))
    return None


def problems(_topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P042 if no document is named, because only a document describes existing resources."""
    if not request.parameters.get(DOCUMENT):
        mend = "name the document: phaseline adopt FILE -d NAME"
        yield Problem("PL-P042", "an adoption needs a document, and none is given", mend)


PARAMETERS: Mapping[str, Parameter] = {
    DOCUMENT: Parameter((str,), "the name of a document"),
    STATES: Parameter((dict,), "a mapping of states to instances"),
    CHECK: SWITCH,
}
WORKFLOW = Workflow(plan, PARAMETERS, problems=problems, takes_back=True)
