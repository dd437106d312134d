"""The building blocks of planners, as the built-in workflows use them, for custom workflows (decision 20).

A workflow is a pure function from the topology, the request and the history to the next step:

>>> def plan(topology, request, history, declare):
...     done = settled(history, "greet")
...     if done:
...         return verdict(history, done)
...     chosen = choose(topology, request)
...     return weave(Asked(topology, request, history, declare), "greet", chosen, Walk((Call("acme.greeting.greet"),)))

It reads no clock and no file, draws no random number and keeps no state: it is called again after a crash, for a preview, and
whenever one of its graphs has settled. ``@workflow`` marks it, so that a blueprint may map it like any function of a plugin, and
an installed distribution may announce it in the entry-point group ``phaseline.workflows``. ``phaseline.testing.rehearse``
runs it against simulated plugins. The built-ins import only names that are exported here; a test checks that (W63).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from phaseline.lang.arrays import some
from phaseline.lang.did_you_mean import closest
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.blueprint import Node, Operation, Value
from phaseline.model.blueprint.labels import Label, Relabelled
from phaseline.model.deployment.index_ranges import numbers_of, ranges_of
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.deployment.modification import Started
from phaseline.model.deployment.stack_documents import ABANDONED, SNAPSHOT
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import TOLERATED, GoOn, History, Request, Reshape, Round, Verdict
from phaseline.model.execution.stored_plans import PLAN, Aim
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.health.checks import UPDATE_RELATIONSHIP, UPDATES, CheckKind, CheckResult
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.plan.graph import operation_names as operations
from phaseline.plan.graph.call_policies import Declare
from phaseline.plan.graph.lifecycle_sequence import Become, Call, Relate, Sequence
from phaseline.plan.graph.operation_arguments import (
    ANY,
    OPERATION_KWARGS,
    OPERATION_PARMS,
    SNAPSHOT_NAME,
    START_PARMS,
    STOP_PARMS,
    given_inputs,
)
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import counted, settled, verdict
from phaseline.plan.graph.workflow import (
    FILTERING,
    INPUTS,
    NAMES,
    SWITCH,
    Parameter,
    Planner,
    Workflow,
    only_chosen,
    refuse_restricted,
)
from phaseline.plan.requests import restriction_validation as restrictions
from phaseline.plan.rounds.round_preview import foresee
from phaseline.plan.topology import modification_lifecycle as under_way
from phaseline.plan.topology import scale_request as scaling
from phaseline.plan.topology.revision import Revision, revise
from phaseline.plan.transforms.intact_neighbours import NO_ROWS, concerned
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows import built_in
from phaseline.plan.workflows.lifecycle_retries import retrying

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "ABANDONED",
    "ANY",
    "FILTERING",
    "INPUTS",
    "NAMES",
    "NO_ROWS",
    "OPERATION_KWARGS",
    "OPERATION_PARMS",
    "PLAN",
    "SNAPSHOT",
    "SNAPSHOT_NAME",
    "START_PARMS",
    "STOP_PARMS",
    "SWITCH",
    "TOLERATED",
    "UPDATES",
    "UPDATE_RELATIONSHIP",
    "Aim",
    "Asked",
    "Become",
    "Call",
    "CheckKind",
    "CheckResult",
    "Declare",
    "ExecutionStatus",
    "GoOn",
    "Graph",
    "History",
    "InstanceState",
    "Label",
    "Node",
    "Operation",
    "Parameter",
    "Planner",
    "Problem",
    "ProblemsError",
    "Relabelled",
    "Relate",
    "Request",
    "Reshape",
    "Revision",
    "Round",
    "Sequence",
    "Started",
    "Topology",
    "Value",
    "Verdict",
    "Walk",
    "Workflow",
    "altered",
    "as_life_cycle",
    "built_in",
    "choose",
    "closest",
    "concerned",
    "counted",
    "foresee",
    "frozen",
    "given_inputs",
    "numbers_of",
    "only_chosen",
    "operations",
    "ranges_of",
    "refuse_restricted",
    "restrictions",
    "retrying",
    "revise",
    "scaling",
    "settled",
    "some",
    "under_way",
    "verdict",
    "weave",
    "workflow",
]

P = TypeVar("P", bound=Planner)
MARK = "__phaseline_workflow__"
"""Attribute of a marked planner; its value is the ``Workflow``."""


def workflow(*, parameters: Mapping[str, Parameter] | None = None) -> Callable[[P], P]:
    """Mark a planner as a custom workflow; while it runs, no other execution of its deployment runs.

    ``parameters``: {name: its declaration}, besides those that a blueprint declares.
    """

    def mark(planner: P) -> P:
        setattr(planner, MARK, Workflow(planner, parameters or {}))
        return planner

    return mark
