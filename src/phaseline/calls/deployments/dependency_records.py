"""The records of dependencies that a turn writes (DP5): of updated deployments, and of providers that functions computed.

A function whose provider is computed, such as by ``get_secret``, gets a record for each provider that it has read. The
records of a consumer are computed again when one of its executions ends, because the computed name may have changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from phaseline.dsl.deployment.other_reads import dependencies_of
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.dependencies import OF_NODES, ConsumerDependencies
from phaseline.model.rows.rows import EventRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.rows.dependencies import Dependency
    from phaseline.model.rows.rows import ExecutionRow, Reshaped
    from phaseline.ports.tenant_store import StoreRows

INSTANCES_ASKED = 100
"""Most instances of a node for which the provider of a function is computed when an execution ends."""


def of_reshaped(store: StoreRows, row: Reshaped) -> ConsumerDependencies | None:
    """Return the records of a deployment that gets a new blueprint, or None if they do not change."""
    if row.blueprint is None:
        return None
    before = store.dependencies.of(row.deployment)
    after = _merged(row.blueprint, before, _computed(before))
    return None if [*before] == after else ConsumerDependencies(row.deployment, tuple(after))


def of_used(
    store: StoreRows, blueprint: Blueprint, consumer: int, uses: Sequence[tuple[str, int]]
) -> ConsumerDependencies | None:
    """Return the records of a consumer after functions have read providers: (text of the function, provider's number).

    None if all of them are recorded already.
    """
    before = store.dependencies.of(consumer)
    known = _computed(before)
    for text, number in uses:
        numbers = known.setdefault(text, [])
        if number not in numbers:
            numbers.append(number)
    after = _merged(blueprint, before, known)
    return None if [*before] == after else ConsumerDependencies(consumer, tuple(after))


def at_end(store: StoreRows, part: StoreRows, loaded: LoadedDeployment) -> ConsumerDependencies | None:
    """Return the records of a deployment of which an execution ends, with providers computed again, or None.

    ``part`` is what the tenant has in the store. A function that cannot be evaluated now keeps its records.
    """
    before = store.dependencies.of(loaded.number)
    known = _computed(before)
    for one in dependencies_of(loaded.blueprint):
        if one.kind == "capability" and not one.provider:
            found = _providers_now(part, loaded, one)
            if found:
                known[one.function] = found
    after = _merged(loaded.blueprint, before, known)
    return None if [*before] == after else ConsumerDependencies(loaded.number, tuple(after))


def circle_event(
    store: StoreRows, row: ExecutionRow, records: ConsumerDependencies | None, now: int
) -> EventRow | None:
    """Return a warning if a computed provider of the consumer reads the consumer, or None. It fails nothing (DP5).

    ``records`` are the consumer's new records, or None if the stored ones stay.
    """
    known = store.dependencies.of(row.deployment) if records is None else records.dependencies
    for number in dict.fromkeys(one.number for one in known if one.number):
        if number != row.deployment and _leads_to(store, number, row.deployment):
            text = f"'{row.deployment_name}' and a deployment that it reads now read one another in a circle"
            return EventRow(row.number, now, "dependency_circle", text)
    return None


def _leads_to(store: StoreRows, start: int, wanted: int) -> bool:
    """Return True if ``start`` reads the deployment ``wanted``, directly or through others."""
    readers, ahead = {wanted}, [wanted]
    while ahead:
        for one in store.dependencies.on(ahead.pop()):
            if one.consumer == start:
                return True
            if one.consumer not in readers:
                readers.add(one.consumer)
                ahead.append(one.consumer)
    return False


def _computed(records: Sequence[Dependency]) -> dict[str, list[int]]:
    """Return {text of a function: numbers of the providers that it has computed}."""
    found: dict[str, list[int]] = {}
    for one in records:
        if one.number and one.number not in found.setdefault(one.function, []):
            found[one.function].append(one.number)
    return found


def _merged(
    blueprint: Blueprint, before: Sequence[Dependency], computed: Mapping[str, Sequence[int]]
) -> list[Dependency]:
    """Return the records of a blueprint, and those of ``before`` that belong to instances.

    A function with computed providers gets a record for each of them.
    """
    found: list[Dependency] = []
    for one in dependencies_of(blueprint):
        numbers = () if one.provider else computed.get(one.function, ())
        found.extend([one._replace(number=number) for number in numbers] or [one])
    return found + [one for one in before if one.kind in OF_NODES]


def _providers_now(part: StoreRows, loaded: LoadedDeployment, record: Dependency) -> list[int]:
    """Return the numbers of the providers that a function computes now, for the instances of its node."""
    (argument,) = cast("dict[str, Value]", json.loads(record.function)).values()
    names: dict[str, None] = {}
    for instance in _instances(loaded, record.creator):
        try:
            name = loaded.evaluate_for(cast("list[Value]", argument)[0], instance)
        except ProblemsError:
            continue
        if isinstance(name, str):
            names[name] = None
    rows = [part.deployment(name) for name in names]
    return [row.number for row in rows if row is not None]


def _instances(loaded: LoadedDeployment, creator: str) -> Iterator[int | None]:
    """Yield the instances for which a function at ``creator`` is evaluated; None for one that belongs to no instance.

    Functions of relationships are evaluated for no instance: their records are those of the providers that they have read.
    """
    section, _, rest = creator.partition(".")
    if section != "nodes":
        yield None
        return
    for node in loaded.blueprint.nodes:
        if rest.startswith((f"{node}.properties.", f"{node}.operations.")):
            number = loaded.topology.node_number.get(node)
            if number is not None:
                yield from loaded.topology.instances_of(number)[:INSTANCES_ASKED].tolist()
