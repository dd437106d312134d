"""Change the status of many entries with whole columns; has the same result as ``propagate_scalar``, which a test checks.

Adjacent entries, such as those of a phase that were called together, are read and written as a slice, because that is
faster than by position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.propagate_scalar import MOVES, STORED, TELLS, WHEN_TOLERANT
from phaseline.engine.status_transitions import (
    BLOCKED,
    IS_STORED,
    MAY_MOVE,
    PASSED,
    SKIPPED,
    TOLD,
    UNSURE,
    WAITING,
    change_number,
    ruled_status,
)
from phaseline.lang.arrays import as_slice, every, some, unique
from phaseline.model.graph.status import PAGE_ENTRIES

if TYPE_CHECKING:
    from phaseline.engine.arena import Arena


def set_many(arena: Arena, positions: np.ndarray, new: int | np.ndarray) -> np.ndarray:
    """Give entries new statuses, and return the dependents whose counters of needs changed, ascending."""
    where = as_slice(positions)
    old = arena.status[where].copy()
    arena.status[where] = new
    if isinstance(new, int) and every(old == old[0]):  # the common case: all equal
        told = _set_alike(arena, positions, where, old.item(0), new)
        if told is not None:
            return told
    after = np.full(len(positions), new, np.uint8) if isinstance(new, int) else new
    if arena.stories is not None:
        arena.stories.see(positions, old, after)
    _note(arena, positions, old, after)
    change = change_number(old, after, arena.marks[where])
    if every(change == change[0]):
        unmet, lost = TOLD[:, change[0]].tolist()
        return _tell(arena, positions, where, unmet, lost)
    unmets, losts = TOLD[0][change], TOLD[1][change]
    felt = (unmets != 0) | (losts != 0)
    return _tell_each(arena, positions[felt], unmets[felt], losts[felt])


def _set_alike(
    arena: Arena, positions: np.ndarray, where: slice | np.ndarray, before: int, after: int
) -> np.ndarray | None:
    """Change entries that all have the status ``before`` to ``after``, and return the changed dependents.

    Return None and change nothing if the effect on dependents differs between tolerant and other entries.
    """
    told = TELLS[before][after]
    if told != TELLS[before][after + WHEN_TOLERANT]:
        return None
    count = len(positions)
    if arena.stories is not None:
        arena.stories.see(positions, np.full(count, before, np.uint8), np.full(count, after, np.uint8))
    if STORED[before] or STORED[after]:
        number = arena.number_of(positions)
        if isinstance(where, slice) and isinstance(number, int):
            slot = arena.order[number]
            first, last = where.start - slot.base, where.stop - 1 - slot.base
            pages = slice(slot.first_page + first // PAGE_ENTRIES, slot.first_page + last // PAGE_ENTRIES + 1)
            arena.slot_open[number] += count * (MOVES[after] - MOVES[before])
            arena.slot_unsure[number] += count * ((after == UNSURE) - (before == UNSURE))
            arena.mark_written(pages)
            arena.touched.add(number)
        else:
            _note(arena, positions, np.full(count, before, np.uint8), np.full(count, after, np.uint8))
    return _tell(arena, positions, where, *told)


def _note(arena: Arena, positions: np.ndarray, old: np.ndarray, new: np.ndarray) -> None:
    """Update the counts of open and unsure entries of the graphs, and mark the pages to be written."""
    matters = IS_STORED[new] | IS_STORED[old]
    if not every(matters):
        if not some(matters):
            return
        positions, old, new = positions[matters], old[matters], new[matters]
    numbers = arena.number_of(positions)
    opened = MAY_MOVE[new] - MAY_MOVE[old]
    unsure = (new == UNSURE).astype(np.int8) - (old == UNSURE)
    arena.mark_written(arena.slot_first_page[numbers] + (positions - arena.slot_base[numbers]) // PAGE_ENTRIES)
    if isinstance(numbers, int):
        arena.slot_open[numbers] += opened.sum()
        arena.slot_unsure[numbers] += unsure.sum()
        arena.touched.add(numbers)
        return
    firsts = np.concatenate(([0], (numbers[1:] != numbers[:-1]).nonzero()[0] + 1))
    mine = numbers[firsts]  # a graph may come twice if the entries are unordered
    np.add.at(arena.slot_open, mine, np.add.reduceat(opened, firsts, dtype=np.int64))
    np.add.at(arena.slot_unsure, mine, np.add.reduceat(unsure, firsts, dtype=np.int64))
    arena.touched.update(mine.tolist())


def _tell(arena: Arena, positions: np.ndarray, where: slice | np.ndarray, unmet: int, lost: int) -> np.ndarray:
    """Add ``unmet`` and ``lost`` to the counters of all dependents of these entries.

    Return the dependents, ascending.
    """
    if not unmet and not lost:
        return positions[:0]
    if isinstance(where, slice):  # their edges are neighbours, too
        first = int(arena.end[where.start - 1]) if where.start else 0
        targets = arena.idx[first : int(arena.end[where.stop - 1])].copy()
    else:
        targets = arena.idx[_edges(arena, positions)[0]]
    return _add(arena, targets, unmet, lost)


def _tell_each(arena: Arena, positions: np.ndarray, unmet: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Add to the counters of all dependents: ``unmet[i]`` and ``lost[i]`` for each dependent of the i-th entry.

    Return the dependents, ascending.
    """
    edges, lengths = _edges(arena, positions)
    return _add(arena, arena.idx[edges], np.repeat(unmet, lengths), np.repeat(lost, lengths))


def _edges(arena: Arena, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices in ``idx`` of the edges from these entries, number of edges of each entry)."""
    starts, lengths = arena.edges_of(positions)
    if every(lengths == 1):
        return starts, lengths
    offsets = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    return offsets + np.arange(int(lengths.sum())), lengths


def _add(arena: Arena, targets: np.ndarray, unmet: int | np.ndarray, lost: int | np.ndarray) -> np.ndarray:
    """Add ``unmet`` and ``lost`` to the counters of the targets; return the targets, each once, ascending.

    ``unmet`` and ``lost`` are each one number for all targets, or an array with one number for each target.
    """
    if not len(targets):
        return targets
    has_lost = bool(lost) if isinstance(lost, int) else some(lost != 0)
    if every(targets[1:] > targets[:-1]):
        where = as_slice(targets)
        arena.unmet[where] += unmet
        if has_lost:
            arena.lost[where] += lost
        return targets
    np.add.at(arena.unmet, targets, np.int32(unmet))  # a type other than the column's takes forty times as long
    if has_lost:
        np.add.at(arena.lost, targets, np.int32(lost))
    return unique(targets)


def judge_many(arena: Arena, moved: np.ndarray) -> tuple[np.ndarray, int | np.ndarray]:
    """Determine the status of blocked and skipped entries from their needs; return those that change, and their new status.

    Add entries that become waiting or passed to ``arena.released`` and ``arena.passed``.
    """
    if not len(moved):
        return moved, 0
    where = as_slice(moved)
    old = arena.status[where]
    still = (old == BLOCKED) | (old == SKIPPED)
    if not every(still):
        moved = moved[still]
        where, old = moved, old[still]
    new = ruled_status(arena.unmet[where], arena.lost[where], arena.needs[where], arena.marks[where])
    differs = new != old
    if not every(differs):
        moved, new = moved[differs], new[differs]
    if not len(moved):
        return moved, 0
    for status, gathered in ((WAITING, arena.released), (PASSED, arena.passed)):
        alike = new == status
        if every(alike):
            gathered.append(moved)
            return moved, status
        if some(alike):
            gathered.append(moved[alike])
    return moved, new
