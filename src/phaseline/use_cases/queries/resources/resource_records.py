"""A resource as the record that the CycleCloud document (source 1) describes.

The record has its attributes, the values that the engine sets, and its PhaseMap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from phaseline.compat.cyclecloud.resource import stored_of
from phaseline.model.phases.phase_data import ENGINE_KEYS, attributes_in
from phaseline.records.record import Record

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot
    from phaseline.views.phase_entry import PhaseEntryView


def record_of(
    snapshot: ClusterSnapshot,
    number: int,
    document: Mapping[str, Value],
    *,
    is_failed: bool,
    entries: Sequence[PhaseEntryView] | None,
) -> Record:
    """Return the record of a resource. ``entries``: the entries of its PhaseMap; None: leave the PhaseMap out."""
    made = Record(type_name=snapshot.type(number))
    made.put("Name", snapshot.name(number))
    made.put("ClusterName", snapshot.row.name)
    state, target = snapshot.state(number), snapshot.target(number)
    for name, word in (("State", state), ("TargetState", target)):
        if word:
            made.put(name, word)
    if is_failed:
        made.put("PhaseFailed", True)
    for name, value in attributes_in(document).items():
        if name and name.lower() not in ENGINE_KEYS and name.lower() not in made.folded:
            made.put(name, stored_of(value))
    if entries:
        made.put("PhaseMap", _phase_map(entries))
    made.forget_changes()
    return made


def _phase_map(entries: Sequence[PhaseEntryView]) -> Record:
    made = Record()
    for entry in entries:
        if entry.phase.lower() not in made.folded:
            made.put(entry.phase, _entry(entry))
    return made


def _entry(entry: PhaseEntryView) -> Record:
    made = Record()
    made.put("Status", entry.status)
    texts = (("Message", entry.message or entry.note), ("Description", entry.description), ("State", entry.state))
    times = (
        ("EnteredTime", entry.entered_at),
        ("StartTime", entry.started_at),
        ("EndTime", entry.ended_at),
        ("NextRunTime", entry.next_run_at),
    )
    counts = (("RunCount", entry.run_count), ("Attempt", entry.attempt), ("RunId", entry.run))
    for name, text in texts:
        if text:
            made.put(name, text)
    for name, at in times:
        if at:
            made.put(name, datetime.fromtimestamp(at / 1000, UTC))
    for name, count in counts:
        if count:
            made.put(name, count)
    if entry.waiting_for:
        made.put("WaitingFor", tuple(entry.waiting_for))
    for name, value in entry.data.items():
        if name and name.lower() not in made.folded:
            made.put(name, stored_of(value))
    return made
