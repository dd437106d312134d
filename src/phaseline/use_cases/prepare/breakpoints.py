"""Parse the breakpoints of a new execution (H46).

Add those of the deployment or cluster, and check that instances stop at them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.execution.breakpoints import LABEL, read_breakpoint
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.plan.requests import request_validation
from phaseline.use_cases.loading import resource_nodes
from phaseline.use_cases.lookup import known_phases as lookup_known_phases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import Request
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore

Going = tuple[str, str, str]
"""(name, type, target) of a resource; an empty target means that the resource stays in its state."""
NAMED = 8
"""Number of phases that a problem lists as alternatives."""


def with_kept(store: TenantStore, cluster: int, breakpoints: tuple[Breakpoint, ...]) -> tuple[Breakpoint, ...]:
    """Return these breakpoints together with those of the cluster."""
    if not store.labels.of(cluster):
        return breakpoints
    return tuple(dict.fromkeys((*breakpoints, *labelled(store, cluster))))


def unfit_stops(breakpoints: Sequence[Breakpoint], names: Sequence[str], registry: PhaseRegistry) -> Iterator[Problem]:
    """Yield PL-P047 for each breakpoint that names no known phase, or none of the resources in ``names``.

    If ``names`` is empty, all names of resources are accepted.
    """
    yield from request_validation.unfit_stops(
        breakpoints, names, (), [phase.name for phase in registry.phases], "resource"
    )


def unmet_stops(
    breakpoints: Sequence[Breakpoint], going: Sequence[Going], registry: PhaseRegistry
) -> Iterator[Problem]:
    """Yield the problems of ``unfit_stops``, and PL-P047 for each breakpoint at which no resource stops.

    No resource stops if none of the named ones passes the phase on the way to its target.
    """
    for one in breakpoints:
        unfit = list(unfit_stops((one,), [name for name, _, _ in going], registry))
        yield from unfit
        if unfit:
            continue
        ways = dict.fromkeys((kind, target) for name, kind, target in going if one.concerns(name))
        called = dict.fromkeys(phase for kind, target in ways for phase in _phases(kind, target, registry))
        _, named = one.stands
        if named.lower() in {phase.lower() for phase in called}:
            continue
        targets = " or ".join(dict.fromkeys(f"'{target}'" for _, target in ways if target))
        where = f"on the way to {targets}" if targets else "as long as they are given no target"
        instead = f"called there: {', '.join(list(called)[:NAMED])}" if called else "no phase is called"
        kept = f"to keep the breakpoint for resources with another target: phaseline breakpoints add {quote(str(one))} -d CLUSTER"
        yield Problem("PL-P047", f"no resource stops at the breakpoint {one} {where}", f"{instead}; {kept}")


def _phases(kind: str, target: str, registry: PhaseRegistry) -> Iterator[str]:
    """Yield the phases of all states on a type's path to a target, whether they apply or not."""
    path = registry.types.path(kind, target)
    for state in path.states[:-1] if path is not None else ():
        yield from (phase.name for phase in registry.of(state, kind))


def with_breakpoints(
    ctx: RequestContext, request: Request, topologies: Sequence[Topology], deployment: int = 0
) -> Request:
    """Return the request with the breakpoints that its deployment has as labels. ``deployment`` is 0 for a new one.

    ``topologies`` are the instances at present and, for an update, after it. Raises: PL-P047 for breakpoints of
    the request, of a new deployment or of another blueprint at which no instance would stop. An older label at which no
    instance stops any more is ignored.
    """
    kept = labelled(ctx.store, deployment) if deployment else ()
    new = _written(topologies[-1]) if not deployment or len(topologies) > 1 else ()
    given = (*request.breakpoints, *(one for one in new if one not in kept))
    if given:
        phases = [phase for one in topologies for phase in resource_nodes.phases_on_paths(ctx, one.blueprint)]
        problems = tuple(request_validation.stop_problems(given, topologies, dict.fromkeys(phases)))
        if problems:
            raise ProblemsError(problems)
    stops = (*request.breakpoints, *kept) if deployment else given
    return altered(request, breakpoints=tuple(dict.fromkeys(stops)))


def labelled(store: TenantStore, deployment: int) -> tuple[Breakpoint, ...]:
    """Return the breakpoints that a deployment or cluster has as labels, without invalid ones."""
    return valid_stops(store.labels.of(deployment))


def valid_stops(labels: Iterable[Label]) -> tuple[Breakpoint, ...]:
    """Return the breakpoints that are among some labels, without invalid ones."""
    found: list[Breakpoint] = []
    for text in (label.value for label in labels if label.key == LABEL):
        with suppress(ValueError):
            found.append(read_breakpoint(text))
    return tuple(found)


def _written(topology: Topology) -> tuple[Breakpoint, ...]:
    """Return the breakpoints that are labels in the blueprint. Raises: PL-P047."""
    return tuple(read(text) for text in topology.blueprint.labels.get(LABEL, ()) if isinstance(text, str))


def read(text: str, timeout_s: float | None = None, *, of: Callable[[str], Breakpoint] = read_breakpoint) -> Breakpoint:
    """Parse a breakpoint with the parsing function ``of``. Raises: PL-P047."""
    try:
        found = of(text)
        return altered(found, timeout_s=timeout_s) if found.timeout_s is None else found
    except ValueError as error:
        mend = "write POINT=NAMES, such as pre-create=app_* or post-Acme.Create=node-*"
        raise problem_error("PL-P047", str(error), mend) from None


def raise_if_unreachable(ctx: RequestContext, row: DeploymentRow, labels: Sequence[Label]) -> None:
    """Raise PL-P047 for labels that are breakpoints of a deployment or cluster at which no instance would stop."""
    given = [read(label.value) for label in labels if label.key == LABEL]
    problems = tuple(_unfit(ctx, row, given)) if given else ()
    if problems:
        raise ProblemsError(problems)


def _unfit(ctx: RequestContext, row: DeploymentRow, given: Sequence[Breakpoint]) -> Iterator[Problem]:
    if row.kind == "resources":
        yield from unfit_stops(given, (), lookup_known_phases.known_phases(ctx))
        return
    topology = ctx.store.topology(row.number)
    yield from request_validation.stop_problems(
        given, [topology], resource_nodes.phases_on_paths(ctx, topology.blueprint)
    )
