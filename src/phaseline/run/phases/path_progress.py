"""Progress of the resources of a ``reach`` execution, from its graphs: which continue, and which have not arrived."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution.execution import Verdict
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, Mark
from phaseline.model.resources.resources import REMOVED
from phaseline.model.resources.state_graph_names import state_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.engine.arena import Arena
    from phaseline.engine.arena_layout import GraphSlot

PASSED, FAILED = int(EntryStatus.PASSED), int(EntryStatus.FAILED)
EXIT = int(Mark.EXIT)
MOST_TOLD = 5
"""The most groups of resources that a verdict lists as not arrived."""


def left_behind(
    slots: Sequence[GraphSlot], arena: Arena, subjects: np.ndarray
) -> tuple[np.ndarray, list[tuple[GraphSlot, np.ndarray]]]:
    """Return (subjects in no graph, [(graph, subjects that passed its exit and are in no later graph), ...]).

    ``slots`` are in the order in which the graphs were made; ``subjects`` are ascending.
    """
    latest = np.full(len(subjects), -1, np.int32)
    for number, slot in enumerate(slots):
        first = slot.steps[0]
        own = arena.subject[slot.base + first.first : slot.base + first.first + first.count]
        places = np.minimum(np.searchsorted(subjects, own), len(subjects) - 1) if len(subjects) else own[:0]
        latest[places[subjects[places] == own[: len(places)]]] = number
    order = np.argsort(latest, kind="stable")
    cuts = np.searchsorted(latest[order], np.arange(len(slots) + 1)).tolist()
    between: list[tuple[GraphSlot, np.ndarray]] = []
    for number, slot in enumerate(slots):
        mine = subjects[order[cuts[number] : cuts[number + 1]]]
        last = slot.steps[-1]
        low, high = slot.base + last.first, slot.base + last.first + last.count
        if not len(mine) or not last.count or not arena.marks[low] & EXIT:
            continue
        gone = arena.subject[low:high][arena.status[low:high] == PASSED]
        gone = mine[np.isin(mine, gone)]
        if len(gone):
            between.append((slot, gone))
    return subjects[latest == -1], between


def verdict_of(
    target: str,
    subjects: np.ndarray,
    loaded: LoadedDeployment,
    slots: Sequence[GraphSlot],
    arena: Arena,
    *,
    is_canceled: bool,
) -> Verdict:
    """Return the verdict of an execution in which nothing can move any more."""
    states = loaded.states[subjects]
    names = {number: state_name(number, loaded.state_names) for number in np.unique(states).tolist()}
    arrived = np.array([(number == REMOVED) if not target else names[number] == target for number in states.tolist()])
    away = subjects[~arrived] if len(subjects) else subjects
    if not len(away):
        return Verdict(ExecutionStatus.COMPLETED)
    goal = target or names.get(REMOVED, "removed")
    reason = f"{len(away)} of {len(subjects)} resources have not reached {goal}"
    where = Counter(names[number] for number in loaded.states[away].tolist())
    parts = [f"{count} in {state}" for state, count in where.most_common(MOST_TOLD)]
    failed = _failed(slots, arena, away)
    parts += [f"{count} failed {phase}" for phase, count in failed.most_common(MOST_TOLD)]
    status = ExecutionStatus.CANCELED if is_canceled else ExecutionStatus.FAILED
    return Verdict(status, f"{reason}: {', '.join(parts)}")


def _failed(slots: Sequence[GraphSlot], arena: Arena, away: np.ndarray) -> Counter[str]:
    """Return {phase: number of these subjects that failed it}."""
    found: Counter[str] = Counter()
    for slot in slots:
        for step in slot.steps:
            name = phase_of(step.phase)
            low = slot.base + step.first
            failed = arena.subject[low : low + step.count][arena.status[low : low + step.count] == FAILED]
            count = int(np.isin(failed, away).sum())
            if name is not None and count:
                found[name] += count
    return found
