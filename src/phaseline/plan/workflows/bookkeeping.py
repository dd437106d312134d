"""Workflows that only store what an operator recorded: restrictions, health marks, labels. They call nothing.

They are executions like any other, so they claim the instances that they change and do not disturb other work on them.
Restrictions and marks are in the spec of hooks, section 11; labels are stored when the hook classes have agreed
(decision 41).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label, Relabelled
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import History, Request, Reshape, Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Problem
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import FILTERING, Parameter, Workflow, only_chosen
from phaseline.plan.topology.restriction_checks import whom, wrong

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.plan.graph.call_policies import Declare
    from phaseline.plan.graph.workflow import Planner

RESTRICT, MARK, RELABEL = "restrict", "mark_unhealthy", "relabel"
"""Names of the workflows, and of their rounds."""
RESTRICTED = "restricted"
"""Parameter of ``restrict``: {node or instance id: forbidden actions; null means those that the blueprint forbids}."""
REASON = "reason"
"""Parameter of ``mark_unhealthy``: the reason, which is shown with the instance."""
ADD, REMOVE = "add", "remove"
"""Parameters of ``relabel``: labels as ``KEY=VALUE``. In ``remove``, an empty value removes all labels of the key."""


def one_round(name: str, change: Callable[[Topology, Request], Reshape]) -> Planner:
    """Return a planner with a single round called ``name``, in which it stores the result of ``change``."""

    def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Reshape | Verdict:  # noqa: ARG001 - a planner's signature
        done = settled(history, name)
        if done:
            return verdict(history, done)
        return Verdict(ExecutionStatus.CANCELED) if history.canceled else change(topology, request)

    return plan


def restricted(topology: Topology, request: Request) -> Reshape:
    """Return the change that sets the restrictions."""
    merged = {**topology.restricted, **_restrictions(request)}
    kept = {name: actions for name, actions in merged.items() if actions is not None}
    return Reshape(RESTRICT, altered(topology, restricted=kept))


def restriction_problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P001 for names that do not exist, and PL-P004 for actions that cannot be forbidden."""
    return wrong(topology, _restrictions(request))


def restriction_claims(topology: Topology, request: Request) -> np.ndarray | None:
    """Return the restricted instances as the claim, so that no other work on them runs at the time."""
    return whom(topology, _restrictions(request))


def _restrictions(request: Request) -> Mapping[str, Sequence[str] | None]:
    return cast("Mapping[str, Sequence[str] | None]", request.parameters.get(RESTRICTED) or {})


def marked(topology: Topology, request: Request) -> Reshape:
    """Return the change that marks the named instances; the next heal treats them as unhealthy."""
    chosen = choose(topology, request).nonzero()[0].astype(np.int32)
    return Reshape(MARK, topology, marks=(chosen, str(request.parameters.get(REASON) or "")))


def mark_problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P001 if a request to mark instances as unhealthy names none: an empty selection would mean all."""
    if only_chosen(topology, request) is None:
        mend = "name them: phaseline instances mark-unhealthy ID -d NAME"
        yield Problem("PL-P001", "no instance selected: 'mark_unhealthy' needs at least one", mend)


def relabelled(topology: Topology, request: Request) -> Reshape:
    """Return the change of the labels."""
    return Reshape(RELABEL, topology, labels=requested_labels(request))


def requested_labels(request: Request) -> Relabelled:
    """Return the labels that a request adds and removes."""
    return Relabelled(_labels(request.parameters.get(ADD)), _labels(request.parameters.get(REMOVE)))


def no_claims(topology: Topology, request: Request) -> np.ndarray | None:  # noqa: ARG001 - the form of all claims
    """Return a claim on no instance, because only the deployment's labels change."""
    return np.zeros(len(topology), bool)


def _labels(given: Value) -> tuple[Label, ...]:
    words = (text.partition("=") for text in cast("Sequence[str]", given or ()))
    return tuple(Label(key, value) for key, _, value in words)


_MAPPING = Parameter((dict,), "a mapping, such as '{web: [delete]}'", required=True)
_PAIRS = Parameter((list,), "a list of KEY=VALUE")
WORKFLOWS = {
    RESTRICT: Workflow(
        one_round(RESTRICT, restricted),
        {RESTRICTED: _MAPPING},
        problems=restriction_problems,
        claims=restriction_claims,
    ),
    MARK: Workflow(
        one_round(MARK, marked),
        {REASON: Parameter((str,), "a text"), **FILTERING},
        problems=mark_problems,
        claims=only_chosen,
    ),
    RELABEL: Workflow(one_round(RELABEL, relabelled), {ADD: _PAIRS, REMOVE: _PAIRS}, claims=no_claims),
}
