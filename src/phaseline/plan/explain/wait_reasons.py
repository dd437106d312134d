"""Explain what an instance waits for, since when, and how to unblock it, from a graph, its statuses and its notes."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.execution.breakpoints import clearing, due_of
from phaseline.model.graph.graph import SubjectKind, owners_of, phase_of
from phaseline.model.graph.status import EntryStatus as Status
from phaseline.model.graph.status import Mark
from phaseline.model.rows.rows import NoteRow
from phaseline.plan.graph.draft import MILESTONE

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, Policy

SHOWN_BLOCKERS = 10
"""Largest number of blocking entries that an explanation names. It always gives the total number too."""
TRIED_AGAIN = frozenset({Status.SLEEPING, Status.RUNNING, Status.WAITING})
"""Statuses that an entry can have between a failed call and the end of the call that retries it."""
MAY_BE_CALLED = frozenset({Status.BLOCKED, Status.WAITING, Status.SLEEPING})
"""Stored statuses of entries that may already be running: a batch is stored before its entries' new statuses."""
DONE = frozenset({Status.COMPLETED, Status.PASSED})
Kind = Literal[
    "nothing", "blocked", "slot", "running", "sleeping", "retrying", "canceling", "unsure", "failed", "lost", "canceled"
]
NOTHING_SAID = NoteRow(-1)


@frozen
class Blocker:
    """An entry for which another entry waits.

    ``instance`` is the id of its instance. ``attempts`` is the number of the retry that is due or running after a
    failed call, 0 if the last call did not fail. ``max_retries`` is the largest number of retries, -1 for no limit.
    ``due`` is when a sleeping entry is called again, in ms; 0 if it does not sleep.
    """

    instance: str
    operation: str
    status: str
    position: int
    message: str = ""
    attempts: int = 0
    max_retries: int = 0
    due: int = 0


@frozen
class Reason:
    """The reason why one entry of an instance has not continued.

    ``text`` is a sentence with the reason, ``mend`` explains how to unblock the entry. ``since`` and ``until`` are in
    ms, 0 if unknown. The entry waits for ``blocker_count`` entries; ``blockers`` holds the first ``SHOWN_BLOCKERS`` of
    them. If a blocker is blocked itself, ``roots`` holds the entries with which the chains of blocked entries begin,
    also at most ``SHOWN_BLOCKERS``.
    """

    kind: Kind
    text: str
    mend: str = ""
    operation: str = ""
    position: int = -1
    since: int = 0
    until: int = 0
    blockers: tuple[Blocker, ...] = ()
    blocker_count: int = 0
    roots: tuple[Blocker, ...] = ()


@dataclass(frozen=True)
class _Case:
    """One graph with everything known about its run, and the instance that the explanation is about.

    ``status`` is indexed by entry position. ``running`` is {position: when its open call began} and ``ended``
    {position: when its last call ended}, both in ms.
    """

    topology: Topology
    graph: Graph
    status: np.ndarray
    notes: Mapping[int, NoteRow]
    running: Mapping[int, int]
    ended: Mapping[int, int]
    execution: str = ""
    instance: str = ""

    def command(self, verb: str) -> str:
        """Return a command line that applies a verb, such as ``retry``, to the execution."""
        return f"phaseline executions {verb} {self.execution}".rstrip()

    @cached_property
    def firsts(self) -> list[int]:
        """The first position of each step."""
        return [step.first for step in self.graph.steps]

    @cached_property
    def reverse(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges backwards as (needs, ptr): the needs of entry i are ``needs[ptr[i]:ptr[i+1]]``."""
        graph = self.graph
        entries = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(graph.ptr))
        ptr = np.concatenate(([0], np.cumsum(graph.needs_count())))
        return entries[np.argsort(graph.idx, kind="stable")], ptr

    def step(self, position: int) -> int:
        """Return the number of the step that contains an entry."""
        return bisect_right(self.firsts, position) - 1

    def operation(self, position: int) -> str:
        """Return the name of an entry's operation or phase."""
        found = self.graph.steps[self.step(position)].phase
        return phase_of(found) or found

    def kind(self, position: int) -> SubjectKind:
        """Return the kind of the entry's subject, such as an instance or one side of a relationship."""
        return self.graph.steps[self.step(position)].kind

    def owner(self, position: int) -> int:
        """Return the number of the instance in whose sequence the entry runs; -1 for milestones."""
        subjects = self.graph.subject[position : position + 1]
        return int(owners_of(self.topology, self.kind(position), subjects)[0])

    def said(self, position: int) -> str:
        """Return the last message of an entry; empty if there is none."""
        return self.notes.get(position, NOTHING_SAID).message

    def retry(self, position: int) -> tuple[int, int]:
        """Return (number of the retry that is due or running, largest number of retries).

        Return (0, 0) if the last call did not fail.
        """
        note, policy = self.notes.get(position, NOTHING_SAID), self.graph.policies[self.graph.policy[position]]
        is_tried = self.status_of(position) in TRIED_AGAIN and note.retries and not policy.until_true
        return (note.retries, policy.max_retries) if is_tried else (0, 0)

    def standing(self, position: int) -> str:
        """Return the entry's status in words, such as ``running``.

        For a failed call that is retried, the text contains the number of the retry: ``failing, retry 2 of 5``.
        """
        attempts, most = self.retry(position)
        return f"failing, {_retry(attempts, most)}" if attempts else self.status_of(position).word

    def status_of(self, position: int) -> Status:
        """Return the status of an entry; it is ``running`` if an open batch contains the entry."""
        status = Status(int(self.status[position]))
        return Status.RUNNING if status in MAY_BE_CALLED and position in self.running else status

    def is_done(self, position: int) -> bool:
        """Return True if dependents no longer wait for the entry.

        It is completed, has passed, or has failed with the mark TOLERANT.
        """
        status = self.status_of(position)
        tolerated = status is Status.FAILED and bool(int(self.graph.marks[position]) & Mark.TOLERANT)
        return status in DONE or tolerated

    def needs_of(self, position: int) -> list[int]:
        """Return the positions of the needs of an entry."""
        entries, ptr = self.reverse
        found: list[int] = entries[ptr[position] : ptr[position + 1]].tolist()
        return found


def explain(
    topology: Topology,
    graph: Graph,
    statuses: np.ndarray,
    notes: Sequence[NoteRow],
    instance: int,
    *,
    running: Mapping[int, int] | None = None,
    ended: Mapping[int, int] | None = None,
    execution: str = "",
) -> list[Reason]:
    """Return the reasons why the instance has not finished its part of the graph, in the order of its sequence.

    Return one reason of the kind ``nothing`` if the instance has finished or takes no part. An entry that waits for
    another unfinished entry of this instance gets no reason. ``statuses`` is uint8, indexed by entry position.
    ``running`` is {position: when its open call began} and ``ended`` {position: when its last call ended}, both in ms.
    ``execution`` is the execution's id, for the commands that the reasons propose.
    """
    case = _Case(
        topology,
        graph,
        statuses,
        {note.position: note for note in notes},
        running or {},
        ended or {},
        execution,
        topology.ids[instance],
    )
    mine = _entries(case, instance)
    if not mine:
        return [Reason("nothing", f"{topology.ids[instance]} takes no part in '{graph.name}'")]
    stuck = [position for position in mine if not case.is_done(position)]
    if not stuck:
        return [Reason("nothing", f"{topology.ids[instance]} waits for nothing: all its steps are done")]
    members = set(stuck)
    first = [position for position in stuck if not members.intersection(case.needs_of(position))]
    return [_reason(case, position) for position in first or stuck[:1]]


def _entries(case: _Case, instance: int) -> list[int]:
    """Return the positions of all entries in the instance's sequence, in order."""
    found: list[int] = []
    for step in case.graph.steps:
        subject = case.graph.subject[step.first : step.first + step.count]
        if step.kind is SubjectKind.NONE:
            continue
        owner = owners_of(case.topology, step.kind, subject)
        found += (np.flatnonzero(owner == instance) + step.first).tolist()
    return found


def _reason(case: _Case, position: int) -> Reason:
    status = case.status_of(position)
    operation = case.operation(position)
    note = case.notes.get(position, NOTHING_SAID)
    policy = case.graph.policies[case.graph.policy[position]]
    since = case.ended.get(position, 0)
    if status is Status.BLOCKED:
        return _blocked(case, position)
    if status is Status.WAITING:
        free = "a call of it ends" if policy.lane.form == "bulk" else f"a slot of the pool '{policy.lane.pool}' is free"
        return Reason(
            "slot", f"{operation} is ready and waits for its turn", f"it begins as soon as {free}", operation, position
        )
    if status is Status.RUNNING:
        attempts, most = case.retry(position)
        again = f", {_retry(attempts, most)} after it failed{_because(note)}" if attempts else ""
        return Reason(
            "running",
            f"{operation} is running{again}",
            "it continues when the call returns",
            operation,
            position,
            case.running.get(position, 0),
        )
    if status is Status.SLEEPING and operation.startswith(BREAKPOINT):
        return _standing(case, operation, position, note, since)
    if status is Status.SLEEPING:
        return _sleeping(operation, position, note, policy, since)
    if status is Status.CANCELING:
        return Reason(
            "canceling",
            f"{operation} is being canceled; its call is awaited",
            f"{case.command('cancel')} --kill ends it",
            operation,
            position,
        )
    if status is Status.UNSURE:
        text = f"it is not known whether {operation} was carried out"
        complete = f"{case.command('complete')} --instance {case.instance} --reason ..."
        mend = f"look whether it was; if so: {complete}; if not: {case.command('retry')}"
        return Reason("unsure", text + _because(note), mend, operation, position, since)
    if status is Status.FAILED:
        tries = f" after {note.attempts} retries" if note.attempts else ""
        mend = f"mend the cause, then: {case.command('retry')}"
        return Reason("failed", f"{operation} failed{tries}" + _because(note), mend, operation, position, since)
    if status is Status.SKIPPED:
        return _lost(case, position)
    return Reason("canceled", f"{operation} was canceled", f"{case.command('retry')} continues it", operation, position)


def _standing(case: _Case, operation: str, position: int, note: NoteRow, since: int) -> Reason:
    point, due = operation.removeprefix(BREAKPOINT), due_of(operation, note.due, note.result)
    fails = "; it fails if that is not done in time" if due else ""
    mend = f"clear it to continue: {clearing(point, instance=case.instance)}{fails}"
    text = f"it is stopped at {point} until an operator clears it"
    return Reason("sleeping", text, mend, operation, position, since, due)


def _sleeping(operation: str, position: int, note: NoteRow, policy: Policy, since: int) -> Reason:
    if note.retries and not policy.until_true:
        text = f"{operation} failed; {_retry(note.retries, policy.max_retries)} is due" + _because(note)
        return Reason("retrying", text, "it is tried again by itself", operation, position, since, note.due)
    return Reason(
        "sleeping",
        f"{operation} asked to be called again" + _because(note),
        "it continues by itself",
        operation,
        position,
        since,
        note.due,
    )


def _retry(attempts: int, most: int) -> str:
    return f"retry {attempts}" + (f" of {most}" if most >= 0 else "")


def _because(note: NoteRow) -> str:
    lines = note.message.strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _blocked(case: _Case, position: int) -> Reason:
    causes = _causes(case, position, lost=False)
    roots = _roots(case, position)
    roots = [] if roots == causes else roots
    behind = f", blocked by {_summed(case, roots)}" if roots else ""
    text = f"{_named(case, position)} waits for {_summed(case, causes)}{behind}"
    return Reason(
        "blocked",
        text,
        "it begins when they are done; ask why for one of them" if len(causes) > 1 else "it begins when that is done",
        case.operation(position),
        position,
        blockers=_blockers(case, causes),
        blocker_count=len(causes),
        roots=_blockers(case, roots),
    )


def _lost(case: _Case, position: int) -> Reason:
    causes = _causes(case, position, lost=True)
    return Reason(
        "lost",
        f"{_named(case, position)} was skipped because of {_summed(case, causes)}",
        f"mend the cause, then: {case.command('retry')}; it continues together with the failed steps",
        case.operation(position),
        position,
        blockers=_blockers(case, causes),
        blocker_count=len(causes),
    )


def _named(case: _Case, position: int) -> str:
    """Return the name of an entry for a sentence: its operation, or its instance if the entry is never called."""
    if int(case.graph.marks[position]) & Mark.ABSENT:
        owner = case.owner(position)
        return case.topology.ids[owner] if owner >= 0 else MILESTONE
    return case.operation(position)


def _causes(case: _Case, position: int, *, lost: bool) -> list[int]:
    """Return the positions of the entries that block an entry, ascending.

    With ``lost``, return the entries because of which the entry was skipped. An entry that only passes on what blocks
    it is replaced by its own needs: an entry that is never called, or with ``lost``, a skipped entry.
    """
    found: set[int] = set()
    seen = {position}
    front = [position]
    while front:
        at = front.pop()
        for need in case.needs_of(at):
            if need in seen or case.is_done(need):
                continue
            seen.add(need)
            status = case.status_of(need)
            passes_on = status is Status.SKIPPED if lost else bool(int(case.graph.marks[need]) & Mark.ABSENT)
            if passes_on:
                front.append(need)
            else:
                found.add(need)
    return sorted(found)


def _roots(case: _Case, position: int) -> list[int]:
    """Return the positions of the entries at the start of the chains that block an entry, ascending.

    An entry at the start of a chain is not blocked itself.
    """
    found: set[int] = set()
    seen = {position}
    front = [position]
    while front:
        for need in case.needs_of(front.pop()):
            if need in seen or case.is_done(need):
                continue
            seen.add(need)
            is_behind = case.status_of(need) is Status.BLOCKED or bool(int(case.graph.marks[need]) & Mark.ABSENT)
            if is_behind:
                front.append(need)
            else:
                found.add(need)
    return sorted(found)


def _blockers(case: _Case, causes: Sequence[int]) -> tuple[Blocker, ...]:
    return tuple(
        Blocker(
            instance=case.topology.ids[case.owner(position)],
            operation=case.operation(position),
            status=case.status_of(position).word,
            position=position,
            message=case.said(position),
            attempts=case.retry(position)[0],
            max_retries=case.retry(position)[1],
            due=case.notes.get(position, NOTHING_SAID).due if case.status_of(position) is Status.SLEEPING else 0,
        )
        for position in causes[:SHOWN_BLOCKERS]
    )


def _summed(case: _Case, causes: Sequence[int]) -> str:
    """Return the blocking entries in words: a single entry by its name, several as counts by operation and node."""
    if not causes:
        return "steps that the engine has not reported yet"
    if len(causes) == 1:
        only = causes[0]
        return f"{case.operation(only)} of {case.topology.ids[case.owner(only)]} ({case.standing(only)})" + _because(
            case.notes.get(only, NOTHING_SAID)
        )
    groups = Counter(
        (case.operation(position), case.topology.nodes[case.topology.node[case.owner(position)]].name)
        for position in causes
    )
    return ", ".join(
        f"{operation} of {count} instances of {node}" if count > 1 else f"{operation} of {node}"
        for (operation, node), count in groups.items()
    )
