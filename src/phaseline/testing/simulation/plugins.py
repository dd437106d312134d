"""An executor without plugins: what comes back from a call, and when, is drawn from the world's dice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.protocol.reports import CallReport
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import DocumentChange
from phaseline.testing.scheduled_reports import Coming

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.model.execution.events import Batch
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.graph.graph import Policy
    from phaseline.model.rows.rows import BatchRow
    from phaseline.testing.clock import VirtualClock
    from phaseline.testing.simulation.faults import Dice
    from phaseline.testing.simulation.ledger import CallLedger

LATE_MS = 90_000
"""What answers late answers so much later."""
COMPLETED, AGAIN, RETRY = int(OutcomeKind.COMPLETED), int(OutcomeKind.AGAIN), int(OutcomeKind.RETRY)
HOOKS = "hooks."
"""Phases of hook classes begin with it."""
FAILED, UNSURE = int(OutcomeKind.FAILED), int(OutcomeKind.UNSURE)


class SimulatedExecutor:
    """``ports.Executor``: calls are drawn answers that wait in a heap for their time."""

    def __init__(
        self,
        inbox: Inbox[CallReport],
        deployments: DeploymentCache,
        clock: VirtualClock,
        dice: Dice,
        ledger: CallLedger,
    ) -> None:
        """Nothing is being called."""
        self._inbox, self._deployments, self._clock, self._dice, self._ledger = inbox, deployments, clock, dice, ledger
        self._coming = Coming(clock)
        self._answering: set[tuple[int, int]] = set()
        """(batch, member) of calls that answer when they are ended."""
        self._slots = {"threads": dice.random.randint(1, 4), "workers": dice.random.randint(1, 3)}

    def slots(self) -> Mapping[str, int]:
        """How many calls each pool holds at once."""
        return self._slots

    def submit(self, batch: Batch) -> None:
        """Draw the answer of each member; those that come at the same time come together."""
        dice, faults = self._dice, self._dice.faults
        dice.crash()
        self._ledger.began(batch)
        together: dict[int, list[tuple[int, int, int]]] = {}
        for member, segment, place in members_of(batch):
            policy = self._deployments.policies(segment.graph)[segment.policies.item(place)]
            if policy.answers_stop:
                self._answering.add((batch.id, member))
            kind, after, delay = self._draw(policy)
            together.setdefault(after, []).append((member, kind, delay))
            if dice.happens(faults.notes) and segment.kind is not SubjectKind.DEPLOYMENT:
                self._coming.add(after // 2, self._note(batch, segment, place, member))
        for after, answers in together.items():
            report = self._report(batch, answers)
            self._coming.add(after, report)
            if dice.happens(faults.twice):
                self._coming.add(after + dice.one(0, 1, 5_000), report)
        if dice.happens(faults.foreign):
            self._coming.add(0, self._foreign(batch))

    def _draw(self, policy: Policy) -> tuple[int, int, int]:
        """(outcome, ms until it comes, ms until the next call or -1) of one member."""
        dice, faults = self._dice, self._dice.faults
        after = dice.one(0, 0, 10, 1_000) + (LATE_MS if dice.happens(faults.late) else 0)
        if policy.timeout_ms and (after > policy.timeout_ms or dice.happens(faults.hangs)):
            return RETRY if policy.timeout_recoverable else FAILED, policy.timeout_ms, -1
        if dice.happens(faults.fails):
            return FAILED, after, -1
        if dice.happens(faults.retries):
            return RETRY, after, dice.one(-1, -1, 0, 40)
        if dice.happens(faults.sleeps):
            return AGAIN, after, dice.one(0, 40, 3_000)
        if dice.happens(faults.unsure):
            is_hook = policy.lane.phase.startswith(HOOKS)  # whose callers always know, and which may be called again
            return COMPLETED if is_hook else UNSURE, after, -1
        return COMPLETED, after, -1

    def _report(self, batch: Batch, answers: Sequence[tuple[int, int, int]]) -> CallReport:
        members, kinds, delays = zip(*answers, strict=True)
        return CallReport(batch.id, np.array(members, np.int32), np.array(kinds, np.uint8), np.array(delays, np.int64))

    def _note(self, batch: Batch, segment: GraphSegment, place: int, member: int) -> CallReport:
        """Data of a call that goes on."""
        change = DocumentChange(segment.deployment, int(segment.subjects[place]), {("seen",): batch.id})
        kind = np.zeros(1, np.uint8)
        return CallReport(batch.id, np.array([member], np.int32), kind, np.full(1, -1, np.int64), ((member, change),))

    def _foreign(self, batch: Batch) -> CallReport:
        """An answer for a member or a batch that was never given."""
        strange = self._dice.one((batch.id, len(batch)), (batch.id, -1), (batch.id + 1000, 0))
        kind = np.array([self._dice.one(COMPLETED, FAILED)], np.uint8)
        return CallReport(strange[0], np.array([strange[1]], np.int32), kind, np.full(1, -1, np.int64))

    @property
    def next_at(self) -> int | None:
        """When the next answer comes, in ms; None: none will."""
        return self._coming.next_at

    def deliver(self) -> int:
        """Post what has come; how much. Without an answer the loop is nudged, so that it never waits in real time."""
        count = 0
        for report in self._coming.arrived():
            self._inbox.post(report)
            count += 1
        if not count:
            self._inbox.wake()
        return count

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Killed calls never answer, or at once that they were ended, as their policy has it; those of other members that
        would have answered with them do. Without ``kill`` a call may as well not have been told.
        """
        if not kill:
            return
        self._coming.drop(batch, members)
        ended = [member for member in members.tolist() if (batch, member) in self._answering]
        if ended:
            self._coming.add(
                0, CallReport(batch, np.array(ended, np.int32), np.full(len(ended), FAILED), np.full(len(ended), -1))
            )

    def recover(self, open_batches: Sequence[BatchRow]) -> None:
        """Nothing survives the process."""

    def hold(self) -> None:
        """What was handed over has begun."""

    def release(self) -> None:
        """Nothing was held back."""

    def is_busy(self) -> bool:
        """True while an answer is coming."""
        return bool(self._coming)

    def stop(self, drain_s: float) -> None:
        """Nothing answers any more, however long one waits."""
        del drain_s
        self._coming.clear()


def members_of(batch: Batch) -> Iterator[tuple[int, GraphSegment, int]]:
    """(member, its segment, its place there) in order."""
    member = 0
    for segment in batch.segments:
        for place in range(len(segment.positions)):
            yield member, segment, place
            member += 1
