"""Admission: executions of a deployment whose claims collide run one after the other, in the order of their arrival.

Nothing of it is stored. A running execution holds its claim until it has ended. Waiting executions are queued in the
store, and an engine that opens a store checks them again, begun ones first. An execution waits for one other at a time:
the first before it with which it collides, running or waiting itself, so that none is overtaken for ever.

An execution that was canceled without waiting for its calls keeps its claim until they have returned: the next one
could otherwise delete what a call is still creating. ``--if-busy force`` starts beside them.

An execution that is alone in its deployment costs nothing: claims are made when a second one comes. Ten thousand that
own one instance each cost a look at a column each: only one that finds something taken is compared with the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.deployments.planner_driver import NOT_READ
from phaseline.plan.requests.claims import EVERYTHING, claim_of, collide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.plan.requests.claims import Claim

FORCE = "force"


class Claims:
    """Running and waiting executions of this engine, by deployment."""

    def __init__(
        self,
        topology_of: Callable[[int], Topology],
        begin: Callable[[ExecutionRow], None],
        has_calls: Callable[[int], bool],
    ) -> None:
        """Start without executions. ``topology_of`` gives the current topology of a deployment, ``begin`` starts an
        execution that has waited, ``has_calls`` is true if given-up calls of an execution still run.
        """
        self._topology_of, self._begin, self._has_calls = topology_of, begin, has_calls
        self._counters: dict[int, _Counter] = {}
        self.on_left: Callable[[int], object] = lambda _deployment: None
        """Called when no execution of a deployment is left."""
        self.waiting: dict[int, int] = {}
        """{execution that waits: the one it waits for}"""
        self.lingering: dict[int, ExecutionRow] = {}
        """{execution that is over, with calls that still run: its row}"""

    def take_up(self, row: ExecutionRow) -> None:
        """Add an execution that has begun: it holds its claim, whatever other executions there are."""
        self._at(row).put(row)
        self.waiting.pop(row.number, None)
        self.lingering.pop(row.number, None)

    def come(self, row: ExecutionRow) -> bool:
        """Add a new execution; False if it has to wait."""
        counter = self._at(row)
        blocker = None if row.request.if_busy == FORCE or row.request.flaw else counter.blocker(row)
        counter.put(row)
        if blocker is not None:
            self.waiting[row.number] = blocker.number
        return blocker is None

    def end(self, row: ExecutionRow, *, was_canceled: bool) -> None:
        """An execution is over; it leaves when none of its calls runs any more."""
        if was_canceled and self._has_calls(row.number):
            self.lingering[row.number] = row
        else:
            self.leave(row)

    def let_go(self) -> None:
        """Remove ended executions whose last call has returned."""
        if not self.lingering:
            return
        for row in [row for number, row in self.lingering.items() if not self._has_calls(number)]:
            del self.lingering[row.number]
            self.leave(row)

    def leave(self, row: ExecutionRow) -> None:
        """Remove an execution that has ended; executions that waited only for it begin, in their order."""
        counter = self._counters.get(row.deployment)
        if counter is None:
            return
        counter.take(row.number)
        self.waiting.pop(row.number, None)
        if not counter.came:
            del self._counters[row.deployment]
            self.on_left(row.deployment)
        for other in [counter.came[number] for number, blocker in self.waiting.items() if blocker == row.number]:
            counter.renew(other)
            blocker = counter.first_before(other)
            if blocker is None:
                del self.waiting[other.number]
                self._begin(other)
            else:
                self.waiting[other.number] = blocker.number

    def holds(self, deployment: int) -> bool:
        """Whether an execution of the deployment is open, or has ended while some of its calls still run."""
        return deployment in self._counters

    @property
    def waits_for_calls(self) -> bool:
        """True if an execution waits for calls that were given up."""
        return any(blocker in self.lingering for blocker in self.waiting.values())

    def blocker(self, row: ExecutionRow) -> ExecutionRow | None:
        """The open execution with which an ended one would collide if it continued now."""
        counter = self._counters.get(row.deployment)
        return None if counter is None else counter.blocker(row)

    def row(self, execution: int) -> ExecutionRow | None:
        """The row of a waiting execution; None if it does not wait."""
        if execution not in self.waiting:
            return None
        return next(found for counter in self._counters.values() if (found := counter.came.get(execution)))

    def chain(self, execution: int) -> Iterator[int]:
        """The executions that this one waits for, one behind the other; the last of them is running."""
        while (found := self.waiting.get(execution)) is not None:
            yield found
            execution = found

    def _at(self, row: ExecutionRow) -> _Counter:
        found = self._counters.get(row.deployment)
        if found is None:
            found = self._counters[row.deployment] = _Counter(row.deployment, self._topology_of)
        return found


class _Counter:
    """The open executions of one deployment. How many own and lean on each instance is counted once there are two."""

    def __init__(self, deployment: int, topology_of: Callable[[int], Topology]) -> None:
        self._deployment, self._topology_of = deployment, topology_of
        self.came: dict[int, ExecutionRow] = {}
        self._claims: dict[int, Claim] = {}
        self._owned = self._leaned = np.zeros(0, np.int32)
        self._everything = self._by_resource = 0

    def put(self, row: ExecutionRow) -> None:
        """Add an execution; claims are computed only from the second one on."""
        self.came[row.number] = row
        if len(self.came) > 1:
            self._count_all()

    def take(self, number: int) -> None:
        """Remove an execution and its claim."""
        self.came.pop(number, None)
        claim = self._claims.pop(number, None)
        if claim is not None:
            self._count(claim, -1)

    def renew(self, row: ExecutionRow) -> None:
        """Compute the claim of an execution again: instances may have been added or removed while it waited."""
        claim = self._claims.pop(row.number, None)
        if claim is not None:
            self._count(claim, -1)
        self._count_all()

    def blocker(self, row: ExecutionRow) -> ExecutionRow | None:
        """The first execution of the deployment whose claim collides with that of this one."""
        if not self.came:
            return None
        self._count_all()
        return None if self._is_free(self._made(row)) else self.first_before(row)

    def first_before(self, row: ExecutionRow) -> ExecutionRow | None:
        """The first earlier execution whose claim collides with that of this one."""
        claim = self._made(row)
        for number, other in self.came.items():
            if number == row.number:
                return None
            if collide(claim, self._claims[number]):
                return other
        return None

    def _is_free(self, claim: Claim) -> bool:
        """True if nothing it needs is taken: by the counts, without comparing with single executions."""
        if claim.by_resource:
            return self._by_resource == len(self._claims)
        if self._everything or self._by_resource or claim.own is None:
            return False
        taken = self._owned[claim.own].any() or self._owned[claim.leans].any() or self._leaned[claim.own].any()
        return not taken

    def _made(self, row: ExecutionRow) -> Claim:
        return self._claims.get(row.number) or self._claim_of(row)

    def _claim_of(self, row: ExecutionRow) -> Claim:
        """The claim of an execution; all instances if it is unreadable: then the next step that reads the execution ends it."""
        try:
            return claim_of(self._topology_of(self._deployment), row.request)
        except NOT_READ as error:
            from phaseline.calls.deployments.unreadable_execution import is_alone

            if not is_alone(error):
                raise
            return EVERYTHING

    def _count_all(self) -> None:
        for number, row in self.came.items():
            if number not in self._claims:
                claim = self._claims[number] = self._claim_of(row)
                self._count(claim, 1)

    def _count(self, claim: Claim, by: int) -> None:
        if claim.by_resource:
            self._by_resource += by
        elif claim.own is None:
            self._everything += by
        else:
            size = len(self._topology_of(self._deployment))
            if len(self._owned) < size:
                more = np.zeros(size - len(self._owned), np.int32)
                self._owned, self._leaned = np.append(self._owned, more), np.append(self._leaned, more)
            self._owned[claim.own] += by
            self._leaned[claim.leans] += by
