"""Validate a request before it runs: its parameters, its filters and its breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Problem
from phaseline.plan.graph.selection import NODE_IDS, NODE_INSTANCE_IDS, TYPE_NAMES, names
from phaseline.plan.requests import restriction_validation
from phaseline.plan.workflows import PLANNERS, built_in

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import Request
    from phaseline.plan.graph.workflow import Parameter, Workflow


POINTS = ("create", "update", "delete", "configure", "start", "stop")
"""Operations that a breakpoint may name even if no node implements them."""
SIDES = {"before": "pre", "after": "post", "pre": "pre", "post": "post"}
"""{word before the hyphen of a breakpoint's point, as a user may write it: the word that is accepted}"""
NAMED = 10


def check(
    topology: Topology, request: Request, *, with_custom: bool = False, workflow: Workflow | None = None
) -> tuple[Problem, ...]:
    """Return all problems of the request, found before it is submitted.

    With ``with_custom``, undeclared parameters are accepted, so that plugins can read them. ``workflow`` is the
    workflow of the request; None means the built-in workflow with the request's name.
    """
    if workflow is None and request.workflow in PLANNERS:
        workflow = built_in(request.workflow)
    if workflow is None:
        return (
            Problem(
                "PL-P009",
                f"there is no workflow '{request.workflow}'",
                f"{_did_you_mean(request.workflow, PLANNERS)}there are: {', '.join(sorted(PLANNERS))}",
            ),
        )
    declared = topology.blueprint.workflows.get(request.workflow)
    more = set(declared.parameters if declared is not None else ())
    if with_custom:
        more |= request.parameters.keys()
    found = (*_parameters(request, workflow.parameters, more), *_filters(topology, request))
    if request.take_back and not workflow.takes_back:
        found = (*found, _not_taken_back(request))
    found = found or tuple(workflow.problems(topology, request))
    if not found and topology.is_restricted:
        found = restriction_validation.refusals(topology, request)
    return found


def stop_problems(
    breakpoints: Iterable[Breakpoint], topologies: Iterable[Topology], phases: Iterable[str]
) -> Iterator[Problem]:
    """Yield a problem PL-P047 for each breakpoint at which no instance can stop.

    ``topologies`` are the present topology and the one to which the workflow leads. ``phases`` are the phases that
    nodes may run.
    """
    nodes: dict[str, None] = {}
    known = set(POINTS)
    for topology in topologies:
        nodes |= {node.name: None for number, node in enumerate(topology.nodes) if number not in topology.past}
        known |= {*topology.called, *topology.called_between}
    yield from unfit_stops(breakpoints, list(nodes), known, list(phases))


def unfit_stops(
    breakpoints: Iterable[Breakpoint],
    names: Sequence[str],
    operations: Iterable[str] = (),
    phases: Sequence[str] = (),
    noun: str = "node",
) -> Iterator[Problem]:
    """Yield a problem PL-P047 for each breakpoint whose node or resource is not in ``names`` or whose point is unknown.

    A known point names one of ``operations`` or ``phases``. Empty ``names`` means that any name is accepted. ``noun``
    is what the problem calls a thing with a name in ``names``.
    """
    parts = {".".join(words[at:]) for name in operations for words in [name.split(".")] for at in range(len(words))}
    short = {part for part in parts if "." not in part}
    lower = {phase.lower() for phase in phases}
    for one in breakpoints:
        _, named = one.stands
        if names and not any(map(one.concerns, names)):
            mend = f"{_did_you_mean(one.nodes, names)}there are: {', '.join(names[:NAMED])}"
            yield Problem("PL-P047", f"the breakpoint {one} fits no {noun}", mend)
        elif named not in parts and named.lower() not in lower:
            ways = [f"an operation, such as {', '.join(POINTS)}"] if short else []
            ways += [f"a phase, such as {', '.join(phases[:NAMED])}"] if phases else []
            hint = _other_words(named, parts, lower) or _did_you_mean(named, [*short, *phases])
            mend = f"{hint}name {' or '.join(ways) or 'a phase that is loaded'}"
            what = " and no ".join([*(["operation"] if short else []), *(["phase"] if phases or not short else [])])
            yield Problem("PL-P047", f"the breakpoint {one} names '{named}', which is no {what}", mend)


def _other_words(named: str, operations: Container[str], phases: Container[str]) -> str:
    """Return a hint at the right spelling if ``named`` is a point such as ``before-create``; empty for other names."""
    word, _, rest = named.partition("-")
    side = SIDES.get(word)
    if side is None or (rest not in operations and rest.lower() not in phases):
        return ""
    return f"did you mean '{side}-{rest}'? a point begins with pre- or post-; "


def _not_taken_back(request: Request) -> Problem:
    able = [name for name in PLANNERS if built_in(name).takes_back]
    return Problem(
        "PL-P035",
        f"what '{request.workflow}' has done cannot be taken back when it fails",
        f"leave out --on-failure rollback, or give stop; it is available for: {', '.join(able)}",
    )


def warnings(topology: Topology, request: Request, workflow: Workflow | None = None) -> tuple[Problem, ...]:
    """Return the workflow's warnings about the request.

    They do not include warnings about the graphs that the workflow plans.
    """
    return tuple((workflow or built_in(request.workflow)).warnings(topology, request))


def _parameters(request: Request, known: Mapping[str, Parameter], more: set[str]) -> Iterable[Problem]:
    """Yield the problems of the request's parameters.

    ``known`` are the parameters that the workflow uses; ``more`` are other names that are allowed.
    """
    for name, value in request.parameters.items():
        if name in known:
            if known[name].is_ignored and value is not False:
                message = f"the parameter '{name}' of '{request.workflow}' is not supported yet"
                yield Problem("PL-P004", message, "leave it out for now")
            elif not known[name].fits(value):
                yield _wrong_kind(name, value, known[name].words)
        elif name not in more:
            usable = [other for other, parameter in known.items() if not parameter.is_ignored]
            yield Problem(
                "PL-P004",
                f"'{request.workflow}' has no parameter '{name}'",
                f"{_did_you_mean(name, usable)}it has: {', '.join(usable)}",
            )
    for name, parameter in known.items():
        if parameter.required and name not in request.parameters:
            message = f"the parameter '{name}' of '{request.workflow}' is missing"
            yield Problem("PL-P008", message, f"give {parameter.words}: -p {name}=…")


def _wrong_kind(name: str, value: object, kind: str) -> Problem:
    return Problem("PL-P004", f"the parameter '{name}' cannot be {value!r}", f"give it {kind}")


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
                    _did_you_mean(name, known) or "see: phaseline instances list -d NAME",
                )


def _did_you_mean(wrong: str, known: Iterable[str]) -> str:
    from phaseline.lang.did_you_mean import suggestion  # few requests have a mistake

    return suggestion(wrong, known)
