"""All entries of all graphs in flat columns, and the one rule that changes their statuses.

``change`` sets statuses and propagates the change of their contributions along the edges, wave by wave, until
nothing changes. That one act is release, skip, retry, cancel and late applicability. Results are gathered
in lists that the scheduler empties: ``released`` (now waiting), ``passed`` (absent entries let through),
and the pages that must be written.

Graphs are stored one after the other (``GraphSlot.base`` ... ``GraphSlot.end``); a dropped graph leaves a hole. A large graph of
the same size takes its place, so that resources that advance in calls of equal size never make the columns grow.
``compact`` closes the remaining holes.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine import propagate_vector
from phaseline.engine.arena_layout import (
    COLUMNS,
    SLOT_COLUMNS,
    GraphSlot,
    NewGraph,
    PolicyRows,
    joined,
    layout,
    one_page,
    stretches,
    written,
)
from phaseline.engine.columns import Columns
from phaseline.engine.dependency_counts import PIECE
from phaseline.engine.propagate_scalar import FEW, Cells, judge_few, run_one, set_few
from phaseline.engine.status_transitions import (
    ANY,
    BLOCKED,
    COMPLETED,
    ENDED,
    GATE,
    IS_ACTIVE,
    PASSED,
    RUNNING,
    SKIPPED,
    WAITING,
    WAS_LET_THROUGH,
    one_of,
    ruled_status,
)
from phaseline.lang.arrays import as_slice, every, some, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from phaseline.engine.stories import Stories
    from phaseline.model.execution.events import PageWritten
    from phaseline.model.graph.graph import Graph, Policy

Wave = np.ndarray | list[int]
"""Positions, or their new statuses: a column, or a few plain numbers."""

LEFT = one_of(BLOCKED, WAITING, SKIPPED)
"""[status] -> the entry has not begun."""
JOINS = ANY | ENDED
"""Milestones that may pass with unmet needs."""
LARGE = 256
"""Graphs with at least this many entries are added alone: joining their columns to others would copy them once more."""
NOTHING: tuple[list[int], list[int]] = [], []
"""A wave without changes, which ends the propagation."""
ONCE_BEGUN = np.uint8(255 - GATE)
"""Marks that an entry keeps once it was called: it applies, and each retry calls it again."""


def are_large(sizes: Sequence[int]) -> bool:
    """True for graphs that are better added and begun one by one."""
    return sum(sizes) >= LARGE * len(sizes)


class Arena:
    """Columns over all entries; the only mutable state besides lanes and open batches."""

    status: np.ndarray
    marks: np.ndarray
    kind: np.ndarray
    subject: np.ndarray
    policy: np.ndarray
    unmet: np.ndarray
    lost: np.ndarray
    needs: np.ndarray
    attempts: np.ndarray
    generations: np.ndarray
    due: np.ndarray
    owner: np.ndarray
    end: np.ndarray

    def __init__(self) -> None:
        """An arena without entries."""
        self._entries = Columns(COLUMNS)
        self._edges = Columns({"idx": np.int32})
        self._graphs = Columns(SLOT_COLUMNS)
        self._pages = Columns({"dirty": np.bool_})
        self._policies = PolicyRows()
        self.slots: dict[int, GraphSlot] = {}
        self.order: list[GraphSlot] = []
        self.released: list[np.ndarray] = []
        self.passed: list[np.ndarray] = []
        self.touched: set[int] = set()
        self.dropped: list[int] = []
        self.stories: Stories | None = None
        self._held = 0
        self._holes: dict[tuple[int, int], list[GraphSlot]] = {}
        self._has_ended = False
        self.sleep_changes = 0
        self.few_dirty: set[int] = set()
        self._many_dirty = False
        self._expose()

    def _expose(self) -> None:
        vars(self).update(self._entries.views())
        self.idx = self._edges.views()["idx"]
        graphs = self._graphs.views()
        self.slot_base, self.slot_open, self.slot_unsure = graphs["base"], graphs["open"], graphs["unsure"]
        self.slot_execution, self.slot_first_page = graphs["execution"], graphs["first_page"]
        self.slot_graph, self.slot_deployment = graphs["graph"], graphs["deployment"]
        self.slot_policy_base = graphs["policy_base"]
        self.dirty = self._pages.views()["dirty"]
        self.cells = Cells(self)

    @property
    def policies(self) -> list[Policy]:
        """The policies that the column ``policy`` names."""
        return self._policies.rows

    def __len__(self) -> int:
        """The number of entries, holes included."""
        return self._entries.count

    def add(self, graphs: Sequence[NewGraph]) -> list[GraphSlot]:
        """Add graphs with all entries blocked, in holes or at the end, and return their slots; many cost hardly more than one."""
        if are_large([len(new.graph) for new in graphs]):
            slots = [self._add_large(new) for new in graphs]
        else:
            slots = self._behind_all(graphs)
            self._lay(slots, [new.graph for new in graphs])
        self._expose()
        return slots

    def _add_large(self, new: NewGraph) -> GraphSlot:
        """Add a graph in the hole of one with as many entries and edges, if there is one."""
        holes = self._holes.get((len(new.graph), len(new.graph.idx)))
        if not holes:
            (slot,) = self._behind_all([new])
            self._lay([slot], [new.graph])
            return slot
        gone = holes.pop()
        slot = self._slot(new, gone.number, gone.base, gone.first_page)
        self.order[gone.number] = slot
        first = int(self.end[gone.base - 1]) if gone.base else 0
        laid = layout([slot], [new.graph], first)
        self._entries.put(slot.base, len(new.graph), laid.entries)
        self._edges.put(first, len(laid.idx), {"idx": laid.idx})
        self._graphs.put(slot.number, 1, laid.graphs)
        self._hold(laid.entries["marks"])
        return slot

    def _lay(self, slots: Sequence[GraphSlot], graphs: Sequence[Graph]) -> None:
        """Append the columns of graphs."""
        laid = layout(slots, graphs, self._edges.count)
        marks = laid.entries["marks"]
        self._entries.extend(len(marks), laid.entries)
        self._edges.extend(len(laid.idx), {"idx": laid.idx})
        self._graphs.extend(len(slots), laid.graphs)
        self._hold(marks)

    def _hold(self, marks: np.ndarray) -> None:
        self._held += len(marks)
        self._has_ended |= bool(np.bitwise_or.reduce(marks) & ENDED)

    def _behind_all(self, graphs: Sequence[NewGraph]) -> list[GraphSlot]:
        """Slots at the end; the columns of their entries are not yet added."""
        base, page = self._entries.count, self._pages.count
        slots = []
        for number, new in enumerate(graphs, len(self.order)):
            slots.append(slot := self._slot(new, number, base, page))
            base, page = slot.end, page + slot.page_count
        self.order += slots
        self._pages.extend(page - self._pages.count, {"dirty": False})
        return slots

    def _slot(self, new: NewGraph, number: int, base: int, page: int) -> GraphSlot:
        """A slot at this place."""
        graph, graph_id, execution, deployment, functions = new
        slot = GraphSlot(
            graph_id, execution, deployment, graph.name, graph.steps, number, base, base + len(graph),
            page, self._policies.base_of(graph.policies), graph.policies, group=graph.group,
            bounds=graph.bounds, functions=functions,
        )  # fmt: skip
        self.slots[graph_id] = slot
        return slot

    def has_marks(self, positions: np.ndarray, bits: int) -> bool:
        """True if one of these entries has one of these marks."""
        if len(positions) == 1:
            return bool(self.cells.marks[positions.item()] & bits)
        return some((self.marks[as_slice(positions)] & bits) != 0)

    def number_of(self, positions: np.ndarray) -> int | np.ndarray:
        """The number of each entry's graph: one number if it is the same for all, otherwise a column."""
        if len(self.order) == 1:
            return 0
        if len(positions) == 1:
            return self.cells.number_of(positions.item())
        if len(positions) <= FEW:
            listed = positions.tolist()
            low, high = min(listed), max(listed)
        else:
            low, high = int(positions.min()), int(positions.max())
        first = self.cells.number_of(low)
        if high < self.order[first].end:
            return first
        found: np.ndarray = self.slot_base.searchsorted(positions, side="right") - 1
        return found

    def by_slot(self, positions: np.ndarray) -> Iterator[tuple[GraphSlot, np.ndarray]]:
        """Positions grouped by graph; each group keeps the order of its positions."""
        positions, numbers, cuts = self.grouped(positions)
        for number, (low, high) in zip(numbers, pairwise(cuts), strict=True):
            yield self.order[number], positions[low:high]

    def grouped(self, positions: np.ndarray) -> tuple[np.ndarray, list[int], list[int]]:
        """(positions ordered by graph, the numbers of the graphs, the first place of each group, with the end of the last)."""
        count = len(positions)
        if count <= 1:
            return positions, [self.cells.number_of(one) for one in positions.tolist()], [0, 1][: count + 1]
        numbers = self.number_of(positions)
        if isinstance(numbers, int):
            return positions, [numbers], [0, count]
        if some(numbers[1:] < numbers[:-1]):
            order = np.argsort(numbers, kind="stable")
            numbers, positions = numbers[order], positions[order]
        cuts = [0, *((numbers[1:] != numbers[:-1]).nonzero()[0] + 1).tolist()]
        return positions, numbers[cuts].tolist(), [*cuts, count]

    def edges_of(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(the first place of each entry's edges in ``idx``, their number)."""
        ends = self.end[positions]
        starts = np.where(positions > 0, self.end[positions - 1], 0)
        return starts, ends - starts

    def start(self, slots: Sequence[GraphSlot]) -> None:
        """Release every blocked entry of these graphs without unmet needs."""
        if are_large([slot.end - slot.base for slot in slots]):
            for slot in slots:
                self.change(self._beginning(slot.base, slot.end), BLOCKED)
        else:
            self.change(joined([self._beginning(low, high) for low, high in stretches(slots)], np.int64), BLOCKED)

    def _beginning(self, low: int, high: int) -> np.ndarray:
        """Blocked entries of a stretch whose status may change by their needs; the others need no check."""
        if high - low > PIECE:  # a mask of a whole large stretch would take as much memory as a column
            cuts = (*range(low, high, PIECE), high)
            return np.concatenate([self._beginning(*part).astype(np.int32) for part in pairwise(cuts)], dtype=np.int64)
        may = (self.unmet[low:high] == 0) | (self.lost[low:high] != 0) | ((self.marks[low:high] & JOINS) != 0)
        may &= self.status[low:high] == BLOCKED
        found: np.ndarray = may.nonzero()[0] + low
        return found

    def change(self, positions: np.ndarray, status: int | np.ndarray) -> None:
        """Give entries a new status and propagate all its consequences.

        An entry set to blocked at once gets the status that its needs determine. Milestones that wait for an end are checked
        when nothing else changes, because entries revived in the same change have not ended. A few entries are changed one
        by one.
        """
        wave: Wave = positions
        new: Wave | int = status
        candidates = positions if isinstance(status, int) and status == BLOCKED else None
        late: set[int] = set()
        while len(wave):
            if len(wave) <= FEW:
                few = wave if isinstance(wave, list) else wave.tolist()
                if self.cells.has_few_edges(few):
                    wave, new = self._move_few(few, new, candidates, late)
                    candidates = None
                    continue
            wave, new = self._move_many(np.asarray(wave, np.int64), new, candidates, late)
            candidates = None

    def _move_few(
        self,
        positions: list[int],
        new: Wave | int,
        candidates: np.ndarray | None,
        late: set[int],
    ) -> tuple[Wave, Wave | int]:
        """One wave of a change, entry by entry. Returns the positions and statuses of the next wave.

        ``candidates``: the needs of these entries themselves decide about their status.
        """
        after = [new] * len(positions) if isinstance(new, int) else new if isinstance(new, list) else new.tolist()
        felt = set_few(self, positions, after)
        if candidates is not None:
            felt.update(positions)
        if self._has_ended:
            marks = self.cells.marks
            late.update(position for position in felt if marks[position] & ENDED)
            felt -= late
        if not felt:
            return self._after([], [], late) if late else NOTHING
        if len(felt) > FEW:
            return self._after(*propagate_vector.judge_many(self, np.array(sorted(felt), np.int64)), late)
        return self._after(*judge_few(self, sorted(felt) if len(felt) > 1 else felt), late)

    def _move_many(
        self, positions: np.ndarray, new: Wave | int, candidates: np.ndarray | None, late: set[int]
    ) -> tuple[Wave, Wave | int]:
        """One wave of a change, as columns: the next positions and statuses."""
        moved = propagate_vector.set_many(self, positions, new if isinstance(new, int) else np.asarray(new, np.uint8))
        if candidates is not None:
            moved = unique(np.concatenate([moved, candidates])) if len(moved) else candidates
        if self._has_ended and len(moved):
            is_late = (self.marks[moved] & ENDED) != 0
            late.update(moved[is_late].tolist())
            moved = moved[~is_late]
        return self._after(*propagate_vector.judge_many(self, moved), late)

    def _after(self, wave: Wave, new: Wave | int, late: set[int]) -> tuple[Wave, Wave | int]:
        """The next wave; when nothing else changes, that of the milestones that wait for an end."""
        if late and not len(wave):
            ended = sorted(late)
            late.clear()
            return (
                judge_few(self, ended)
                if len(ended) <= FEW
                else propagate_vector.judge_many(self, np.array(ended, np.int64))
            )
        return wave, new

    def take_back(self, positions: np.ndarray) -> np.ndarray:
        """Block entries that were done, and entries that they let through. Returns all that are blocked now, each once.

        They are not judged yet (``change`` them to blocked for that). Dependents that wait, sleep or have
        passed are blocked, too; those in a call, or ended otherwise, stay unchanged (T19). An entry let through in the same
        turn and taken back before the scheduler has handled it counts as not let through.
        """
        taken: list[np.ndarray] = []
        while len(positions):
            taken.append(positions)
            felt = propagate_vector.set_many(self, positions, BLOCKED)
            ruled = ruled_status(self.unmet[felt], self.lost[felt], self.needs[felt], self.marks[felt])
            positions = felt[WAS_LET_THROUGH[self.status[felt]] & ~WAS_LET_THROUGH[ruled]]
        self.released, self.passed = self._still(self.released, WAITING), self._still(self.passed, PASSED)
        return unique(np.concatenate(taken)) if taken else positions

    def _still(self, chunks: list[np.ndarray], status: int) -> list[np.ndarray]:
        """The entries that still have this status."""
        return [left for chunk in chunks if len(left := chunk[self.status[chunk] == status])]

    def ends_to_await(self, positions: np.ndarray) -> np.ndarray:
        """Milestones that passed because one of these entries, or an entry lost with them, had ended.

        Only milestones with dependents that have not begun, or that are among these entries.
        """
        if not self._has_ended or not len(positions):
            return positions[:0]
        is_left = LEFT[self.status]
        is_left[positions] = True
        is_affected, is_taken = np.zeros(len(self), bool), np.zeros(len(self), bool)
        is_affected[positions] = True
        while len(positions):
            behind = unique(self._behind(positions)[0])
            status = self.status[behind]
            ends = behind[((self.marks[behind] & ENDED) != 0) & (status == PASSED)]
            waiting, counts = self._behind(ends)
            is_taken[ends.repeat(counts)[is_left[waiting]]] = True
            positions = behind[(status == SKIPPED) & ~is_affected[behind]]
            is_affected[positions] = True
        found: np.ndarray = is_taken.nonzero()[0]
        return found

    def _behind(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(dependents of these entries, in the order of the entries; the number of dependents of each entry)."""
        starts, counts = self.edges_of(positions)
        begin = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        return self.idx[begin + np.arange(len(begin))].astype(np.int64), counts

    def hand_over(self, positions: np.ndarray, batch: int) -> None:
        """Mark waiting entries as running in a batch, which changes no dependent and no page.

        A begun entry is finished: its condition is not evaluated any more (PD28).
        """
        if len(positions) <= FEW:
            for position in positions.tolist():
                run_one(self, position, batch)
            return
        where = as_slice(positions)
        if self.stories is not None:
            self.stories.see(positions, self.status[where], np.full(len(positions), RUNNING, np.uint8))
        self.status[where] = RUNNING
        self.marks[where] &= ONCE_BEGUN
        self.owner[where] = batch

    def mark_written(self, pages: slice | np.ndarray) -> None:
        """Mark pages, numbered over all graphs, to be written."""
        self.dirty[pages] = self._many_dirty = True
        self.sleep_changes += 1

    def pages(self) -> list[PageWritten]:
        """Pages that changed since the last call."""
        if not self.few_dirty and not self._many_dirty:
            return []
        few, self.few_dirty = sorted(self.few_dirty), set()
        if not self._many_dirty:
            first_page = self.cells.first_page
            status, order = self.cells.status, self.order
            return [one_page(order[bisect_right(first_page, page) - 1], page, status) for page in few]
        self.dirty[few] = True
        dirty = self.dirty.nonzero()[0]
        self.dirty[dirty] = self._many_dirty = False
        return written(self, dirty)

    def moves(self, slot: GraphSlot) -> bool:
        """True while an entry of a graph will change without an operator's decision about unsure ones."""
        if not self.cells.unsure[slot.number]:
            return bool(self.cells.open[slot.number])
        return some(IS_ACTIVE[self.status[slot.base : slot.end]])

    def is_done(self, slot: GraphSlot) -> bool:
        """True for a graph with every entry done and all pages written."""
        status = self.status[slot.base : slot.end]
        pages = range(slot.first_page, slot.first_page + slot.page_count)
        is_written = self.few_dirty.isdisjoint(pages) and not some(self.dirty[pages.start : pages.stop])
        return is_written and every((status == COMPLETED) | (status == PASSED))

    def drop(self, slot: GraphSlot) -> None:
        """Forget a graph without changes to come; its entries become a hole."""
        del self.slots[slot.graph_id]
        self.dropped.append(slot.graph_id)
        size = slot.end - slot.base
        self._held -= size
        if size >= LARGE:
            edges = int(self.end[slot.end - 1]) - (int(self.end[slot.base - 1]) if slot.base else 0)
            self._holes.setdefault((size, edges), []).append(slot)

    def hole_count(self) -> int:
        """The number of entries of dropped graphs."""
        return self._entries.count - self._held

    def gone_count(self) -> int:
        """The number of dropped graphs that still have a place, even without entries."""
        return len(self.order) - len(self.slots)

    def compact(self) -> np.ndarray:
        """Close the holes. No page may be dirty.

        Returns the new position of each old one, int64 (-1: gone), with a further -1 at the end, so that -1 maps to -1.
        """
        self._holes.clear()
        kept = [slot for slot in self.order if self.slots.get(slot.graph_id) is slot]
        keep = np.zeros(len(self), bool)
        for slot in kept:
            keep[slot.base : slot.end] = True
        moved = np.where(keep, np.cumsum(keep) - 1, -1)
        lengths = self.edges_of(np.arange(len(self)))[1]
        self.idx[:] = np.where(moved[self.idx] < 0, 0, moved[self.idx])
        self._edges.keep(np.repeat(keep, lengths))
        self._entries.keep(keep)
        self._graphs.keep(np.array([self.slots.get(slot.graph_id) is slot for slot in self.order], bool))
        self._pages = Columns({"dirty": np.bool_})
        self._policies = PolicyRows()
        self._expose()
        self.end[:] = np.cumsum(lengths[keep])
        base = 0
        for number, slot in enumerate(kept):
            size = slot.end - slot.base
            slot.number, slot.base, slot.end, slot.first_page = number, base, base + size, self._pages.count
            policy_base = self._policies.base_of(slot.policies)
            self.policy[base : slot.end] += policy_base - slot.policy_base
            slot.policy_base = policy_base
            self.slot_base[number], self.slot_first_page[number] = base, slot.first_page
            self.slot_policy_base[number] = policy_base
            self._pages.extend(slot.page_count, {"dirty": False})
            base += size
        self.order = kept
        self.touched.clear()
        self._expose()
        return np.append(moved, -1)
