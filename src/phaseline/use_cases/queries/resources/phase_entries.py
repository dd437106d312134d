"""The PhaseMap of a resource: its phase entries in its present state and in states that it was in before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.deployment.sealed_values import veiled
from phaseline.model.execution.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.execution.breakpoints import due_of
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.phase_data import NO_DATA, data_in
from phaseline.use_cases.queries.resources.state_stays import WORDS
from phaseline.views.phase_entry import PhaseEntryView

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.rows.rows import NoteRow, PausedRow
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot
    from phaseline.use_cases.queries.resources.state_stays import Stay

NOT_DONE = (EntryStatus.BLOCKED, EntryStatus.WAITING, EntryStatus.SLEEPING, EntryStatus.SKIPPED)
NOT_LOADED = "is not loaded"
"""End of the text about a phase that no plugin defines, by which other code recognizes the text."""
NOTHING: Sequence[str] = ()
WAITS_FOR_OTHERS = frozenset({EntryStatus.BLOCKED, EntryStatus.SKIPPED})
MAY_BE_KEPT_UP = frozenset({EntryStatus.BLOCKED, EntryStatus.WAITING, EntryStatus.SKIPPED})


class KnownPhases:
    """The definitions of phases, and the phases that are paused."""

    def __init__(self, registry: PhaseRegistry | None, paused: Mapping[str, PausedRow]) -> None:
        """``registry`` is None if the definitions were not read. ``paused``: {phase in lower case: its pause}."""
        self.registry = registry
        self._paused = paused
        self._notes: dict[str, tuple[bool, str]] = {}

    def description(self, phase: str) -> str:
        """Return the description in the definition of a phase, or the name of the phase if it has none."""
        found = self.registry.get(phase) if self.registry is not None else None
        return found.description if found is not None and found.description else phase

    def obstacle(self, phase: str) -> tuple[bool, str]:
        """Return (True if the phase cannot be used and False if it can, why it is not called).

        The result is (False, "") if nothing hinders its calls.
        """
        key = phase.lower()
        if phase.startswith(BREAKPOINT):
            return False, ""
        if key not in self._notes:
            self._notes[key] = self._look(phase)
        return self._notes[key]

    def _look(self, phase: str) -> tuple[bool, str]:
        if self.registry is not None:
            found = self.registry.get(phase)
            if found is None:
                return True, f"the phase '{phase}' {NOT_LOADED}"
            reasons = self.registry.obstacles(found)
            if reasons:
                return True, reasons[0]
        pause = self._paused.get(phase.lower())
        return (False, f"paused by {pause.actor}: {pause.reason}") if pause is not None else (False, "")


NOTHING_KNOWN = KnownPhases(None, {})


def entries_of(
    snapshot: ClusterSnapshot,
    number: int,
    document: Mapping[str, Value],
    known: KnownPhases = NOTHING_KNOWN,
    *,
    only: Collection[str] | None = None,
) -> list[PhaseEntryView]:
    """Return an entry for every phase that the resource has ever been in, in the order of entering them.

    If the resource was in a phase several times, only the latest counts. ``only``: limits the result to these phases.
    """
    found: dict[str, PhaseEntryView] = {}
    stays = snapshot.stays_of(number)
    for stay in stays:
        is_past = stay is not stays[-1] or snapshot.is_superseded(stay, number)
        for phase in stay.phases if only is None else [one for one in stay.phases if one in only]:
            status = stay.status_of(phase, number)
            found.pop(phase, None)
            if status is not EntryStatus.PASSED:
                position = stay.phases[phase].first + stay.place(number)
                seen = _seen(status, is_past=is_past)
                (found[phase],) = entries_at(stay, phase, [position], [seen], [document], known)
    return list(found.values())


def _seen(status: EntryStatus, *, is_past: bool) -> EntryStatus:
    """Return the status as users see it.

    A phase that was not completed before the resource got another target is canceled (T13).
    """
    return EntryStatus.CANCELED if is_past and (status in NOT_DONE or status is EntryStatus.FAILED) else status


def entries_at(
    stay: Stay,
    phase: str,
    positions: Sequence[int],
    statuses: Sequence[EntryStatus],
    documents: Iterable[Mapping[str, Value]],
    known: KnownPhases,
) -> list[PhaseEntryView]:
    """Return the views of one phase's entries in a stay.

    ``positions``: their positions in the graph. ``statuses``, ``documents``: their statuses and the stored documents of
    their resources, in the same order. ``known``: descriptions and obstacles of phases.
    """
    notes, runs, state, entered_at = stay.notes, stay.runs(phase), stay.state, stay.at
    description = known.description(phase)
    is_unusable, why = known.obstacle(phase)
    waiting_for = stay.waiting_for(
        [at for at, status in zip(positions, statuses, strict=True) if status in WAITS_FOR_OTHERS]
    )
    made = []
    for position, status, document in zip(positions, statuses, documents, strict=True):
        note, run = notes.get(position), runs(position)
        is_kept_up = status in MAY_BE_KEPT_UP
        made.append(
            PhaseEntryView(
                phase,
                "Blocked" if is_unusable and is_kept_up else WORDS[status],
                state,
                message_of(note),
                description,
                entered_at,
                run.started_at,
                run.ended_at,
                due_of(phase, note.due, note.result) if note is not None and status is EntryStatus.SLEEPING else 0,
                run.count,
                note.generation + 1 if note is not None else 1,
                run.run,
                waiting_for.get(position, NOTHING),
                why if is_kept_up else "",
                data_in(document, phase) if document else NO_DATA,
            )
        )
    return made


def message_of(note: NoteRow | None) -> str:
    """Return the last message of the plugin about an entry: a result or the progress; "" if there is none."""
    if note is None:
        return ""
    told = veiled(note.result.get("message")) if isinstance(note.result, dict) else None
    return note.message or (told if isinstance(told, str) else "")
