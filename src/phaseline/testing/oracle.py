"""A simple model of entry statuses: plain Python without counters, which checks every need each time.

Tests compare the engine with it after every event on random graphs. It is slow but easy to verify: a fact sets the
status of an entry, then ``settle`` checks blocked and skipped entries until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from phaseline.model.graph.graph import Graph, Policy, SubjectKind
from phaseline.model.graph.status import EntryStatus, Mark, OutcomeKind

BLOCKED, WAITING, RUNNING, SLEEPING, CANCELING, UNSURE, COMPLETED, PASSED, FAILED, SKIPPED, CANCELED = EntryStatus


@dataclass(slots=True)
class NaiveEntry:
    """The model of one entry. ``batch`` is the batch that calls it now (0 if none does); ``due`` is in ms.

    ``is_begun``: it was called at some time, so its condition is not evaluated any more.
    """

    status: EntryStatus = BLOCKED
    attempts: int = 0
    generation: int = 0
    due: int = 0
    batch: int = 0
    is_begun: bool = False


@dataclass
class NaiveGraph:
    """The model of one graph. ``failures`` are the entries whose failure is not tolerated, in order of time.

    ``was_reopened``: an entry that had ended is open again; code that reads the flag resets it.
    """

    graph: Graph
    entries: list[NaiveEntry] = field(default_factory=list)
    needs: list[list[int]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    was_reopened: bool = False

    def __post_init__(self) -> None:
        """Begin with all entries blocked, then check their needs once."""
        self.entries = [NaiveEntry() for _ in range(len(self.graph))]
        self.needs = [[] for _ in range(len(self.graph))]
        for entry in range(len(self.graph)):
            for dependent in self.graph.idx[self.graph.ptr[entry] : self.graph.ptr[entry + 1]].tolist():
                self.needs[dependent].append(entry)
        self.settle()

    def mark(self, entry: int, mark: Mark) -> bool:
        """Return True if the entry has the mark."""
        return bool(int(self.graph.marks[entry]) & mark)

    def policy(self, entry: int) -> Policy:
        """Return the policy of the entry, which determines how it is called."""
        return self.graph.policies[int(self.graph.policy[entry])]

    def is_met(self, entry: int) -> bool:
        """Return True if a need of this entry is met: it is completed or passed, or has failed and is tolerant."""
        status = self.entries[entry].status
        return status in {COMPLETED, PASSED} or (status is FAILED and self.mark(entry, Mark.TOLERANT))

    def is_lost(self, entry: int) -> bool:
        """Return True if a need of this entry can never be met: it failed, was skipped or was canceled."""
        return self.entries[entry].status in {FAILED, SKIPPED, CANCELED} and not self.is_met(entry)

    def ruled(self, entry: int) -> EntryStatus:
        """Return the status that the needs of an entry give it, if neither a call nor a user has decided it."""
        met = [self.is_met(need) for need in self.needs[entry]]
        lost = [self.is_lost(need) for need in self.needs[entry]]
        if self.mark(entry, Mark.ANY):
            if any(met) or not met:
                return PASSED
            return SKIPPED if all(lost) else BLOCKED
        if self.mark(entry, Mark.ENDED):
            return PASSED if all(one or other for one, other in zip(met, lost, strict=True)) else BLOCKED
        if any(lost):
            return SKIPPED
        if not all(met):
            return BLOCKED
        is_asked = self.mark(entry, Mark.CONDITIONAL)
        return PASSED if self.mark(entry, Mark.ABSENT) and not is_asked else WAITING

    def settle(self) -> None:
        """Check every blocked or skipped entry until nothing changes. A released entry stays released.

        Milestones that wait for an end are checked last, because entries revived by the same fact have not ended.
        """
        milestones = [number for number in range(len(self.entries)) if self.mark(number, Mark.ENDED)]
        others = [number for number in range(len(self.entries)) if not self.mark(number, Mark.ENDED)]
        while self.look_at(others) or self.look_at(milestones):
            pass

    def look_at(self, numbers: Iterable[int]) -> bool:
        """Check these entries, and return True if the status of one changed."""
        changed = False
        for number in numbers:
            entry = self.entries[number]
            if entry.status in {BLOCKED, SKIPPED} and entry.status is not self.ruled(number):
                entry.status, changed = self.ruled(number), True
        return changed

    # -- facts --------------------------------------------------------------------------------------------------

    def dispatched(self, entry: int, batch: int) -> None:
        """Begin a call of the entry."""
        assert self.entries[entry].status is WAITING, f"{entry} is called when {self.entries[entry].status.word}"
        self.entries[entry].status, self.entries[entry].batch = RUNNING, batch
        self.entries[entry].is_begun = True

    def answered(self, entry: int, kind: OutcomeKind, now: int, delay: int) -> None:
        """Apply the outcome of a call whose entry is running or canceling."""
        known, policy = self.entries[entry], self.policy(entry)
        is_canceling, known.batch = known.status is CANCELING, 0
        if is_canceling and policy.cancel_wins:
            known.status = CANCELED
            self.settle()
            return
        retries_left = policy.max_retries < 0 or known.attempts < policy.max_retries
        if kind is OutcomeKind.COMPLETED:
            known.status = COMPLETED
        elif kind is OutcomeKind.UNSURE:
            known.status = UNSURE
        elif is_canceling and kind in {OutcomeKind.AGAIN, OutcomeKind.RETRY}:
            known.status = CANCELED
        elif kind is OutcomeKind.AGAIN or (kind is OutcomeKind.RETRY and retries_left):
            known.status = SLEEPING
            known.attempts += kind is OutcomeKind.RETRY
            wait = policy.wait_ms(known.attempts if kind is OutcomeKind.RETRY else 0)
            known.due = now + (wait if delay < 0 else delay)
        else:
            known.status = FAILED
            if not self.mark(entry, Mark.TOLERANT):
                self.failures.append(entry)
        self.settle()

    def lost(self, entry: int) -> None:
        """Handle the death of its caller: the entry is called again if that is safe, otherwise it is unsure."""
        known = self.entries[entry]
        if not self.policy(entry).repeatable:
            known.status = UNSURE
        else:
            known.status = CANCELED if known.status is CANCELING else WAITING
        known.batch = 0
        self.settle()

    def crashed(self) -> None:
        """Treat every call that has not returned as lost, because the engine died."""
        for number, entry in enumerate(self.entries):
            if entry.batch:
                self.lost(number)

    def applies(self, entry: int, value: int) -> None:
        """Set whether a conditional entry applies now: 0 no, 1 yes, 2 unknown. An entry that was called before stays unchanged."""
        known = self.entries[entry]
        if not self.mark(entry, Mark.CONDITIONAL) or known.is_begun:
            return
        if known.status is WAITING and value == 0:
            known.status = PASSED
        elif known.status is WAITING and value == 2:
            known.status = FAILED
            if not self.mark(entry, Mark.TOLERANT):
                self.failures.append(entry)
        elif known.status is PASSED and value:
            self.reopened([entry])
        self.settle()

    def reopened(self, positions: Iterable[int]) -> None:
        """Block these entries again, and then the entries that could start only because these had been done."""
        left = list(positions)
        self.was_reopened |= bool(left)
        for entry in left:
            self.entries[entry].status = BLOCKED
        while left:
            entry = left.pop()
            for dependent, needs in enumerate(self.needs):
                known = self.entries[dependent]
                was_let_through = entry in needs and known.status in {WAITING, SLEEPING, PASSED}
                if was_let_through and self.ruled(dependent) in {BLOCKED, SKIPPED}:
                    known.status = BLOCKED
                    left.append(dependent)

    def woken(self, now: int) -> None:
        """Release the sleeping entries that are due at ``now``."""
        for entry in self.entries:
            if entry.status is SLEEPING and entry.due <= now:
                entry.status = WAITING

    # -- users --------------------------------------------------------------------------------------------------

    def of_subjects(self, subjects: Sequence[int] | None) -> Iterable[int]:
        """Yield the entries of these instances, or all entries if ``subjects`` is None."""
        for step in self.graph.steps:
            for entry in range(step.first, step.first + step.count):
                if subjects is None or (step.kind is SubjectKind.INSTANCE and self.graph.subject[entry] in subjects):
                    yield entry

    def stopped(self, subjects: Sequence[int] | None = None) -> None:
        """Cancel all entries that have not started; running calls continue."""
        for entry in self.of_subjects(subjects):
            if self.entries[entry].status in {BLOCKED, WAITING, SLEEPING}:
                self.entries[entry].status = CANCELED
        self.settle()

    def canceled(self, subjects: Sequence[int] | None, *, is_forced: bool) -> None:
        """Cancel the entries of ``subjects`` (None: of all) that have not started.

        Their running calls are awaited or, if ``is_forced``, given up.
        """
        called = [entry for entry in self.of_subjects(subjects) if self.entries[entry].batch]
        self.stopped(subjects)
        for entry in called:
            known = self.entries[entry]
            known.status = CANCELING
            if is_forced and not self.policy(entry).answers_stop:
                known.status, known.batch = CANCELED if self.policy(entry).repeatable else UNSURE, 0
        self.settle()

    def retried(self, positions: Iterable[int] | None, *, include_unsure: bool) -> None:
        """Retry failed and canceled entries; if ``positions`` are given, also unsure ones among them.

        Milestones that passed because such an entry had ended wait again until it ends.
        """
        chosen: set[int] = set()
        wanted = {FAILED, CANCELED, UNSURE} if include_unsure or positions is not None else {FAILED, CANCELED}
        for entry in range(len(self.entries)) if positions is None else positions:
            known = self.entries[entry]
            if known.status in wanted and not self.is_met(entry):
                self.entries[entry] = NaiveEntry(generation=known.generation + 1, is_begun=known.is_begun)
                chosen.add(entry)
        self.reopened(self.ends_to_await(chosen))
        self.settle()

    def ends_to_await(self, chosen: AbstractSet[int]) -> list[int]:
        """Return milestones that passed because these entries, or entries lost with them, had ended.

        Milestones are left out if all entries that need them have begun.
        """
        affected = set(chosen)
        while True:
            behind = {number for number, needs in enumerate(self.needs) if not affected.isdisjoint(needs)}
            lost = {number for number in behind if self.entries[number].status is SKIPPED}
            if lost <= affected:
                break
            affected |= lost
        left = {number for number, one in enumerate(self.entries) if one.status in {BLOCKED, WAITING, SKIPPED}} | chosen
        ends = (number for number in behind if self.mark(number, Mark.ENDED) and self.entries[number].status is PASSED)
        return sorted(end for end in ends if any(end in self.needs[number] for number in left))

    def rerun(self, positions: Iterable[int]) -> None:
        """Call completed entries again, except those whose subject has passed its exit."""
        passed = (number for number, entry in enumerate(self.entries) if entry.status is PASSED)
        gone = {int(self.graph.subject[number]) for number in passed if self.mark(number, Mark.EXIT)}
        chosen = [
            entry
            for entry in positions
            if self.entries[entry].status is COMPLETED and int(self.graph.subject[entry]) not in gone
        ]
        for entry in chosen:
            known = self.entries[entry]
            self.entries[entry] = NaiveEntry(COMPLETED, generation=known.generation + 1, is_begun=known.is_begun)
        self.reopened(chosen)
        self.settle()

    def completed(self, positions: Iterable[int]) -> None:
        """Set entries to completed, as a user does after checking that the work of these entries is done."""
        for entry in positions:
            known = self.entries[entry]
            is_behind = known.status in {BLOCKED, SKIPPED} and not self.mark(entry, Mark.ABSENT)
            if is_behind or known.status in {FAILED, UNSURE, SLEEPING, WAITING, CANCELED}:
                known.status = COMPLETED
        self.settle()

    def hurried(self, positions: Iterable[int] | None) -> None:
        """Release sleeping entries at once, before they are due."""
        for entry in range(len(self.entries)) if positions is None else positions:
            if self.entries[entry].status is SLEEPING:
                self.entries[entry].status, self.entries[entry].due = WAITING, 0

    @property
    def moves(self) -> bool:
        """True while an entry may change without a request of a user."""
        return any(entry.status in {WAITING, RUNNING, SLEEPING, CANCELING} for entry in self.entries)

    @property
    def unsure_count(self) -> int:
        """Number of unsure entries, about which a person must decide."""
        return sum(entry.status is UNSURE for entry in self.entries)
