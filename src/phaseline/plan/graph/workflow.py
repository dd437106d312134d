"""The interface of a workflow: its planner, its parameters, and the problems and warnings of a request."""

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
"""Function that plans an execution.

It is called when the execution begins, and again whenever a graph has settled or the topology has changed.
"""
Look = Callable[[Topology, Request], "Iterable[Problem]"]
"""Function that returns problems or warnings of a request before the request is submitted."""
Claims = Callable[[Topology, Request], "np.ndarray | None"]
"""Function that returns the instances that a request may change, bool by instance number; None for all instances."""


@frozen
class Parameter:
    """A parameter of a workflow: the values that it accepts.

    A value is of one of ``types``, or null unless the parameter is ``required``. ``words`` describes the values to
    users. ``is_ignored`` marks a parameter of Cloudify that has no effect here; any value except false is refused.
    """

    types: tuple[type, ...]
    words: str
    required: bool = False
    is_ignored: bool = False

    def fits(self, value: Value) -> bool:
        """Return True if the parameter accepts the value.

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
    """Return no problems or warnings; the default of ``Workflow.problems`` and ``Workflow.warnings``."""
    return ()


def everything(_topology: Topology, _request: Request) -> np.ndarray | None:
    """Return None, the claim of a workflow that may change any instance of the deployment."""
    return None


def only_chosen(topology: Topology, request: Request) -> np.ndarray | None:
    """Return the claim of a workflow that changes only the instances that the request's filters select.

    The claim is None, for the whole deployment, if the request has no filter.
    """
    return choose(topology, request) if any(request.parameters.get(name) for name in FILTERS) else None


def refuse_restricted(topology: Topology, action: str, chosen: np.ndarray) -> None:
    """Raise PL-P049 if the action (update, replace or delete) is forbidden for a chosen instance.

    ``chosen`` is bool, indexed by instance number.
    """
    if topology.is_restricted:
        restrictions.refuse(topology, action, chosen)


@frozen
class Workflow:
    """A workflow: its planner, and functions that judge a request before it runs.

    ``problems`` returns reasons to refuse a request with valid parameters. ``warnings`` returns facts that a user
    should know before the start. ``claims`` returns the instances that the request may change; executions whose claims
    overlap wait for one another (``plan.requests.claims``). ``takes_back`` is true if the planner can also undo the
    results of a failed execution when the request asks for it.
    """

    plan: Planner
    parameters: Mapping[str, Parameter]
    problems: Look = nothing
    warnings: Look = nothing
    claims: Claims = everything
    takes_back: bool = False
