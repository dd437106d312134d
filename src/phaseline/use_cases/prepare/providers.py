"""Check the deployments that a new blueprint reads, before anything is stored (DP4, DP12, DP14)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from phaseline.app.store_location import has_store
from phaseline.calls.deployments.other_deployments import OtherDeployments, environment_of
from phaseline.dsl.deployment.other_reads import dependencies_of
from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.other_deployments import NOT_THERE, CapabilityReads
from phaseline.dsl.functions.scope import descend, shown
from phaseline.dsl.text.value_words import quoted_list, suggest
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import labels_of
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.use_cases.queries.deployments import living_count

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.calls.deployments.other_deployments import ProviderSnapshot
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.rows.dependencies import Dependency
    from phaseline.model.rows.rows import DeploymentRow

CIRCLE = "PL-C130"
"""Code of the refusal of deployments that would read one another in a circle."""


def check_providers(
    ctx: RequestContext, name: str, blueprint: Blueprint, *, allow_missing: bool = False
) -> tuple[Problem, ...]:
    """Return warnings about the deployments that a blueprint, as the deployment ``name``, reads by their literal names.

    Raises: PL-B170 for a provider or an environment that does not exist, unless ``allow_missing``; PL-B074 for a
    capability that the environment lacks; PL-C130 if a provider reads this deployment.
    """
    found = list(_problems(ctx, name, blueprint))
    if allow_missing:
        found = [altered(one, severity="warning") if one.code == NOT_THERE else one for one in found]
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise ProblemsError(errors)
    return tuple(found)


def foresee_providers(ctx: RequestContext, name: str, blueprint: Blueprint) -> tuple[Problem, ...]:
    """Return what ``check_providers`` would complain about as warnings, for a plan; () without a store."""
    if not has_store(ctx.app):
        return ()
    return tuple(altered(one, severity="warning") for one in _problems(ctx, name, blueprint))


def _problems(ctx: RequestContext, name: str, blueprint: Blueprint) -> Iterator[Problem]:
    records = dependencies_of(blueprint)
    if not records:
        return
    providers: dict[str, DeploymentRow] = {}
    for record in records:
        if record.kind == "capability" and record.provider and record.provider != name:
            row = ctx.store.deployment(record.provider)
            if row is None:
                yield _missing(ctx, record)
            else:
                providers[row.name] = row
    environment = [record for record in records if record.kind == "environment"]
    if environment:
        row = yield from _environment(ctx, name, blueprint, environment)
        if row is not None:
            providers[row.name] = row
    for row in providers.values():
        chain = _chain(ctx, row, name)
        if chain:
            message = f"'{name}' and its providers would read one another in a circle: {' → '.join((name, *chain))}"
            mend = f"let '{name}' do without '{row.name}', or '{chain[-2]}' without '{name}'"
            yield Problem(CIRCLE, message, mend, Place(subject=name))
        elif not living_count(ctx.store, row):
            message = f"the provider '{row.name}' is inactive: attributes that it does not have yet are read as null"
            mend = f"install it first: phaseline executions start install -d {row.name}"
            yield Problem("PL-P060", message, mend, Place(subject=row.name), severity="warning")


def _missing(ctx: RequestContext, record: Dependency) -> Problem:
    known = [row.name for row in ctx.store.deployments()]
    install = f"install it first, or accept that it is missing: --allow-missing-providers{_there_are(known)}"
    message = f"there is no deployment '{record.provider}', which {record.creator} reads"
    return Problem(NOT_THERE, message, suggest(record.provider, known, install), Place(path=record.creator))


def _there_are(known: Sequence[str]) -> str:
    return f"; there {'is' if len(known) == 1 else 'are'} {quoted_list(known)}" if known else ""


def _environment(
    ctx: RequestContext, name: str, blueprint: Blueprint, records: Sequence[Dependency]
) -> Generator[Problem, None, DeploymentRow | None]:
    """Yield the problems with the environment of a deployment, and return the environment's row, or None."""
    parent = environment_of(ctx.store, list(labels_of(blueprint.labels)))
    if parent is None:
        for record in records:
            message = f"{record.creator} reads the environment of the deployment, and it belongs to none"
            mend = "give it one: --label csys-obj-parent=NAME; or accept that it is missing: --allow-missing-providers"
            yield Problem(NOT_THERE, message, mend, Place(path=record.creator))
        return None
    row = ctx.store.deployment(parent)
    if row is None:
        known = [one.name for one in ctx.store.deployments()]
        message = f"there is no deployment '{parent}', to which '{name}' is to belong"
        yield Problem(NOT_THERE, message, suggest(parent, known, "install it first"), Place(subject=name))
        return None
    beyond = OtherDeployments(ctx.store, ctx.vault, row)
    provider = beyond.provider(parent)
    if provider is not None:
        reads = CapabilityReads(beyond)
        for record in records:
            problem = _requirement(provider, reads, record)
            if problem is not None:
                yield problem
    return row


def _requirement(provider: ProviderSnapshot, reads: CapabilityReads, record: Dependency) -> Problem | None:
    """Return the problem with one capability of the environment, on its evaluated value, or None (DP14)."""
    (argument,) = cast("dict[str, Value]", json.loads(record.function)).values()
    capability, *path = argument if isinstance(argument, list) else [argument]
    if not isinstance(capability, str) or not all(isinstance(step, str | int) for step in path):
        return None  # a function computes it when it is read
    place = Place(path=record.creator)
    if capability not in provider.capabilities:
        known = provider.capabilities
        mend = suggest(capability, known, f"it has {quoted_list(known)}" if known else "it has none")
        return Problem("PL-B074", f"the environment '{provider.name}' has no capability '{capability}'", mend, place)
    try:
        value = evaluate(provider.capabilities[capability].value, provider.scope(reads))
    except ProblemsError as error:
        return _not_known(provider, capability, error.problems[0].message, place)
    found, rest = descend(value, cast("list[str | int]", path))
    if found is None:
        return _not_known(provider, capability, "it has no value yet", place)
    if not rest:
        return None
    message = f"the capability '{capability}' of the environment '{provider.name}' has no {shown(rest[0])}"
    return Problem("PL-B074", message, "correct the path, or the capability in the blueprint there", place)


def _not_known(provider: ProviderSnapshot, capability: str, why: str, place: Place) -> Problem:
    message = f"the capability '{capability}' of the environment '{provider.name}' is not known yet: {why}"
    mend = f"install '{provider.name}' first if its value is needed"
    return Problem("PL-P061", message, mend, place, severity="warning")


def _chain(ctx: RequestContext, start: DeploymentRow, name: str) -> list[str]:
    """Return the names from ``start`` to ``name``, each of which reads the next one; empty if there is no such way."""
    came: dict[str, str] = {start.name: ""}
    ahead = [start]
    while ahead:
        row = ahead.pop()
        for provider in _read_by(ctx, row):
            if provider == name:
                way = [row.name]
                while came[way[-1]]:
                    way.append(came[way[-1]])
                return [*reversed(way), name]
            found = None if provider in came else ctx.store.deployment(provider)
            if found is not None:
                came[provider] = row.name
                ahead.append(found)
    return []


def _read_by(ctx: RequestContext, row: DeploymentRow) -> Iterator[str]:
    """Yield the names of the deployments that a stored deployment reads by their literal names."""
    return (one.provider for one in ctx.store.dependencies.of(row.number) if one.provider)
