"""The only entry point of the engine: it takes events and the time and returns a decision.

``handle`` applies all events in order, then checks once which graphs have settled, and once which entries may be called.
Nothing else changes its state. Single events are handled in ``event_handlers`` (results of calls) and
``request_handlers`` (requests of users and planners); this module holds the state and the turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine import request_handlers as requests
from phaseline.engine import stories
from phaseline.engine.arena import Arena
from phaseline.engine.event_handlers import FACTS, expected
from phaseline.engine.lanes import function_shelves
from phaseline.engine.lanes.lanes import GATHER_MS, Lanes
from phaseline.engine.open_batches import OpenBatch, members_of
from phaseline.engine.policy_columns import PolicyTable
from phaseline.engine.propagate_scalar import FEW
from phaseline.engine.status_transitions import ANNOUNCE, ASKED, CONDITIONAL, EXIT, PASSED, WAITING
from phaseline.engine.timers import Sleepers
from phaseline.engine.turn_draft import TurnDraft
from phaseline.lang.arrays import as_slice, every, present, unique
from phaseline.model.execution.events import (
    Announce,
    Ask,
    Batch,
    BatchClosed,
    Dispatch,
    Evaluate,
    ExecutionChanged,
    Planned,
    Reattached,
    Restored,
    WakeAt,
)
from phaseline.model.graph.status import EntryStatus, ExecutionStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from phaseline.engine.arena_layout import GraphSlot, NewGraph
    from phaseline.engine.lanes.lanes import Lane
    from phaseline.engine.open_executions import OpenExecution
    from phaseline.model.execution.events import Decision, Event

RUNNING = ExecutionStatus.RUNNING
COMPACT_FROM = 10_000
"""Number of entries of dropped graphs from which on the arena is compacted."""


class Scheduler:
    """All open executions: their graphs in one arena, their waiting entries in lanes, and the open batches."""

    def __init__(self, *, next_batch: int = 1, checked: bool = False, compact_from: int = COMPACT_FROM) -> None:
        """Create a scheduler without executions; its batches are numbered from ``next_batch`` on.

        ``checked`` compares every change of status with ``status_transitions.TRANSITIONS`` and keeps the history of
        each entry. The arena is compacted when dropped graphs have more than ``compact_from`` entries.
        """
        self.arena = Arena()
        self.arena.stories = stories.Stories() if checked else None
        self.table = PolicyTable()
        self.lanes = Lanes(lambda operation, positions: function_shelves.functions_of(self.arena, operation, positions))
        self.sleepers = Sleepers()
        self.batches: dict[int, OpenBatch] = {}
        self.runs: dict[int, OpenExecution] = {}
        self.limited: dict[int, OpenExecution] = {}
        self.pondered: set[int] = set()
        """Executions that may not be running, or may have an open question to the planner; their graphs are checked in each turn."""
        self.awaiting: Mapping[int, Collection[int]] = {}
        """{graph: positions of entries that wait for another execution}; a cancel leaves those asleep."""
        self.restored: list[GraphSlot] = []
        self.planned: list[NewGraph] = []
        self._next_batch = next_batch
        self._compact_from = compact_from
        self._wake_at: int | None = None

    def handle(self, events: Sequence[Event], now: int) -> Decision:
        """Handle events at the time ``now`` (ms), and return the changes to store first and the commands to carry out after that.

        All ``Restored`` events must come first, directly followed by ``Reattached`` events for their batches; requests
        about them come later.
        """
        if self.arena.hole_count() + self.arena.gone_count() > self._compact_from:
            self._compact()
        if self.arena.stories is not None:
            self.arena.stories.now = now
        draft = TurnDraft(now)
        for index, event in enumerate(events):
            if self.restored and not isinstance(event, Restored | Reattached):
                self._start_restored(draft)
            if self.planned and type(event) is not Planned:
                self._start_planned(draft)
            fact = FACTS.get(type(event))
            if fact is not None:
                fact(self, draft, index, event)
            else:
                requests.apply(self, draft, event)
            if self.arena.passed or self.arena.released:
                self.follow(draft)
        if self.restored:
            self._start_restored(draft)
        if self.planned:
            self._start_planned(draft)
        if self.sleepers.are_due(now) or self.lanes.has_windows:
            self._wake(draft)
        if self.limited:
            self._stop_runs(draft)
        self._settle(draft)
        self._dispatch(draft)
        self._close_batches(draft)
        self._set_alarm(draft)
        if draft.exits:
            self._tell_exits(draft)
        return draft.decision(self.arena)

    def expects(self, batch: int, members: np.ndarray) -> np.ndarray:
        """Return for each of ``members`` whether it belongs to an open batch and has no outcome yet (bool array)."""
        return expected(self.batches.get(batch), members)

    def counts(self, graph: int) -> np.ndarray:
        """Return the number of entries by step and status (int64 [step, status]); empty for an unknown graph."""
        slot = self.arena.slots.get(graph)
        if slot is None:
            return np.zeros((0, len(EntryStatus)), np.int64)
        width = len(EntryStatus)
        sizes = np.fromiter((step.count for step in slot.steps), np.int64, len(slot.steps))
        cells = np.repeat(np.arange(len(sizes)) * width, sizes) + self.arena.status[slot.base : slot.end]
        return np.bincount(cells, minlength=len(sizes) * width).reshape(len(sizes), width)

    def _start_restored(self, draft: TurnDraft) -> None:
        """Release entries of restored graphs, after the batches to which running entries belong are known."""
        self.arena.start(self.restored)
        self.restored.clear()
        self.follow(draft)

    def _start_planned(self, draft: TurnDraft) -> None:
        """Add and begin all graphs that were planned in this turn, together."""
        planned, self.planned = self.planned, []
        self.arena.start(self.add(planned))
        self.follow(draft)

    def add(self, graphs: list[NewGraph]) -> list[GraphSlot]:
        """Add graphs, each as the last graph of its execution, and return their slots."""
        slots = self.arena.add(graphs)
        known = len(self.table.lane)
        if known < len(self.arena.policies):
            self.table.extend(self.arena.policies[known:])
            self.lanes.careful.update(self.table.lane[known:][~self.table.repeatable[known:]].tolist())
        for slot in slots:
            run = self.runs[slot.execution]
            slot.attempt = run.attempt
            run.graphs.append(slot.graph_id)
            if run.is_timed_out:  # its closing graphs have a time of their own
                run.ends_at = None
            if slot.bounds:
                self.limited[run.execution] = run
        self.arena.touched.update([slot.number for slot in slots])
        return slots

    def tally(self, graph: int) -> np.ndarray:
        """Return the number of entries of a graph by status (int64); zeros for an unknown graph."""
        slot = self.arena.slots.get(graph)
        status = self.arena.status[slot.base : slot.end] if slot is not None else self.arena.status[:0]
        return np.bincount(status, minlength=len(EntryStatus))

    def follow(self, draft: TurnDraft) -> None:
        """Handle entries that have just passed or been released.

        Record the states that their instances enter, announce passed entries, and put released entries into lanes.
        """
        arena = self.arena
        while arena.passed or arena.released:
            passed, arena.passed = arena.passed, []
            released, arena.released = arena.released, []
            for positions in passed:
                draft.enter(arena, self.table, positions, self.table.enter)
                draft.enter(arena, self.table, positions, self.table.leave)
                self.announce(draft, positions)
            for positions in released:
                self._admit(draft, positions)

    def announce(self, draft: TurnDraft, positions: np.ndarray) -> None:
        """Announce done entries that have the mark ``ANNOUNCE`` to listeners, and record exits for the planner."""
        if not self.arena.has_marks(positions, ANNOUNCE | EXIT):
            return
        marks = self.arena.marks[positions]
        for slot, mine in self.arena.by_slot(positions[(marks & ANNOUNCE) != 0]):
            draft.commands.append(Announce(slot.graph_id, (mine - slot.base).astype(np.int32)))
        draft.exits.append(positions[(marks & EXIT) != 0])

    def _tell_exits(self, draft: TurnDraft) -> None:
        """Ask the planner for the next graph of subjects that passed an exit, unless the exit was blocked again in this turn."""
        positions = unique(np.concatenate(draft.exits))
        positions = positions[self.arena.status[positions] == PASSED]
        for slot, mine in self.arena.by_slot(positions):
            if self.arena.slots.get(slot.graph_id) is slot:
                draft.commands.append(Ask(slot.execution, slot.graph_id, self.arena.subject[mine]))

    def _admit(self, draft: TurnDraft, positions: np.ndarray) -> None:
        """Put waiting entries into their lanes. Entries with a condition are first evaluated by the shell."""
        arena = self.arena
        if arena.has_marks(positions, CONDITIONAL):
            conditional = (arena.marks[positions] & CONDITIONAL) != 0
            self._evaluate(draft, positions[conditional], "applies")
            positions = positions[~conditional]
        self.admit_applicable(draft, positions)

    def admit_applicable(self, draft: TurnDraft, positions: np.ndarray) -> None:
        """Put entries without an open condition into their lanes. If a lane has a key, the shell first evaluates the key."""
        if len(positions) <= 1:
            for position in positions.tolist():
                self._admit_one(draft, positions, position)
            return
        numbers = self.table.lane[self.arena.policy[as_slice(positions)]]
        found = present(numbers)
        for number in found:
            mine = positions[numbers == number] if len(found) > 1 else positions
            spec = self.table.specs[number]
            if spec.key is not None:
                self._evaluate(draft, mine, "key", spec.key)
            else:
                self.enqueue(self.lanes.lane(number, spec, 0), mine)

    def _admit_one(self, draft: TurnDraft, positions: np.ndarray, position: int) -> None:
        """Put one entry into its lane; if the lane has a key, have the shell evaluate the key first."""
        cells = self.arena.cells
        number = self.table.lane.item(cells.policy[position])
        spec = self.table.specs[number]
        if spec.key is not None:
            self._evaluate(draft, positions, "key", spec.key)
        else:
            slot = self.arena.order[cells.number_of(position)]
            self.lanes.lane(number, spec, 0).fresh.put(slot.execution, positions)

    def _evaluate(self, draft: TurnDraft, positions: np.ndarray, what: str, expression: str = "") -> None:
        self.arena.marks[positions] |= ASKED
        for slot, mine in self.arena.by_slot(positions):
            asked = (mine - slot.base).astype(np.int32)
            draft.commands.append(Evaluate(slot.graph_id, asked, "key" if what == "key" else "applies", expression))

    def enqueue(self, lane: Lane, positions: np.ndarray) -> None:
        """Add at least one entry to a lane, to the queues of their executions, in the order of the positions."""
        positions, numbers, cuts = self.arena.grouped(positions)
        order = self.arena.order
        if len(numbers) > 1:
            lane.fresh.put_crowd([order[number].execution for number in numbers], positions, cuts)
        else:
            lane.fresh.put(order[numbers[0]].execution, positions)

    def _wake(self, draft: TurnDraft) -> None:
        due = self.sleepers.due(self.arena, draft.now)
        if len(due):
            self.wake(draft, due)
        if not self.lanes.has_windows:
            return
        for lane in self.lanes.about_to_begin(draft.now):
            soon = self.sleepers.soon(self.arena, draft.now + lane.spec.coalesce_ms)
            specs = [self.table.specs[number] for number in self.table.lane[self.arena.policy[soon]].tolist()]
            along = soon[np.array([spec == lane.spec for spec in specs], bool)]
            if len(along):
                self.wake(draft, along)

    def wake(self, draft: TurnDraft, positions: np.ndarray) -> None:
        """Put sleeping entries into their lanes."""
        self.arena.change(positions, WAITING)
        self.admit_applicable(draft, positions)

    def _stop_runs(self, draft: TurnDraft) -> None:
        """Time out executions whose time is over; cancel unbegun entries of executions with too many failures."""
        for run in self.limited.values():
            if run.ends_at is not None and run.ends_at <= draft.now:
                requests.time_out(self, draft, run)
            reason = run.stop_reason(self.arena, draft.now)
            if reason:
                run.is_stopped = True
                requests.cancel_unbegun(self, run, None)
                self.set_status(draft, run, run.status, f"stopped: {reason}")
        self.follow(draft)

    def _settle(self, draft: TurnDraft) -> None:
        """Ask the planner about graphs in which no entry can change any more; unsure entries need a user's decision first."""
        cells, order, slots = self.arena.cells, self.arena.order, self.arena.slots
        asked_before = list(draft.questions)
        for number in self._looked_at():
            slot = order[number]
            if slots.get(slot.graph_id) is not slot:
                continue
            run = self.runs[slot.execution]
            is_open = cells.open[number] and not cells.unsure[number]
            if is_open and run.status is RUNNING and slot.graph_id not in run.asked:
                continue  # it still moves
            is_all = len(run.graphs) == 1 and not cells.unsure[number]
            moves = is_open if is_all else self.moves(run)
            unsure = 0 if moves or run.is_canceled or is_all else self._unsure_count(run)
            if unsure:
                reason = f"{unsure} call{'s' * (unsure != 1)} may or may not have been carried out"
                self.set_status(draft, run, ExecutionStatus.ATTENTION, reason)
                continue
            if run.status is ExecutionStatus.ATTENTION:
                self.set_status(draft, run, ExecutionStatus.RUNNING)
            if moves:
                run.asked.discard(slot.graph_id)
            elif slot.graph_id not in run.asked:
                self.ask(draft, run, slot.graph_id)
        self.arena.touched.clear()
        for execution in asked_before:
            run = self.runs[execution]
            if run.graphs and self.moves(run):
                run.asked.clear()
                del draft.questions[execution]
        for execution, graph in draft.questions.items():
            self.runs[execution].is_asking = True
            draft.commands.append(Ask(execution, graph))

    def _looked_at(self) -> list[int]:
        """Return the numbers of changed graphs that may have settled, ascending.

        If many graphs changed, omit those that certainly continue, as most do.
        """
        arena = self.arena
        touched = sorted(arena.touched)
        if len(touched) <= FEW:
            return touched
        numbers = np.array(touched)
        restless = (arena.slot_open[numbers] == 0) | (arena.slot_unsure[numbers] != 0)
        if self.pondered:
            restless |= np.isin(arena.slot_execution[numbers], list(self.pondered))
        found: list[int] = numbers[restless].tolist()
        return found

    def moves(self, run: OpenExecution) -> bool:
        """Return True while an entry of an execution can still change without a user's decision."""
        arena = self.arena
        if len(run.graphs) == 1:  # ten thousand small executions may ask this in one turn
            slot = arena.slots[run.graphs[0]]
            if not arena.cells.unsure[slot.number]:
                return bool(arena.cells.open[slot.number])
        return any(arena.moves(arena.slots[graph]) for graph in run.graphs)

    def _unsure_count(self, run: OpenExecution) -> int:
        """Return the number of unsure entries, which need a user's decision."""
        arena = self.arena
        return sum([arena.cells.unsure[arena.slots[graph].number] for graph in run.graphs])

    def ask(self, draft: TurnDraft, run: OpenExecution, graph: int) -> None:
        """Ask the planner what comes after ``graph`` (0: at the beginning), at the end of the turn.

        If a question is already open, ask only after its answer.
        """
        run.asked.add(graph)
        if graph:
            self.pondered.add(run.execution)
        if run.is_asking:
            run.is_overtaken = True
        else:
            draft.questions[run.execution] = graph

    def set_status(self, draft: TurnDraft, run: OpenExecution, status: ExecutionStatus, reason: str = "") -> None:
        """Store and report the status of an execution if the status or its reason is new."""
        if run.status is not status or run.reason != reason:
            run.status, run.reason = status, reason
            if status is not RUNNING:
                self.pondered.add(run.execution)
            draft.executions.append(ExecutionChanged(run.execution, status, reason, run.attempt))

    def _dispatch(self, draft: TurnDraft) -> None:
        """Form batches of waiting entries as long as slots are free, and command the shell to call them."""
        for lane, size in self.lanes.open_lanes(draft.now, lambda: self._is_more_likely(draft.now)):
            positions = lane.take(size)
            batch = self._next_batch
            self._next_batch += 1
            held = 1
            if lane.spec.form == "each":
                free = self.lanes.free(lane.pool)
                held = min(len(positions), free if lane.is_careful else max(1, free // 2))
            self.lanes.used[lane.pool] = self.lanes.used.get(lane.pool, 0) + held
            draft.enter(self.arena, self.table, positions, self.table.enter)
            members = members_of(self.arena, positions)
            self.arena.hand_over(positions, batch)
            size = len(positions)
            self.batches[batch] = OpenBatch(batch, lane, positions, np.zeros(size, np.uint8), size, held)
            lane.begin(self.batches[batch], draft.now)
            deadline = self._deadline(lane, positions, draft.now) if self.table.has_timeouts else 0
            made = Batch(batch, lane.spec, lane.key, members, draft.now, deadline)
            draft.opened.append(made)
            draft.commands.append(Dispatch(made))

    def _is_more_likely(self, now: int) -> bool:
        """Return whether entries that could share a call may come soon: a call runs, or a sleeping entry is due within 50 ms."""
        due = self.sleepers.next(self.arena)
        return (due is not None and due <= now + GATHER_MS) or any(batch.pending for batch in self.batches.values())

    def _deadline(self, lane: Lane, positions: np.ndarray, now: int) -> int:
        """Return the time in ms when a bulk call of these entries is given up, or 0 if it never is.

        Return 0 if one of the entries has no time-out, or for calls of single members, which have their own time-outs.
        """
        if lane.spec.form != "bulk":
            return 0
        timeout = self.table.timeout[self.arena.policy[positions]]
        return now + int(timeout.max()) if every(timeout != 0) else 0

    def give_back(self, batch: OpenBatch) -> None:
        """Free slots of a batch that its members without an outcome do not need."""
        lane = batch.lane
        if lane is None:
            return
        held = min(batch.held, batch.pending)
        self.lanes.used[lane.pool] -= batch.held - held
        batch.held = held
        self.lanes.index.stirred.add(lane.number)
        if not batch.pending:
            lane.running -= 1
            batch.lane = None

    def answer(
        self, draft: TurnDraft, batch: OpenBatch, members: np.ndarray, positions: np.ndarray, kinds: np.ndarray | int
    ) -> None:
        """Record the outcomes of members of a batch; their entries (``positions``) no longer belong to it."""
        self.arena.owner[positions] = 0
        batch.answer(members, kinds)
        draft.answered[batch.id] = batch
        self.give_back(batch)

    def _close_batches(self, draft: TurnDraft) -> None:
        for batch in draft.answered.values():
            if not batch.pending:
                self.batches.pop(batch.id, None)
                kinds = batch.kinds  # not written any more
            else:
                kinds = batch.kinds.copy()
            is_open = batch.pending or batch.elsewhere
            draft.closed.append(BatchClosed(batch.id, 0 if is_open else draft.now, kinds))

    def _set_alarm(self, draft: TurnDraft) -> None:
        at = self.sleepers.next(self.arena)
        opening = self.lanes.next_opening(draft.now)
        if opening is not None and (at is None or opening < at):
            at = opening
        for run in self.limited.values():
            for due in (run.stops_at, run.ends_at):
                if due is not None and (at is None or due < at):
                    at = due
        if at != self._wake_at:
            self._wake_at = at
            draft.commands.append(WakeAt(at))

    def forget(self, run: OpenExecution) -> None:
        """Remove an ended execution and its graphs."""
        for graph in run.graphs:
            self.arena.drop(self.arena.slots[graph])
        del self.runs[run.execution]
        self.limited.pop(run.execution, None)
        self.pondered.discard(run.execution)

    def _compact(self) -> None:
        """Compact the arena if more than half of its entries, or of its graphs, were dropped."""
        arena = self.arena
        if arena.hole_count() <= len(arena) // 2 and arena.gone_count() <= len(arena.slots):
            return
        moved = arena.compact()
        self.table.reset(self.arena.policies)
        for lane in self.lanes.by_key.values():
            lane.move(moved)
        for batch in self.batches.values():
            batch.positions = moved[batch.positions]
        self.sleepers.move(moved)
        if self.arena.stories is not None:
            self.arena.stories.move(moved)
