"""Whether a request can be meant: parameters the workflow does not have, filters that name what is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.frozen import frozen
from phaseline.model.problem import Problem
from phaseline.plan.arguments import OPERATION_KWARGS, OPERATION_PARMS, START_PARMS, STOP_PARMS
from phaseline.plan.selection import FILTERS, NODE_IDS, NODE_INSTANCE_IDS, TYPE_NAMES, names
from phaseline.plan.workflows import PLANNERS, execute_operation, rollback, start_stop, uninstall
from phaseline.plan.workflows.invoking import IN_ORDER, REVERSE_ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.blueprint import Value
    from phaseline.model.execution import Request
    from phaseline.model.topology import Topology


@frozen
class Parameter:
    """What a built-in workflow makes of a parameter: values of one of ``types``, or null where it is not ``required``."""

    types: tuple[type, ...]
    words: str
    required: bool = False


NAMES = Parameter((list, str), 'a list of names, such as \'["web", "database"]\'')
SWITCH = Parameter((bool,), "true or false")
INPUTS = Parameter((dict,), "a mapping of inputs, such as '{level: 3}'")
IN_TURN: Mapping[str, Parameter] = {IN_ORDER: SWITCH, **dict.fromkeys(FILTERS, NAMES)}

PARAMETERS: Mapping[str, Mapping[str, Parameter]] = {
    "install": dict.fromkeys(FILTERS, NAMES),
    "uninstall": {uninstall.IGNORE_FAILURE: SWITCH, uninstall.RETRY_IGNORED: SWITCH, **dict.fromkeys(FILTERS, NAMES)},
    "reinstall": {uninstall.IGNORE_FAILURE: SWITCH, uninstall.RETRY_IGNORED: SWITCH, **dict.fromkeys(FILTERS, NAMES)},
    "rollback": {rollback.FULL_ROLLBACK: SWITCH, **dict.fromkeys(FILTERS, NAMES)},
    "execute_operation": {
        execute_operation.OPERATION: Parameter((str,), "the name of an operation", required=True),
        OPERATION_KWARGS: INPUTS,
        execute_operation.ALLOW_KWARGS_OVERRIDE: SWITCH,
        IN_ORDER: SWITCH,
        execute_operation.SKIP_UNDECLARED: SWITCH,
        **dict.fromkeys(FILTERS, NAMES),
    },
    "start": {OPERATION_PARMS: INPUTS, **IN_TURN},
    "stop": {OPERATION_PARMS: INPUTS, REVERSE_ORDER: SWITCH, **IN_TURN},
    "restart": {STOP_PARMS: INPUTS, START_PARMS: INPUTS, REVERSE_ORDER: SWITCH, **IN_TURN},
    "pull": {OPERATION_PARMS: INPUTS, **IN_TURN},
}
"""{workflow: {parameter: what it must be}}"""
NOT_YET = {("uninstall", "recursive")}
"""Parameters of the ancestor that would have to do something that we cannot do: refused unless they are false."""


def check(topology: Topology, request: Request, *, with_custom: bool = False) -> tuple[Problem, ...]:
    """Everything wrong with the request; to be asked before it is submitted.

    ``with_custom``: parameters that nobody declares are let through, for plugins to read.
    """
    if request.workflow not in PLANNERS:
        return (
            Problem(
                "PL-P009",
                f"there is no workflow '{request.workflow}'",
                f"{_did_you_mean(request.workflow, PLANNERS)}There are: {', '.join(sorted(PLANNERS))}.",
            ),
        )
    declared = topology.blueprint.workflows.get(request.workflow)
    more = set(declared.parameters if declared is not None else ())
    if with_custom:
        more |= request.parameters.keys()
    found = (*_parameters(request, more), *_filters(topology, request))
    if not found and request.workflow == execute_operation.EXECUTE_OPERATION:
        return tuple(execute_operation.problems(topology, request))
    return found


def warnings(topology: Topology, request: Request) -> tuple[Problem, ...]:
    """What a user should know before the workflow begins, beside what the plan of any graph says."""
    return tuple(start_stop.warnings(topology, request)) if request.workflow in start_stop.INVOCATIONS else ()


def _parameters(request: Request, more: set[str]) -> Iterable[Problem]:
    """``more``: names that the workflow itself makes nothing of."""
    known = PARAMETERS[request.workflow]
    for name, value in request.parameters.items():
        if name in known:
            if not _fits(known[name], value):
                yield _wrong_kind(name, value, known[name].words)
        elif (request.workflow, name) in NOT_YET and value is not False:
            message = f"the parameter '{name}' of '{request.workflow}' is not supported yet"
            yield Problem("PL-P004", message, "Leave it out for now.")
        elif name not in more and (request.workflow, name) not in NOT_YET:
            yield Problem(
                "PL-P004",
                f"'{request.workflow}' has no parameter '{name}'",
                f"{_did_you_mean(name, known)}It has: {', '.join(known)}.",
            )
    for name, parameter in known.items():
        if parameter.required and name not in request.parameters:
            message = f"the parameter '{name}' of '{request.workflow}' is missing"
            yield Problem("PL-P008", message, f"Give {parameter.words}: -p {name}=…")


def _fits(parameter: Parameter, value: Value) -> bool:
    if value is None:
        return not parameter.required
    if isinstance(value, list) and list in parameter.types:
        return all(isinstance(item, str) for item in value)
    return type(value) in parameter.types


def _wrong_kind(name: str, value: object, kind: str) -> Problem:
    return Problem("PL-P004", f"the parameter '{name}' cannot be {value!r}", f"Give it {kind}.")


def _filters(topology: Topology, request: Request) -> Iterable[Problem]:
    for which, noun, known in (
        (NODE_IDS, "node", topology.node_number),
        (NODE_INSTANCE_IDS, "node instance", topology.number_of if names(request, NODE_INSTANCE_IDS) else {}),
        (TYPE_NAMES, "node of a type", {word for node in topology.nodes for word in node.type_hierarchy}),
    ):
        for name in names(request, which):
            if name not in known:
                yield Problem(
                    "PL-P001",
                    f"{which}: the deployment has no {noun} '{name}'",
                    _did_you_mean(name, known) or "See: phaseline instances list -d NAME.",
                )


def _did_you_mean(wrong: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wrong, list(known), 1)
    return f"Did you mean '{near[0]}'? " if near else ""
