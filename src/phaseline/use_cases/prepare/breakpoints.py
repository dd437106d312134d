"""Breakpoints of resources that are given a target: those of their cluster as well, and whether anybody would stop there (H46)."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.problems.problem import Problem
    from phaseline.ports import Store

Going = tuple[str, str, str]
"""(name, type, target) of a resource; an empty target: it stays where it is."""
NAMED = 8
"""So many phases are named that are called instead."""


def with_kept(store: Store, cluster: int, breakpoints: tuple[Breakpoint, ...]) -> tuple[Breakpoint, ...]:
    """These breakpoints, and those of the cluster."""
    if not store.labels.of(cluster):
        return breakpoints
    from phaseline.use_cases.commands.breakpoints import labelled

    return tuple(dict.fromkeys((*breakpoints, *labelled(store, cluster))))


def unfit_stops(breakpoints: Sequence[Breakpoint], names: Sequence[str], registry: PhaseRegistry) -> Iterator[Problem]:
    """PL-P047: breakpoints that name none of these resources (empty: any may come), or no phase that is known."""
    from phaseline.plan.requests.request_validation import unfit_stops as unfit

    yield from unfit(breakpoints, names, (), [phase.name for phase in registry.phases], "resource")


def unmet_stops(
    breakpoints: Sequence[Breakpoint], going: Sequence[Going], registry: PhaseRegistry
) -> Iterator[Problem]:
    """PL-P047: the same, and phases that none of those that it names comes to on its way."""
    from phaseline.model.problems.problem import Problem

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
        instead = f"Called there: {', '.join(list(called)[:NAMED])}." if called else "Nothing is called."
        kept = f"To keep it for what goes elsewhere: phaseline breakpoints add {quote(str(one))} -d CLUSTER"
        yield Problem("PL-P047", f"nobody stops at the breakpoint {one} {where}", f"{instead} {kept}")


def _phases(kind: str, target: str, registry: PhaseRegistry) -> Iterator[str]:
    """Phases of the states on the way of a type to a target, whether they apply or not."""
    path = registry.types.path(kind, target)
    for state in path.states[:-1] if path is not None else ():
        yield from (phase.name for phase in registry.of(state, kind))
