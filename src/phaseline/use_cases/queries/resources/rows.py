"""Rows of resources in a list. Resources that entered a state together share one graph, which is read only once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.gc_pause import undisturbed
from phaseline.model.deployment.sealed_values import veiled_properties
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.phase_data import NO_DATA
from phaseline.use_cases.queries.resources.cluster_snapshot import QUIET
from phaseline.use_cases.queries.resources.phase_entries import KnownPhases, entries_at
from phaseline.views.phase_entry import PhaseEntryView

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot
    from phaseline.use_cases.queries.resources.state_stays import Stay

    Documents: TypeAlias = Callable[[Sequence[int]], Mapping[int, Mapping[str, Value]]]
    """Returns {number: its stored document}."""

OFF = "Off"
"""Word for the state of a resource that has not entered any state."""
LEFT = "Canceled"
"""Word for the status of a resource whose way to its target was canceled."""
STATUSES = {int(status): status for status in EntryStatus}


@frozen
class ResourceRow:
    """One resource in a list.

    ``status``: the word for its state, or Failed or Canceled. ``entries``: the phases that hold it in its state.
    """

    name: str
    cluster: str
    type: str
    state: str
    target: str
    status: str
    entries: Sequence[PhaseEntryView] = ()


class _Rows:
    """Data of the listed resources, by resource number."""

    def __init__(self, snapshot: ClusterSnapshot, documents: Documents, known: KnownPhases) -> None:
        """Begin without data; ``look`` reads it."""
        self._snapshot = snapshot
        self._documents = documents
        self._known = known
        self.failed: set[int] = set()
        self.canceled: set[int] = set()
        self.stays: dict[int, int] = {}
        """{resource number: the execution of its present stay}."""
        self.entries: dict[int, list[PhaseEntryView]] = {}

    def look(self, stay: Stay, numbers: np.ndarray) -> None:
        """Read the data of resources whose latest stay in a state is ``stay``; ``numbers`` are ascending."""
        places = np.searchsorted(stay.subjects, numbers)
        columns = {phase: stay.status[step.first + places] for phase, step in stay.phases.items()}
        is_present = self._snapshot.newest[numbers] == stay.execution
        active = {phase: np.flatnonzero(is_present & ~np.isin(column, QUIET)) for phase, column in columns.items()}
        documents = self._documents(sorted({at for shown in active.values() for at in numbers[shown].tolist()}))
        is_failed = np.zeros(len(numbers), bool)
        for phase, column in columns.items():
            is_failed |= column == EntryStatus.FAILED
            shown = active[phase]
            if len(shown):
                inside = numbers[shown].tolist()
                positions = (stay.phases[phase].first + places[shown]).tolist()
                statuses = [STATUSES[byte] for byte in column[shown].tolist()]
                of = [documents.get(number, NO_DATA) for number in inside]
                made = entries_at(stay, phase, positions, statuses, of, self._known)
                for number, entry in zip(inside, made, strict=True):
                    self.entries.setdefault(number, []).append(entry)
        self.failed.update(numbers[is_failed].tolist())
        self.canceled.update(numbers[stay.are_canceled(places)].tolist())
        self.stays.update(dict.fromkeys(numbers.tolist(), stay.execution))

    def is_left(self, number: int, execution: int) -> bool:
        """Return whether the resource is not at its target and no execution will bring it there.

        ``execution``: the latest execution that was requested to move the resource.
        """
        row = self._snapshot.by_number[execution]
        if self.stays.get(number) != execution:
            return row.status.is_ended
        return number not in self.failed and (row.status.is_ended or number in self.canceled)


def documents_in(snapshot: ClusterSnapshot, *, is_veiled: bool) -> Documents:
    """Return a function that reads documents of a cluster. ``is_veiled``: hide the secrets in them."""

    def of(numbers: Sequence[int]) -> Mapping[int, Mapping[str, Value]]:
        found = snapshot.store.documents(snapshot.row.number, numbers) if numbers else {}
        return {number: veiled_properties(found[number]) for number in found} if is_veiled else found

    return of


def rows_of(
    snapshot: ClusterSnapshot, numbers: np.ndarray, documents: Documents, known: KnownPhases
) -> list[ResourceRow]:
    """Return a row for each of these resources of a cluster; ``numbers`` are ascending.

    ``documents`` is called only for resources that a phase holds in their state.
    """
    with undisturbed():
        return _rows(snapshot, numbers, documents, known)


def _rows(
    snapshot: ClusterSnapshot, numbers: np.ndarray, documents: Documents, known: KnownPhases
) -> list[ResourceRow]:
    found = _Rows(snapshot, documents, known)
    for stay, inside in snapshot.by_stay(numbers):
        found.look(stay, inside)
    names = snapshot.topology.ids
    words: dict[tuple[str, str, str], str] = {}
    rows = []
    kinds = [node.type for node in snapshot.topology.nodes]
    newest = snapshot.newest[numbers].tolist()
    targets = {execution: snapshot.target_of(execution) for execution in set(newest)}
    states = {byte: snapshot.word(byte) for byte in np.unique(snapshot.states[numbers]).tolist()}
    for number, execution, node, byte in zip(
        numbers.tolist(),
        newest,
        snapshot.topology.node[numbers].tolist(),
        snapshot.states[numbers].tolist(),
        strict=True,
    ):
        kind, state, given = kinds[node], states[byte], targets[execution]
        target = state if given is None else given
        if number in found.failed and found.stays[number] == execution:
            status = "Failed"
        elif execution and state != target and found.is_left(number, execution):
            status = LEFT
        else:
            key = (kind, state, target)
            if key not in words:
                words[key] = _word(known.registry, *key)
            status = words[key]
        rows.append(
            ResourceRow(names[number], snapshot.row.name, kind, state, target, status, found.entries.get(number, ()))
        )
    return rows


def _word(registry: PhaseRegistry | None, kind: str, state: str, target: str) -> str:
    """Return the word that users see for a state: the name of the state's group on the path to the target.

    If that path does not contain the state, use another path of the type; if no path does, return the state itself.
    """
    if not state:
        return OFF
    types = registry.types if registry is not None else None
    paths = [types.path(kind, target), *types.paths_of(kind)] if types is not None else []
    return next((path.group(state) for path in paths if path is not None and state in path.states), state)
