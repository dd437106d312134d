"""Random results and durations of calls, drawn from the world's dice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.protocol.reports import CallReport
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import DocumentChange
from phaseline.testing.scheduled_reports import members_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.model.execution.events import Batch
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.graph.graph import Policy
    from phaseline.testing.simulation.faults import Dice
    from phaseline.testing.simulation.ledger import CallLedger

LATE_MS = 90_000
"""Delay of late answers, in ms."""
COMPLETED, AGAIN, RETRY = int(OutcomeKind.COMPLETED), int(OutcomeKind.AGAIN), int(OutcomeKind.RETRY)
HOOKS = "hooks."
"""Prefix of the phases of hook classes."""
FAILED, UNSURE = int(OutcomeKind.FAILED), int(OutcomeKind.UNSURE)


class DrawnAnswers:
    """``Answers`` that are drawn from the world's dice."""

    def __init__(self, deployments: DeploymentCache, dice: Dice, ledger: CallLedger) -> None:
        self._deployments, self._dice, self._ledger = deployments, dice, ledger
        self._answering: set[tuple[int, int]] = set()
        """(batch, member) of calls that report an answer even when they are killed."""
        self.slots: Mapping[str, int] = {"threads": dice.random.randint(1, 4), "workers": dice.random.randint(1, 3)}

    def to(self, batch: Batch) -> Iterator[tuple[int, CallReport]]:
        """Draw the answer of each member; answers that arrive at the same time form one report."""
        self._ledger.check_order(batch)
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
                yield after // 2, self._note(batch, segment, place, member)
        for after, answers in together.items():
            report = self._report(batch, answers)
            yield after, report
            if dice.happens(faults.twice):
                yield after + dice.one(0, 1, 5_000), report
        if dice.happens(faults.foreign):
            yield 0, self._foreign(batch)

    def _draw(self, policy: Policy) -> tuple[int, int, int]:
        """Return (outcome, ms until the report, ms until the next call or -1) of one member."""
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
        """Return a report that only changes a member's document, while its call continues."""
        change = DocumentChange(segment.deployment, int(segment.subjects[place]), {("seen",): batch.id})
        kind = np.zeros(1, np.uint8)
        return CallReport(batch.id, np.array([member], np.int32), kind, np.full(1, -1, np.int64), ((member, change),))

    def _foreign(self, batch: Batch) -> CallReport:
        """Return a report for a member or batch that does not exist, which the engine must ignore."""
        strange = self._dice.one((batch.id, len(batch)), (batch.id, -1), (batch.id + 1000, 0))
        kind = np.array([self._dice.one(COMPLETED, FAILED)], np.uint8)
        return CallReport(strange[0], np.array([strange[1]], np.int32), kind, np.full(1, -1, np.int64))

    def when_killed(self, batch: int, members: np.ndarray) -> CallReport | None:
        """Report killed members as ended at once if their policy requires an answer; other members never report."""
        ended = [member for member in members.tolist() if (batch, member) in self._answering]
        if not ended:
            return None
        return CallReport(batch, np.array(ended, np.int32), np.full(len(ended), FAILED), np.full(len(ended), -1))
