"""Results of hook classes in an execution: their warnings, their decisions about instances, and their waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.deployments.hook_decisions import Decisions, add_decisions, warnings_of
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.pre_post import CLOSING, HOOKS, OPENING, UNDOING
from phaseline.model.graph.status import EntryStatus

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import GraphRow, NoteRow
    from phaseline.ports.execution_reads import ExecutionReads


@frozen
class Hooked:
    """Results of all hook classes of an execution.

    ``warnings`` and ``waits`` are texts of the form ``class: text``. ``decided``: what hook classes decided for
    instances.
    """

    warnings: Sequence[str]
    waits: Sequence[str]
    decided: Mapping[str, Mapping[str, Value]]


@frozen
class WaitingHook:
    """A hook class that has asked to be called again later. ``phase``: name of the phase that calls the class."""

    graph: int
    position: int
    phase: str
    note: NoteRow


def hooked(store: ExecutionReads, graphs: Sequence[GraphRow]) -> Hooked:
    """Return the results of the hook classes in the given graphs of an execution."""
    warnings: list[str] = []
    decided: Decisions = {}
    for graph in _of_hooks(store, graphs):
        phases = {step.first: step.phase for step in store.graph(graph.id).steps}
        for note in store.notes(graph.id):
            warnings += [f"{_class(phases[note.position])}: {text}" for text in warnings_of(note.result)]
            add_decisions(decided, [note.result])
    waits = [f"{_class(one.phase)}: {one.note.message}" for one in waiting_hooks(store, graphs)]
    return Hooked(warnings, waits, decided)


def waiting_hooks(store: ExecutionReads, graphs: Sequence[GraphRow], *, awake: bool = False) -> list[WaitingHook]:
    """Return the hook classes that asked to be called again later and sleep until then.

    ``awake``: also return those that are being called again now; their notes have the data that they stored before.
    """
    found = []
    for graph in _of_hooks(store, graphs):
        statuses = store.statuses(graph.id)
        is_meant = statuses < EntryStatus.UNSURE if awake else statuses == EntryStatus.SLEEPING
        asleep = set(np.flatnonzero(is_meant).tolist())
        if asleep:
            phases = {step.first: step.phase for step in store.graph(graph.id).steps}
            notes = [note for note in store.notes(graph.id) if note.position in asleep]
            found += [WaitingHook(graph.id, note.position, phases[note.position], note) for note in notes]
    return found


def plan_waited_for(data: object) -> str:
    """Return the digest of the plan whose approval a hook waits for, or "" if the hook waits for anything else.

    ``data``: the data that the hook stored.
    """
    found = data.get("plan") if isinstance(data, dict) else None
    return found if isinstance(found, str) else ""


def _of_hooks(store: ExecutionReads, graphs: Sequence[GraphRow]) -> list[GraphRow]:
    return [
        graph
        for graph in graphs
        if is_of_hooks(graph.name) and any(step.phase.startswith(HOOKS) for step in store.graph(graph.id).steps[:1])
    ]


def is_of_hooks(name: str) -> bool:
    """Return True for the name of a round that may call hook classes; it may have stage tasks instead."""
    return name.startswith((OPENING, CLOSING, UNDOING))


def _class(phase: str) -> str:
    """Return the name of the hook class that a phase calls.

    >>> _class("hooks.pre.quota")
    'quota'
    """
    return phase.split(".", 2)[-1]
