"""List the calls that an engine abandoned when it stopped, and whether the next engine calls them again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.model.graph.status import OutcomeKind
from phaseline.use_cases.lookup.entries import GraphEntries

if TYPE_CHECKING:
    from phaseline.model.rows.rows import BatchRow, ExecutionRow
    from phaseline.ports.tenant_store import StoreRows

NAMED = 3
"""Number of instances of each group that are named; further ones are only counted."""
WITHOUT_ANSWER = (OutcomeKind.PENDING, OutcomeKind.UNSURE, OutcomeKind.LOST)
"""Outcomes of members of a batch for which the engine has received no answer."""


@frozen
class GivenUp:
    """Abandoned calls of one operation in one execution.

    ``count``: their number; ``instances``: the first of their instances. ``is_repeatable``: the next engine calls them
    again; otherwise an operator must decide about them.
    """

    execution: str
    deployment: str
    operation: str
    count: int
    instances: Sequence[str]
    is_repeatable: bool


@mutable
class _Calls:
    count: int = 0
    instances: list[str] = field(default_factory=list)


def running_calls(store: StoreRows) -> dict[int, BatchRow]:
    """Return {id: batch} of the batches with calls that have not returned."""
    return {batch.id: batch for batch in store.batches(only_open=True)}


def given_up(store: StoreRows, batches: Mapping[int, BatchRow]) -> list[GivenUp]:
    """Return the abandoned calls in these batches, of executions that are still open.

    A new owner of the store may meanwhile have called some of these entries again, in other batches.
    """
    wanted = {graph for batch in batches.values() for graph in batch.places.graphs}
    found: list[GivenUp] = []
    for row in store.executions(only_open=True) if wanted else ():
        graphs = [held.id for held in store.graphs(row.number) if held.id in wanted]
        if graphs:
            found.extend(_of_execution(store, row, graphs, batches))
            wanted.difference_update(graphs)
    return found


def _of_execution(
    store: StoreRows, row: ExecutionRow, graphs: Sequence[int], batches: Collection[int]
) -> Iterator[GivenUp]:
    mine = [batch for batch in store.batches(execution=row.number) if batch.id in batches]
    topology = store.topology(row.deployment)
    found: dict[tuple[str, bool], _Calls] = {}
    for number in graphs:
        graph = store.graph(number)
        entries = GraphEntries(graph)
        for position in _positions(mine, number):
            phase = entries.phase(position)
            is_repeatable = graph.policies[int(graph.policy[position])].repeatable
            calls = found.setdefault((phase, is_repeatable), _Calls())
            calls.count += 1
            if len(calls.instances) < NAMED:
                calls.instances.append(entries.subject(topology, position)[0])
    for (phase, is_repeatable), calls in found.items():
        yield GivenUp(row.id, row.deployment_name, phase, calls.count, calls.instances, is_repeatable)


def _positions(batches: Sequence[BatchRow], graph: int) -> list[int]:
    """Return the positions of a graph that are in one of the batches and have no answer."""
    found: list[int] = []
    for batch in batches:
        first = 0
        for number, positions in batch.segments:
            answers = batch.kinds[first : first + len(positions)] if batch.kinds is not None else None
            first += len(positions)
            if number == graph:
                mine = positions if answers is None else positions[np.isin(answers, WITHOUT_ANSWER)]
                found.extend(mine.tolist())
    return sorted(found)
