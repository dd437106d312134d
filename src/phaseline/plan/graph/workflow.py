"""What a workflow is to those who start it: its planner, the parameters it knows, what speaks against a request or should be said before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import GoOn, History, Request, Reshape, Verdict
from phaseline.model.graph.graph import Graph
from phaseline.plan.graph import restrictions
from phaseline.plan.graph.selection import FILTERS, choose

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.plan.graph.call_policies import Declare

Planner = Callable[[Topology, Request, History, "Declare"], Graph | Reshape | GoOn | Verdict]
"""Asked for the first graph of an execution, and again whenever a graph of it has settled or the deployment has another shape."""
Look = Callable[[Topology, Request], "Iterable[Problem]"]
"""What is to be said of a request before it is submitted."""
Claims = Callable[[Topology, Request], "np.ndarray | None"]
"""Which instances a request may change, bool by number; None: any of the deployment."""


@frozen
class Parameter:
    """What a workflow makes of a parameter: values of one of ``types``, or null where it is not ``required``.

    ``is_ignored``: one of the ancestor that would have to do something we cannot do: refused unless it is false.
    """

    types: tuple[type, ...]
    words: str
    required: bool = False
    is_ignored: bool = False

    def fits(self, value: Value) -> bool:
        """Whether the value may be given.

        >>> NAMES.fits(["web"]), NAMES.fits([3]), SWITCH.fits("yes"), SWITCH.fits(None)
        (True, False, False, True)
        """
        if value is None:
            return not self.required
        if isinstance(value, list) and list in self.types:
            return all(isinstance(item, str) for item in value)
        return type(value) in self.types


NAMES = Parameter((list, str), 'a list of names, such as \'["web", "database"]\'')
SWITCH = Parameter((bool,), "true or false")
INPUTS = Parameter((dict,), "a mapping of inputs, such as '{level: 3}'")
FILTERING: Mapping[str, Parameter] = dict.fromkeys(FILTERS, NAMES)


def nothing(_topology: Topology, _request: Request) -> Iterable[Problem]:
    """Where nothing is to be said."""
    return ()


def everything(_topology: Topology, _request: Request) -> np.ndarray | None:
    """Where any instance may be changed."""
    return None


def only_chosen(topology: Topology, request: Request) -> np.ndarray | None:
    """Where nobody is changed whom the filters do not choose."""
    return choose(topology, request) if any(request.parameters.get(name) for name in FILTERS) else None


def refuse_restricted(topology: Topology, action: str, chosen: np.ndarray) -> None:
    """Raise PL-P049 where the action (update, replace or delete) is forbidden of one of these, bool by number."""
    if topology.is_restricted:
        restrictions.refuse(topology, action, chosen)


@frozen
class Workflow:
    """``problems``: what forbids a request whose parameters are right; ``warnings``: what a user should know before it begins.

    ``claims``: whom it may change, so that others wait for it, or run beside it (``plan.requests.claims``). ``takes_back``: whether
    its planner heeds ``Request.take_back``.
    """

    plan: Planner
    parameters: Mapping[str, Parameter]
    problems: Look = nothing
    warnings: Look = nothing
    claims: Claims = everything
    takes_back: bool = False
