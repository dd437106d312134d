"""Build the event lines of one instance in one graph, as Cloudify would show them (W12).

The lines come from the instance's entries, grouped by operation, and from the results of these entries. They end with
what the instance is doing at present. A sentence shown before an operation gets the time at which the operation's
first call begins. A sentence shown after it gets the time at which its last call ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.breakpoints import POST, PRE, PREFIX, Breakpoint
from phaseline.model.graph.graph import SubjectKind, is_of_state, owners_of, phase_of, state_entered
from phaseline.model.graph.status import EntryStatus as Status
from phaseline.model.graph.status import Mark, OutcomeKind
from phaseline.model.rows.rows import NoteRow
from phaseline.plan.explain.cloudify_messages import MessagePart

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Operation, Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.explain.cloudify_messages import MessageScript

SCRIPT_FUNCTION = "script_runner.tasks.run"
"""Name of the function with which Cloudify runs every script. Event lines of a script show it as the task's name."""
BEGUN = frozenset(
    {
        Status.RUNNING,
        Status.SLEEPING,
        Status.CANCELING,
        Status.UNSURE,
        Status.COMPLETED,
        Status.PASSED,
        Status.FAILED,
    }
)


@frozen
class CallSpan:
    """One call of an entry: when the call began and ended, and its outcome.

    ``begun_at`` and ``ended_at`` are in ms; ``ended_at`` is 0 while the call runs. ``message`` is the message of the
    outcome, or None if it is unknown. ``has_asked`` is true if the plugin asked to be called again, which is not a
    failure. ``is_by_hand`` is true if no call was made, because a user completed the entry at that time.
    """

    begun_at: int
    ended_at: int = 0
    kind: OutcomeKind = OutcomeKind.PENDING
    message: str | None = None
    has_asked: bool = False
    is_by_hand: bool = False


@frozen
class StoryLine:
    """One line of the history of an instance: an event, a new state or a task.

    ``at`` is the time in ms, or 0 if unknown. ``operation`` is the full name of the operation, or empty for a line
    about no operation. ``target`` is the number of the relationship's target instance for a task of a relationship,
    otherwise -1.
    """

    kind: Literal["event", "state", "task"]
    text: str
    at: int = 0
    operation: str = ""
    target: int = -1

    def __str__(self) -> str:
        """Return the line as the specification's tables show it: ``E: Creating node instance`` or ``= creating``.

        ``E:`` marks an event and ``=`` a state. The text of a task has no prefix.
        """
        return {"event": "E: ", "state": "= ", "task": ""}[self.kind] + self.text


@frozen
class GraphOutcome:
    """A graph with everything known about its run; ``narrate`` explains the fields."""

    topology: Topology
    graph: Graph
    statuses: np.ndarray
    calls: Mapping[int, Sequence[CallSpan]]
    notes: Mapping[int, NoteRow]
    workflow: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    with_tasks: bool = False


class Entries:
    """The entries of a graph, grouped by the instance in whose sequence they run.

    ``order`` holds all entry positions, sorted by instance and then by position. ``owner`` is the instance number for
    each element of ``order``, or -1 for an entry without an instance. ``step`` is the step number of each entry
    position, int32.
    """

    def __init__(self, topology: Topology, graph: Graph) -> None:
        sizes = [step.count for step in graph.steps]
        self.steps = graph.steps
        self.step = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        owner = np.full(len(graph), -1, np.int32)
        for step in graph.steps:
            mine = slice(step.first, step.first + step.count)
            owner[mine] = owners_of(topology, step.kind, graph.subject[mine])
        self.order = np.argsort(owner, kind="stable")
        self.owner = owner[self.order]

    def of(self, instance: int) -> list[int]:
        """Return the positions of an instance's entries, ascending. This is also the order in which they run."""
        low, high = np.searchsorted(self.owner, [instance, instance + 1])
        found: list[int] = self.order[low:high].tolist()
        return found


def operation_called(topology: Topology, kind: SubjectKind, subject: int, name: str) -> Operation | None:
    """Return the operation called ``name`` of an instance, or of one side of a relationship; None if there is none.

    ``subject`` is an instance number or a relationship number, depending on ``kind``.
    """
    operations: Mapping[str, Operation] = {}
    if kind is SubjectKind.INSTANCE:
        operations = topology.nodes[topology.node[subject]].operations
    elif kind in {SubjectKind.SOURCE, SubjectKind.TARGET}:
        relationship = topology.links[topology.link[subject]].relationship
        operations = relationship.source_operations if kind is SubjectKind.SOURCE else relationship.target_operations
    return operations.get(name)


class InstanceStory:
    """The entries of one instance in a graph, grouped by operation, and methods that turn them into event lines."""

    def __init__(self, known: GraphOutcome, entries: Entries, mine: list[int]) -> None:
        self.known = known
        self.topology = known.topology
        self.graph = known.graph
        self.statuses = known.statuses
        self.calls = known.calls
        self.notes = known.notes
        self.with_tasks = known.with_tasks
        self.kinds: dict[int, SubjectKind] = {}
        self.positions: dict[str, list[int]] = {}
        for position in mine:
            step = entries.steps[entries.step[position]]
            self.kinds[position] = step.kind
            self.positions.setdefault(step.phase, []).append(position)
        self.stops = [phase for phase in self.positions if phase.startswith(PREFIX)]

    @property
    def is_called(self) -> bool:
        """True if at least one entry of the instance is called; the other entries only mark points in the order."""
        return any(not int(self.graph.marks[position]) & Mark.ABSENT for position in self.kinds)

    def reaches(self, state: State) -> bool:
        """Return True if the instance enters this state in the graph.

        Instances that only keep the order between other instances do not enter states.
        """
        return any(state in self.graph.policies[self.graph.policy[position]].leave for position in self.kinds)

    @property
    def has_begun(self) -> bool:
        """True if at least one entry of the instance was called or has passed."""
        return any(self._has_begun(position) for position in self.kinds)

    def _has_begun(self, position: int) -> bool:
        return position in self.calls or Status(int(self.statuses[position])) in BEGUN

    def is_done(self, position: int) -> bool:
        """Return True if the next entry may begin: this one is completed, passed, or failed with the mark TOLERANT."""
        status = Status(int(self.statuses[position]))
        return status in {Status.COMPLETED, Status.PASSED} or self.is_ignored(position)

    def is_ignored(self, position: int) -> bool:
        """Return True if the entry failed but has the mark TOLERANT, so that its failure counts as done."""
        failed = Status(int(self.statuses[position])) is Status.FAILED
        return failed and bool(int(self.graph.marks[position]) & Mark.TOLERANT)

    def tell(self, tale: MessageScript) -> list[StoryLine]:
        """Return the event lines that a script (``tale``) gives for the instance.

        They end at the first operation that the instance has not done.
        """
        lines: list[StoryLine] = []
        at = min((spans[0].begun_at for p in self.kinds if (spans := self.calls.get(p))), default=0)
        for part in tale.parts:
            positions = self.positions.get(part.operation, []) if part.operation else []
            if not self._passes(PRE, part.operation, lines):
                return lines
            if not positions:
                lines += [_line(text, at, "") for text in part.frame]
                if not self._passes(POST, part.operation, lines):
                    return lines
                continue
            begun = [position for position in positions if self._has_begun(position)]
            if not begun:
                return lines
            lines += self._around(part, begun)
            if not all(self.is_done(position) for position in positions):
                return lines
            at = max((spans[-1].ended_at for p in positions if (spans := self.calls.get(p))), default=at)
            lines += [_line(text, at, part.operation) for text in part.after]
            if not self._passes(POST, part.operation, lines):
                return lines
        return lines

    def _passes(self, when: str, operation: str, lines: list[StoryLine]) -> bool:
        """Add the lines of the breakpoints before (``when`` is pre) or after (post) an operation to ``lines``.

        Return False if the instance is stopped at one of these breakpoints, or has not reached one of them.
        """
        for phase in self.stops if operation else ():
            if not Breakpoint(phase.removeprefix(PREFIX)).is_at(when, operation):
                continue
            if not all(self._stood(phase, position, operation, lines) for position in self.positions[phase]):
                return False
        return True

    def _stood(self, phase: str, position: int, operation: str, lines: list[StoryLine]) -> bool:
        """Add the lines of one breakpoint to ``lines``.

        Return False if the instance is stopped at the breakpoint or has not reached it.
        """
        if not self._has_begun(position):
            return False
        spans, point = self.calls.get(position, ()), phase.removeprefix(PREFIX)
        begun = spans[0].begun_at if spans else 0
        lines.append(StoryLine("event", f"Node instance paused at {point} until it is cleared", begun, operation))
        if not self.is_done(position):
            return False
        ended = spans[-1].ended_at if spans else begun
        lines.append(StoryLine("event", f"Node instance continues from {point}", ended, operation))
        return True

    @property
    def is_on_path(self) -> bool:
        """True if the instance goes through the states of a state path."""
        return any(is_of_state(operation) for operation in self.positions)

    def tell_stays(self) -> list[StoryLine]:
        """Return the lines of an instance on a state path: the states that it entered, and the calls in each state."""
        lines: list[StoryLine] = []
        at = 0
        for operation, positions in self.positions.items():
            begun = [position for position in positions if self._has_begun(position)]
            state = state_entered(operation)
            if state is not None and begun:
                lines.append(StoryLine("event", f"Node instance entered {state}", at))
            elif operation.startswith(PREFIX):
                for position in begun:
                    self._stood(operation, position, Breakpoint(operation.removeprefix(PREFIX)).stands[1], lines)
            elif not is_of_state(operation):
                lines += self._around(MessagePart(operation), begun)
                at = max([at, *(spans[-1].ended_at for position in begun if (spans := self.calls.get(position)))])
        return lines

    def _around(self, part: MessagePart, begun: list[int]) -> list[StoryLine]:
        """Return the lines of one operation: the sentences before it, then the calls of its entries ``begun``.

        An ignored failure of an entry gives a further line after its calls (W24).
        """
        at = min((spans[0].begun_at for p in begun if (spans := self.calls.get(p))), default=0)
        lines = [_line(text, at, part.operation) for text in part.before]
        for position in begun:
            function = self._function(position, part.operation)
            if self.with_tasks:
                lines += self._tasks(position, part.operation, function)
            if self.is_ignored(position):
                spans = self.calls.get(position)
                end = spans[-1].ended_at if spans else 0
                lines.append(StoryLine("event", f"Ignoring task {function} failure", end, part.operation))
        return lines

    def _function(self, position: int, name: str) -> str:
        """Return the task name that Cloudify would show for the entry: its phase, its function or the script runner."""
        phase = phase_of(name)
        if phase is not None:
            return phase
        found = operation_called(self.topology, self.kinds[position], int(self.graph.subject[position]), name)
        return found.implementation if found is not None and found.form == "function" else SCRIPT_FUNCTION

    def _tasks(self, position: int, operation: str, function: str) -> list[StoryLine]:
        """Return the lines of the calls of one entry, worded as Cloudify does (W12).

        If the calls were stored without messages, only the message of the last call is known, from the entry's note.
        """
        policy = self.graph.policies[self.graph.policy[position]]
        spans = self.calls.get(position, ())
        note = self.notes.get(position, NoteRow(position))
        lines: list[StoryLine] = []
        retries = 0
        related = self.kinds[position] in {SubjectKind.SOURCE, SubjectKind.TARGET}
        target = int(self.topology.target[int(self.graph.subject[position])]) if related else -1
        spans = [span for span in spans if not span.is_by_hand]
        for number, span in enumerate(spans):
            limit = "" if policy.max_retries < 0 else f"/{policy.max_retries}"
            suffix = f" [retry {retries}{limit}]" if retries else ""
            lines.append(StoryLine("task", f"Sending task '{function}'{suffix}", span.begun_at, operation, target))
            lines.append(StoryLine("task", f"Task started '{function}'{suffix}", span.begun_at, operation, target))
            is_last = number == len(spans) - 1
            is_failed = is_last and Status(int(self.statuses[position])) is Status.FAILED
            text = _ended(span, function, note if is_last else NoteRow(position), is_failed=is_failed)
            if text:
                lines.append(StoryLine("task", text + suffix, span.ended_at, operation, target))
            retries += span.kind is OutcomeKind.RETRY
        return lines


def _ended(span: CallSpan, function: str, note: NoteRow, *, is_failed: bool) -> str:
    """Return the text of the line for the end of a call; empty while the call runs.

    ``is_failed`` is true if the entry has failed and is not called again.
    """
    kind, message = span.kind, note.message if span.message is None else span.message
    said = f" -> {message}" if message else ""
    if kind is OutcomeKind.COMPLETED:
        return f"Task succeeded '{function}'" + (f" - {note.result}" if note.result is not None else "")
    if kind is OutcomeKind.AGAIN or (kind is OutcomeKind.RETRY and span.has_asked and not is_failed):
        return f"Task rescheduled '{function}'{said}"
    if kind in {OutcomeKind.FAILED, OutcomeKind.RETRY}:
        return f"Task failed '{function}'{said}"
    if kind is OutcomeKind.LOST:
        return f"Task lost '{function}': the engine ended while it ran; it may be called again"
    if kind is OutcomeKind.UNSURE:
        return (
            f"Task may or may not have been carried out '{function}': the engine ended while it ran, or it was given up"
        )
    return ""


def _line(text: str, at: int, operation: str) -> StoryLine:
    return (
        StoryLine("state", text[2:], at, operation)
        if text.startswith("= ")
        else StoryLine("event", text, at, operation)
    )
