"""Looking at resources: lists with what failed alike, and one with everything that is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.frozen import frozen
from phaseline.model.phase_data import NO_DATA
from phaseline.model.sealing import veiled_properties
from phaseline.model.status import EntryStatus
from phaseline.records.json_form import to_json
from phaseline.records.printing import print_record
from phaseline.use_cases.resources.applying import known_phases
from phaseline.use_cases.resources.as_records import record_of
from phaseline.use_cases.resources.choosing import Choice, choose, choose_one
from phaseline.use_cases.resources.entries import EntryView, Known, entries_of
from phaseline.use_cases.resources.failures import FailureGroup, groups
from phaseline.use_cases.resources.snapshot import Snapshot, clusters

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.model.phase_registry import PhaseRegistry
    from phaseline.use_cases.workplace import Workplace

OFF = "Off"
"""The word for a resource that is in no state yet."""
LEFT = "Canceled"
"""The word for one that was canceled on its way to its target."""


@frozen
class ResourceRow:
    """One resource in a list. ``status``: the word for its state, or Failed or Canceled. ``entries``: phases that keep it there."""

    name: str
    cluster: str
    type: str
    state: str
    target: str
    status: str
    entries: Sequence[EntryView] = ()


@frozen
class ResourceList:
    """The first resources of ``total``, how many are in which state, and everything that failed, like things together.

    ``there_are``: how many there are, chosen or not.
    """

    resources: Sequence[ResourceRow]
    total: int
    states: Mapping[str, int]
    failures: Sequence[FailureGroup] = ()
    there_are: int = 0


@frozen
class ResourceView:
    """One resource. ``record``: all its attributes with its PhaseMap, as JSON has records; ``text``: the same as formal text."""

    name: str
    cluster: str
    type: str
    state: str
    target: str
    status: str
    is_moving: bool
    is_failed: bool
    execution: str
    entries: Sequence[EntryView]
    record: Mapping[str, object]
    text: str


def list_resources(place: Workplace, choice: Choice, *, limit: int | None = None) -> ResourceList:
    """Those that are meant, by cluster and number; nothing said means all. Raises as ``choose``."""
    registry = known_phases(place)
    known = Known(registry, place.store.paused_phases())
    chosen = choose(place, choice)
    rows: list[ResourceRow] = []
    counts: dict[str, int] = {}
    for snapshot, numbers in chosen:
        for number in numbers.tolist():
            state = snapshot.state(number)
            counts[state] = counts.get(state, 0) + 1
        room = None if limit is None else max(0, limit - len(rows))
        shown = numbers[:room].tolist()
        documents = place.store.documents(snapshot.row.number, shown) if shown else {}
        if place.vault.has_seals:
            documents = {number: veiled_properties(document) for number, document in documents.items()}
        rows += [_row(snapshot, number, documents.get(number, {}), registry, known) for number in shown]
    there_are = sum(len(Snapshot(place.store, row).living) for row in clusters(place.store, choice.cluster))
    return ResourceList(rows, sum(counts.values()), counts, groups(chosen), there_are)


def show_resource(place: Workplace, name: str, *, cluster: str | None = None) -> ResourceView:
    """Everything about one. Raises: PL-C031, PL-C032."""
    registry = known_phases(place)
    snapshot, number = choose_one(place.store, name, cluster)
    document = snapshot.document(number)
    entries = entries_of(snapshot, number, document, Known(registry, place.store.paused_phases()))
    row = _row(snapshot, number, document, registry, Known(registry, place.store.paused_phases()))
    is_failed = row.status == "Failed"
    record = record_of(snapshot, number, document, is_failed=is_failed, entries=entries)
    execution = snapshot.by_number.get(int(snapshot.newest[number]))
    return ResourceView(
        name=row.name,
        cluster=row.cluster,
        type=row.type,
        state=row.state,
        target=row.target,
        status=row.status,
        is_moving=snapshot.standing(number) == "moving",
        is_failed=is_failed,
        execution=execution.id if execution is not None else "",
        entries=entries,
        record=to_json(record),
        text=print_record(record),
    )


def _row(
    snapshot: Snapshot, number: int, document: Mapping[str, Value], registry: PhaseRegistry, known: Known
) -> ResourceRow:
    stay = snapshot.stay(number)
    entries: Sequence[EntryView] = ()
    is_failed = False
    if stay is not None and not snapshot.is_superseded(stay, number):
        is_failed = EntryStatus.FAILED in stay.statuses_of(number).values()
        entries = [
            entry
            for entry in entries_of(snapshot, number, document or NO_DATA, known)
            if entry.is_active and entry.phase in stay.phases
        ]
    kind, state, target = snapshot.type(number), snapshot.state(number), snapshot.target(number)
    return ResourceRow(
        snapshot.name(number),
        snapshot.row.name,
        kind,
        state,
        target,
        "Failed" if is_failed else LEFT if _is_left(snapshot, number) else _word(registry, kind, state, target),
        entries,
    )


def _is_left(snapshot: Snapshot, number: int) -> bool:
    """Whether it is not where it was to go, and nobody brings it there any more."""
    return snapshot.state(number) != snapshot.target(number) and snapshot.standing(number) == "still"


def _word(registry: PhaseRegistry, kind: str, state: str, target: str) -> str:
    """What users see of a state: that of its group on the path to the target, or on any other path that has it."""
    if not state:
        return OFF
    paths = [registry.types.path(kind, target), *registry.types.paths_of(kind)]
    return next((path.group(state) for path in paths if path is not None and state in path.states), state)
