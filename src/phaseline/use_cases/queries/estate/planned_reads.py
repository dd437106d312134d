"""The part of a plan about other deployments: the values that it reads, and the values of its own that change (DP9).

No secret is read for a plan: a value that needs one is shown as ``(sensitive)``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from phaseline.calls.deployments.blocking_consumers import capability_of
from phaseline.calls.deployments.dependency_reads import readers_of, short_place
from phaseline.calls.deployments.other_deployments import CapabilityMemo, OtherDeployments, environment_of
from phaseline.calls.protocol.no_secrets import NoSecrets
from phaseline.dsl.deployment.other_reads import dependencies_of
from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.other_deployments import CapabilityReads
from phaseline.dsl.functions.registry import contains_functions
from phaseline.dsl.functions.scope import NotYetKnown, descend
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.labels import labels_of
from phaseline.model.deployment.sealed_values import SEAL
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.requests.touched import instances_behind
from phaseline.use_cases.queries.deployments import living_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.secrets import SecretSource

SENSITIVE = "(sensitive)"
"""In place of a value that needs a secret."""
LATER = "known after"
"""In place of a value that is known after the execution only."""
REMOVED = "removed"
"""In place of a capability that the new blueprint does not have."""
READERS_SHOWN = 5
"""Most consumers that a changed capability names."""
LONGEST = 100
"""Most characters of a value in a plan."""


class _NoReading(NoSecrets):
    """A source of secrets that reads none: whatever needs a secret stays a function."""

    def of_tenant(self, tenant: str) -> SecretSource:  # noqa: ARG002 - the port's signature
        """Return this source."""
        return self

    def get(self, name: str) -> str:
        """Raise ``NotYetKnown``, whatever the secret."""
        raise NotYetKnown(name)

    def missing(self, names: object) -> Sequence[str]:  # noqa: ARG002 - the port's signature
        """Return (): a plan looks for no secret."""
        return ()


@frozen
class PlannedRead:
    """A capability that a planned deployment reads, as it is now: ``value`` as text, and whether its provider is active."""

    capability: str
    value: str
    provider: str
    is_active: bool
    places: Sequence[str]

    def __str__(self) -> str:
        """Return a line of a plan."""
        state = "active" if self.is_active else "inactive"
        return f"reads {self.capability} (now {self.value}; {self.provider}: {state})"


@frozen
class ChangedCapability:
    """A capability that others read and an update changes: its value ``before`` and ``after`` as texts."""

    capability: str
    before: str
    after: str
    read_by: Sequence[str]

    def __str__(self) -> str:
        """Return a line of a plan."""
        more = len(self.read_by) - READERS_SHOWN
        readers = ", ".join(self.read_by[:READERS_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        return f"capability {self.capability}: {self.before} → {self.after}; read by {readers}"


def planned_reads(ctx: RequestContext, blueprint: Blueprint) -> tuple[PlannedRead, ...]:
    """Return the capabilities that a blueprint reads of existing deployments, each once, in the blueprint's order."""
    labels = list(labels_of(blueprint.labels))
    found: dict[tuple[str, ...], list[str]] = {}
    for one in dependencies_of(blueprint):
        (argument,) = cast("dict[str, Value]", json.loads(one.function)).values()
        steps = argument if isinstance(argument, list) else [argument]
        if one.kind == "environment":
            steps = [environment_of(ctx.store, labels), *steps]
        if one.kind != "group" and all(isinstance(step, str | int) for step in steps):
            found.setdefault(tuple(map(str, steps)), []).append(short_place(one.creator))
    reads = _Present(ctx)
    return tuple(
        PlannedRead(".".join(steps), reads.value(row, steps[1:]), row.name, living_count(ctx.store, row) > 0, places)
        for steps, places in found.items()
        if (row := ctx.store.deployment(steps[0])) is not None
    )


def changed_capabilities(
    ctx: RequestContext, row: DeploymentRow, topology: Topology, after: Blueprint, changed: np.ndarray
) -> tuple[ChangedCapability, ...]:
    """Return the capabilities that others read and that an update to the blueprint ``after`` changes.

    ``changed`` are the instances (bool by number) that the update removes or changes.
    """
    readers: dict[str, dict[str, list[str]]] = {}
    for page in readers_of(ctx.store, row):
        for record in page:
            name = capability_of(record.dependency.function)
            if name:
                places = readers.setdefault(name, {}).setdefault(record.name, [])
                places.append(short_place(record.dependency.creator))
    reads = _Present(ctx)
    before = topology.blueprint.capabilities
    found = []
    for name, consumers in sorted(readers.items()):
        if name not in before:
            continue
        new = _after(topology, name, after, changed)
        now = reads.value(row, (name,))
        if new is not None and new != now:
            texts = [f"{consumer} ({', '.join(places)})" for consumer, places in sorted(consumers.items())]
            found.append(ChangedCapability(name, now, new, texts))
    return tuple(found)


def _after(topology: Topology, name: str, after: Blueprint, changed: np.ndarray) -> str | None:
    """Return the text of a capability after an update, or None if the update does not change it."""
    if name not in after.capabilities:
        return REMOVED
    old, new = topology.blueprint.capabilities[name].value, after.capabilities[name].value
    if not contains_functions(new):
        return None if new == old else _text(new)
    if new != old:
        return LATER
    behind = instances_behind(topology, new)
    is_hit = bool(changed.any()) if behind is None else bool((behind[: len(changed)] & changed).any())
    return LATER if is_hit else None


class _Present:
    """Evaluates capabilities as they are now, without reading secrets."""

    def __init__(self, ctx: RequestContext) -> None:
        self._ctx = ctx
        self._memo = CapabilityMemo()

    def value(self, row: DeploymentRow, path: Sequence[str]) -> str:
        """Return the present value of a capability of a deployment at ``path``, as text."""
        beyond = OtherDeployments(self._ctx.store, _NoReading(), row, memo=self._memo)
        provider = beyond.provider(row.name)
        if provider is None or path[0] not in provider.capabilities:
            return "not declared"
        declared = provider.capabilities[path[0]].value
        try:
            found, rest = descend(evaluate(declared, provider.scope(CapabilityReads(beyond))), list(path[1:]))
        except ProblemsError as error:
            return f"not known: {error.problems[0].message}"
        if rest:
            return "not known"
        return SENSITIVE if _is_sensitive(found) else _text(found)


def _is_sensitive(value: Value) -> bool:
    """Return True if a value waits for a secret, or has an encrypted part, also if a function has changed that."""
    return contains_functions(value) or SEAL.lower() in json.dumps(value).lower()


def _text(value: Value) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
