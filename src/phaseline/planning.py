"""What planners are made of: everything that the built-in workflows use, for those who write their own (decision 20).

A workflow is a pure function from what is there and what has happened so far to what is to be done next:

>>> def plan(topology, request, history, declare):
...     done = settled(history, "greet")
...     if done:
...         return verdict(history, done)
...     chosen = choose(topology, request)
...     return weave(Asked(topology, request, history, declare), "greet", chosen, Walk((Call("acme.greeting.greet"),)))

It reads no clock and no file, draws no random number and keeps nothing: it is asked again after a crash, for a preview, and whenever a
graph of it has settled. ``@workflow`` marks it, so that a blueprint may map it like any function of a plugin, and an
installed distribution may announce it in the entry-point group ``phaseline.workflows``. ``phaseline.testing.rehearse``
tries it against made-up plugins. The built-ins import nothing that is not exported here, and a test holds them to it (W63).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from phaseline.model.blueprint import Node, Operation, Value
from phaseline.model.checks import UPDATE_RELATIONSHIP, UPDATES, CheckKind, CheckResult
from phaseline.model.distinct import some
from phaseline.model.execution import TOLERATED, GoOn, History, Request, Reshape, Round, Verdict
from phaseline.model.frozen import altered, frozen
from phaseline.model.graph import Graph
from phaseline.model.labels import Label, Relabelled
from phaseline.model.modification import Started
from phaseline.model.path_nodes import as_life_cycle
from phaseline.model.problem import Problem, ProblemsError
from phaseline.model.stack_documents import ABANDONED, SNAPSHOT
from phaseline.model.states import InstanceState
from phaseline.model.status import ExecutionStatus
from phaseline.model.stored_plans import PLAN, Aim
from phaseline.model.subject_ranges import numbers_of, ranges_of
from phaseline.model.topology import Topology
from phaseline.plan import operations, restrictions, scaling, under_way
from phaseline.plan.arguments import (
    ANY,
    OPERATION_KWARGS,
    OPERATION_PARMS,
    SNAPSHOT_NAME,
    START_PARMS,
    STOP_PARMS,
    given_inputs,
)
from phaseline.plan.foresight import foresee
from phaseline.plan.lifecycle_retries import retrying
from phaseline.plan.policies import Declare
from phaseline.plan.revising import Revision, revise
from phaseline.plan.selection import choose
from phaseline.plan.sequence import Become, Call, Relate, Sequence
from phaseline.plan.transforms.intact import NO_ROWS, concerned
from phaseline.plan.verdicts import counted, settled, verdict
from phaseline.plan.weaving import Asked, Walk, weave
from phaseline.plan.workflow import (
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
from phaseline.plan.workflows import built_in

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
    """Mark a planner as a workflow of one's own; while it runs it has its deployment for itself.

    ``parameters``: {name: what it makes of it}, beside those that a blueprint declares.
    """

    def mark(planner: P) -> P:
        setattr(planner, MARK, Workflow(planner, parameters or {}))
        return planner

    return mark
