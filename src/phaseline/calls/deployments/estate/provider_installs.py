"""Whose installs an install waits for (DP12): those of the deployments that its deployment reads.

A provider that is just being installed has no values yet, or only some of them. So the consumer begins when the provider
is there. An execution that was made by the install of its provider does not wait for it, because that one waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_namedtuples import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import StoreRows

INSTALL = "install"
WITHOUT_READS = frozenset({"parent", "component", "own"})
"""Kinds of records about deployments of which no value is read."""
NESTED = frozenset({"component", "relationship", "program", "recursive"})
"""Kinds of causes whose number is that of an execution, of which the new execution is a part."""


class InstallReads(NamedTuple):
    """What an install waits for: the open installs of ``providers`` (numbers of deployments).

    It does not wait for the executions ``around`` it (numbers), because they wait for it.
    """

    providers: frozenset[int] = frozenset()
    around: frozenset[int] = frozenset()


NO_READS = InstallReads()


def reads_of_install(store: StoreRows, row: ExecutionRow, outer: int = 0) -> InstallReads:
    """Return what an install waits for. ``outer``: the execution that makes it, if its cause is not stored yet, or 0."""
    found = frozenset(_providers(store, row.deployment)) - {row.deployment}
    return InstallReads(found, _around(store, row.number, outer)) if found else NO_READS


def awaited_install(store: StoreRows, row: ExecutionRow) -> ExecutionRow | None:
    """Return the execution, as stored, that installs a provider and that a queued install waits for; None if none."""
    if row.request.workflow != INSTALL or row.request.if_busy == "force" or row.request.flaw:
        return None
    reads = reads_of_install(store, row)
    opened = [
        one
        for provider in sorted(reads.providers)
        for one in store.executions(provider, only_open=True)
        if one.request.workflow == INSTALL and one.number not in reads.around
    ]
    before = [one for one in opened if one.started_at or one.number < row.number]
    return min(before, key=lambda one: (not one.started_at, one.number), default=None)


def _providers(store: StoreRows, consumer: int) -> Iterator[int]:
    """Yield the numbers of the deployments that a deployment reads and that exist."""
    for record in store.dependencies.of(consumer):
        if record.number:
            yield record.number
        elif record.kind not in WITHOUT_READS:
            name = record.provider or (_environment(store, consumer) if record.kind == "environment" else "")
            row = store.deployment(name) if name else None
            if row is not None:
                yield row.number


def _environment(store: StoreRows, consumer: int) -> str:
    from phaseline.calls.deployments.other_deployments import environment_of

    return environment_of(store, store.labels.of(consumer)) or ""


def _around(store: StoreRows, execution: int, outer: int) -> frozenset[int]:
    """Return the executions of which this one is a part: the one that has made it, the one that has made that, and so on."""
    found: set[int] = set()
    inner, maker = execution, outer
    while True:
        if not maker and inner:
            causes = store.causes.of_executions([inner])
            maker = next((one.cause.number for one in causes if one.cause.kind in NESTED), 0)
        if not maker or maker in found:
            return frozenset(found)
        found.add(maker)
        inner, maker = maker, 0
