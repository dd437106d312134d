"""Rows of resources in a list, built by stay: common data of the resources of a stay is read once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.gc_pause import undisturbed
from phaseline.model.deployment.sealed_values import veiled_properties
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.phase_data import NO_DATA
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
"""The word for a resource that is in no state yet."""
LEFT = "Canceled"
"""The word for a resource that was canceled on its way to its target."""
STATUSES = {int(status): status for status in EntryStatus}
INACTIVE = (EntryStatus.PASSED, EntryStatus.COMPLETED, EntryStatus.CANCELED)
"""Entries that do not keep a resource in its state."""


@frozen
class ResourceRow:
    """One resource in a list. ``status``: the word for its state, Failed or Canceled. ``entries``: phases that hold it there."""

    name: str
    cluster: str
    type: str
    state: str
    target: str
    status: str
    entries: Sequence[PhaseEntryView] = ()


class _Rows:
    """Data of the listed resources, by their numbers."""

    def __init__(self, snapshot: ClusterSnapshot, documents: Documents, known: KnownPhases) -> None:
        """No data yet."""
        self._snapshot = snapshot
        self._documents = documents
        self._known = known
        self.failed: set[int] = set()
        self.canceled: set[int] = set()
        self.stays: dict[int, int] = {}
        """{number: the execution of its present stay}"""
        self.entries: dict[int, list[PhaseEntryView]] = {}

    def look(self, stay: Stay, numbers: np.ndarray) -> None:
        """Read the data of resources (numbers ascending) from their latest stay."""
        places = np.searchsorted(stay.subjects, numbers)
        columns = {phase: stay.status[step.first + places] for phase, step in stay.phases.items()}
        is_present = self._snapshot.newest[numbers] == stay.execution
        active = {phase: np.flatnonzero(is_present & ~np.isin(column, INACTIVE)) for phase, column in columns.items()}
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
        """Whether the resource is not at its target and no execution brings it there any more."""
        row = self._snapshot.by_number[execution]
        if self.stays.get(number) != execution:
            return row.status.is_ended
        return number not in self.failed and (row.status.is_ended or number in self.canceled)


def documents_in(snapshot: ClusterSnapshot, *, is_veiled: bool) -> Documents:
    """A function that returns documents of a cluster. ``is_veiled``: there are secrets, which are hidden in them."""

    def of(numbers: Sequence[int]) -> Mapping[int, Mapping[str, Value]]:
        found = snapshot.store.documents(snapshot.row.number, numbers) if numbers else {}
        return {number: veiled_properties(found[number]) for number in found} if is_veiled else found

    return of


def rows_of(
    snapshot: ClusterSnapshot, numbers: np.ndarray, documents: Documents, known: KnownPhases
) -> list[ResourceRow]:
    """A row for each of these resources of a cluster (numbers ascending).

    ``documents`` is called for resources held by phases.
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
    """The word that users see for a state: the group of the state on the path to the target.

    If that path does not have the state, the group on any other path of the type that has it; else the state itself.
    """
    if not state:
        return OFF
    types = registry.types if registry is not None else None
    paths = [types.path(kind, target), *types.paths_of(kind)] if types is not None else []
    return next((path.group(state) for path in paths if path is not None and state in path.states), state)
