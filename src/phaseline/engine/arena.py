"""All entries of all graphs in flat columns, and the rule by which a change of one entry's status changes others.

``Arena.change`` sets statuses, then the statuses of the entries that depend on these, and so on, wave by wave, until no
further status changes. Release, skip, retry and cancel of entries work by this rule, and so do phases whose constraint
becomes true later. It collects its results in lists that the scheduler empties: ``released`` (entries that are now
waiting), ``passed`` (absent entries that passed), and the pages to be written.

Graphs are stored one after the other (``GraphSlot.base`` ... ``GraphSlot.end``); a dropped graph leaves a hole. A new
large graph of equal size fills the hole, so that the columns do not grow while graphs of equal size replace each other.
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
"""Positions (or new statuses) of the entries that change in one wave: an array for many entries, a list for few."""

LEFT = one_of(BLOCKED, WAITING, SKIPPED)
"""[status] -> True if an entry with this status has not begun."""
JOINS = ANY | ENDED
"""Marks of milestones that may pass although some of their needs are unmet."""
LARGE = 256
"""Average number of entries from which graphs are added one by one, as joining their columns costs another copy."""
NOTHING: tuple[list[int], list[int]] = [], []
"""An empty wave (positions, statuses), which ends the propagation of a change."""
ONCE_BEGUN = np.uint8(255 - GATE)
"""Marks that an entry keeps when it is called: all except ``GATE``, so that its condition is not evaluated again."""


def are_large(sizes: Sequence[int]) -> bool:
    """Return True if graphs with these numbers of entries are better added and begun one by one."""
    return sum(sizes) >= LARGE * len(sizes)


class Arena:
    """The statuses and other columns of all entries.

    The other mutable state of the engine is in its lanes, open batches, open executions and sleepers.
    """

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
        """Create an arena without entries."""
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
        """The policies, in the order of the row numbers that are stored in the column ``policy``."""
        return self._policies.rows

    def __len__(self) -> int:
        """Return the number of entries, including those in holes."""
        return self._entries.count

    def add(self, graphs: Sequence[NewGraph]) -> list[GraphSlot]:
        """Add graphs with all their entries blocked, and return their slots.

        Adding many small graphs in one call costs little more than adding one.
        """
        if are_large([len(new.graph) for new in graphs]):
            slots = [self._add_large(new) for new in graphs]
        else:
            slots = self._behind_all(graphs)
            self._lay(slots, [new.graph for new in graphs])
        self._expose()
        return slots

    def _add_large(self, new: NewGraph) -> GraphSlot:
        """Add one graph: in the hole of a dropped graph with equally many entries and edges, otherwise at the end."""
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
        """Append the columns of these graphs to the columns of the arena; ``slots[i]`` is the slot of ``graphs[i]``."""
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
        """Create slots for graphs at the end of the arena, without adding the columns of the graphs."""
        base, page = self._entries.count, self._pages.count
        slots = []
        for number, new in enumerate(graphs, len(self.order)):
            slots.append(slot := self._slot(new, number, base, page))
            base, page = slot.end, page + slot.page_count
        self.order += slots
        self._pages.extend(page - self._pages.count, {"dirty": False})
        return slots

    def _slot(self, new: NewGraph, number: int, base: int, page: int) -> GraphSlot:
        """Create the slot of a graph: the ``number``-th graph, its first entry at ``base``, its first page at ``page``."""
        graph, graph_id, execution, deployment, functions = new
        slot = GraphSlot(
            graph_id, execution, deployment, graph.name, graph.steps, number, base, base + len(graph),
            page, self._policies.base_of(graph.policies), graph.policies, group=graph.group,
            bounds=graph.bounds, functions=functions,
        )  # fmt: skip
        self.slots[graph_id] = slot
        return slot

    def has_marks(self, positions: np.ndarray, bits: int) -> bool:
        """Return True if at least one of the entries has at least one of the marks in ``bits``."""
        if len(positions) == 1:
            return bool(self.cells.marks[positions.item()] & bits)
        return some((self.marks[as_slice(positions)] & bits) != 0)

    def number_of(self, positions: np.ndarray) -> int | np.ndarray:
        """Return the index of each entry's graph in ``order``: one number if all have the same graph, else an array."""
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
        """Yield (slot of a graph, those positions that belong to it, in the given order) for each graph."""
        positions, numbers, cuts = self.grouped(positions)
        for number, (low, high) in zip(numbers, pairwise(cuts), strict=True):
            yield self.order[number], positions[low:high]

    def grouped(self, positions: np.ndarray) -> tuple[np.ndarray, list[int], list[int]]:
        """Return (positions ordered by graph, numbers of the graphs, cuts).

        The positions ``cuts[i]:cuts[i + 1]`` belong to the i-th of these graphs.
        """
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
        """Return (index in ``idx`` of each entry's first edge, number of its edges); ``idx`` has the edges' targets."""
        ends = self.end[positions]
        starts = np.where(positions > 0, self.end[positions - 1], 0)
        return starts, ends - starts

    def start(self, slots: Sequence[GraphSlot]) -> None:
        """Release every blocked entry of these graphs that has no unmet need."""
        if are_large([slot.end - slot.base for slot in slots]):
            for slot in slots:
                self.change(self._beginning(slot.base, slot.end), BLOCKED)
        else:
            self.change(joined([self._beginning(low, high) for low, high in stretches(slots)], np.int64), BLOCKED)

    def _beginning(self, low: int, high: int) -> np.ndarray:
        """Return the blocked entries from ``low`` to ``high`` - 1 whose needs may already give them another status."""
        if high - low > PIECE:  # a mask of a whole large stretch would take as much memory as a column
            cuts = (*range(low, high, PIECE), high)
            return np.concatenate([self._beginning(*part).astype(np.int32) for part in pairwise(cuts)], dtype=np.int64)
        may = (self.unmet[low:high] == 0) | (self.lost[low:high] != 0) | ((self.marks[low:high] & JOINS) != 0)
        may &= self.status[low:high] == BLOCKED
        found: np.ndarray = may.nonzero()[0] + low
        return found

    def change(self, positions: np.ndarray, status: int | np.ndarray) -> None:
        """Give entries a new status, then change all entries whose status follows from it, wave by wave.

        An entry that is set to blocked immediately gets the status that its needs determine. Milestones with the mark
        ``ENDED`` are checked last, because entries that this change revives have not ended. Waves of few entries are
        handled entry by entry, which is faster.
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
        """Carry out one wave of a change, entry by entry; return the positions and statuses of the next wave.

        ``candidates`` are entries whose own status is determined again from their needs.
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
        """Carry out one wave of a change with whole arrays; return the positions and statuses of the next wave."""
        moved = propagate_vector.set_many(self, positions, new if isinstance(new, int) else np.asarray(new, np.uint8))
        if candidates is not None:
            moved = unique(np.concatenate([moved, candidates])) if len(moved) else candidates
        if self._has_ended and len(moved):
            is_late = (self.marks[moved] & ENDED) != 0
            late.update(moved[is_late].tolist())
            moved = moved[~is_late]
        return self._after(*propagate_vector.judge_many(self, moved), late)

    def _after(self, wave: Wave, new: Wave | int, late: set[int]) -> tuple[Wave, Wave | int]:
        """Return the next wave. If it is empty, return the wave of the milestones in ``late``, which are checked last."""
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
        """Set done entries, and dependents that could start because of them, to blocked; return these, each once.

        Waiting, sleeping and passed dependents are blocked. Dependents that are being called or have ended otherwise
        stay unchanged (T19). The needs of blocked entries are not checked here: for that the caller must ``change`` the
        returned entries to blocked. An entry that is released and taken back in one turn counts as never released.
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
        """Return the entries in the arrays ``chunks`` that still have this status."""
        return [left for chunk in chunks if len(left := chunk[self.status[chunk] == status])]

    def ends_to_await(self, positions: np.ndarray) -> np.ndarray:
        """Return milestones that passed because one of these entries, or an entry skipped because of it, had ended.

        Return only milestones (``ENDED``) with a dependent that has not begun or is itself in ``positions``.
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
        """Return (dependents of these entries, in the order of the entries; number of dependents of each entry)."""
        starts, counts = self.edges_of(positions)
        begin = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        return self.idx[begin + np.arange(len(begin))].astype(np.int64), counts

    def hand_over(self, positions: np.ndarray, batch: int) -> None:
        """Mark waiting entries as running in a batch. No dependent changes, and no page, as pages do not show running.

        From now on the conditions of these entries are not evaluated any more (PD28).
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
        """Mark pages as changed, so that they will be written; page numbers count over all graphs."""
        self.dirty[pages] = self._many_dirty = True
        self.sleep_changes += 1

    def pages(self) -> list[PageWritten]:
        """Return the pages that changed since this method was last called."""
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
        """Return True while an entry of a graph can still change without a user's decision about unsure entries."""
        if not self.cells.unsure[slot.number]:
            return bool(self.cells.open[slot.number])
        return some(IS_ACTIVE[self.status[slot.base : slot.end]])

    def is_done(self, slot: GraphSlot) -> bool:
        """Return True if every entry of a graph is completed or passed, and no page of it remains to be written."""
        status = self.status[slot.base : slot.end]
        pages = range(slot.first_page, slot.first_page + slot.page_count)
        is_written = self.few_dirty.isdisjoint(pages) and not some(self.dirty[pages.start : pages.stop])
        return is_written and every((status == COMPLETED) | (status == PASSED))

    def drop(self, slot: GraphSlot) -> None:
        """Remove a graph that will not change any more; its entries become a hole."""
        del self.slots[slot.graph_id]
        self.dropped.append(slot.graph_id)
        size = slot.end - slot.base
        self._held -= size
        if size >= LARGE:
            edges = int(self.end[slot.end - 1]) - (int(self.end[slot.base - 1]) if slot.base else 0)
            self._holes.setdefault((size, edges), []).append(slot)

    def hole_count(self) -> int:
        """Return the number of entries that belong to dropped graphs."""
        return self._entries.count - self._held

    def gone_count(self) -> int:
        """Return the number of dropped graphs that are still in ``order``, including graphs without entries."""
        return len(self.order) - len(self.slots)

    def compact(self) -> np.ndarray:
        """Close the holes. All changed pages must have been written before.

        Return [old position] -> new position (int64), or -1 for a removed entry. A last element -1 is added, so that
        the index -1 also gives -1.
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
