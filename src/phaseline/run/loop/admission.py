"""Admission: executions of a deployment whose claims collide run one after the other, in the order of their arrival.

A claim is the set of instances that an execution may change ("owns") or needs unchanged ("leans on"). Claims are not
stored: a running execution holds its claim until it has ended. Waiting executions are queued in the store; an engine
that opens the store checks them again, after the executions that have begun. An execution waits for the first earlier
execution whose claim collides with its own, whether that one runs or waits. So later executions cannot overtake it.

An execution that was canceled without waiting for its calls keeps its claim until they have returned. Otherwise the
next execution could delete what a call is still creating. An execution with ``--if-busy force`` does not wait.

Claims do not cross deployments, with one exception (DP12): an install waits for the open installs of the deployments
that it reads, so that it does not read what is half made.

Claims are computed only when a deployment has two open executions. To be fast with thousands of executions, counters
per instance show whether anything is taken; only then is the claim compared with each other claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.deployments.planner_driver import NOT_READ
from phaseline.plan.requests.claims import EVERYTHING, claim_of, collide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from phaseline.calls.deployments.estate.provider_installs import InstallReads
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.plan.requests.claims import Claim

FORCE = "force"
INSTALL = "install"


class Claims:
    """The running and waiting executions of this engine, by deployment."""

    def __init__(
        self,
        topology_of: Callable[[int], Topology],
        begin: Callable[[ExecutionRow], None],
        has_calls: Callable[[int], bool],
    ) -> None:
        """Start without executions. ``topology_of`` returns the current topology of a deployment, ``begin`` starts an
        execution that has waited, ``has_calls`` returns True if given-up calls of an execution still run.
        """
        self._topology_of, self._begin, self._has_calls = topology_of, begin, has_calls
        self._counters: dict[int, _Counter] = {}
        self.on_left: Callable[[int], object] = lambda _deployment: None
        """Function called with the number of a deployment when its last execution has been removed."""
        self.is_refused: Callable[[ExecutionRow], bool] = lambda _row: False
        """Function called with an execution that must wait for another one than before. If it returns True, the
        execution was refused: it waits no longer, and may begin, in order to fail."""
        self.reads_of: Callable[[ExecutionRow, int], InstallReads | None] = lambda _row, _outer: None
        """Function called with an install, and with the execution that makes it or 0. It returns whose installs the
        install waits for; None means no other install."""
        self._reads: dict[int, InstallReads] = {}
        """{number of a waiting install: whose installs it waits for}"""
        self._consumers: dict[int, ExecutionRow] = {}
        """{number of an execution that waits for one of another deployment: its row}"""
        self.waiting: dict[int, int] = {}
        """{number of a waiting execution: number of the execution that it waits for}"""
        self.lingering: dict[int, ExecutionRow] = {}
        """{number of a canceled execution whose calls still run: its row}"""

    def take_up(self, row: ExecutionRow) -> None:
        """Add an execution that has begun. It gets its claim without a check for collisions."""
        self._at(row).put(row)
        self._wait_no_longer(row.number)
        self.lingering.pop(row.number, None)

    def come(self, row: ExecutionRow) -> bool:
        """Add a new execution. Return True if it may begin, or False if it has to wait."""
        counter = self._at(row)
        blocker = None
        if row.request.if_busy != FORCE and not row.request.flaw:
            blocker = counter.blocker(row) or next(self._installs_before(row), None)
        counter.put(row)
        if blocker is not None:
            self._let_wait(row, blocker)
        return blocker is None

    def end(self, row: ExecutionRow, *, was_canceled: bool) -> None:
        """Remove an ended execution; if it was canceled while calls still run, keep its claim until they return."""
        if was_canceled and self._has_calls(row.number):
            self.lingering[row.number] = row
        else:
            self.leave(row)

    def let_go(self) -> None:
        """Remove canceled executions whose last running call has returned."""
        if not self.lingering:
            return
        for row in [row for number, row in self.lingering.items() if not self._has_calls(number)]:
            del self.lingering[row.number]
            self.leave(row)

    def leave(self, row: ExecutionRow) -> None:
        """Remove an execution, and begin those that waited only for it, in the order of their arrival."""
        counter = self._counters.get(row.deployment)
        if counter is None:
            return
        counter.take(row.number)
        self._wait_no_longer(row.number)
        if not counter.came:
            del self._counters[row.deployment]
            self.on_left(row.deployment)
        behind = [number for number, blocker in self.waiting.items() if blocker == row.number]
        for other in [self._consumers.get(number) or counter.came[number] for number in behind]:
            own = self._counters[other.deployment]
            own.renew(other)
            self._reads.pop(other.number, None)  # what has ended may have been an update
            blocker = own.first_before(other) or next(self._installs_before(other), None)
            if blocker is not None:
                self._let_wait(other, blocker)
            if blocker is None or self.is_refused(other):
                self._wait_no_longer(other.number)
                self._begin(other)

    def _let_wait(self, row: ExecutionRow, blocker: ExecutionRow) -> None:
        self.waiting[row.number] = blocker.number
        if blocker.deployment == row.deployment:
            self._consumers.pop(row.number, None)
        else:
            self._consumers[row.number] = row

    def _wait_no_longer(self, number: int) -> None:
        self.waiting.pop(number, None)
        self._consumers.pop(number, None)
        self._reads.pop(number, None)

    def _installs_before(
        self, row: ExecutionRow, coming: Iterable[ExecutionRow] = (), outer: int = 0
    ) -> Iterator[ExecutionRow]:
        """Yield the open installs that an install must wait for: they have begun, or came before it (DP12)."""
        if row.request.workflow != INSTALL or not (coming or len(self._counters) > (row.deployment in self._counters)):
            return
        reads = self._reads.get(row.number) or self.reads_of(row, outer)
        if not reads:
            return
        if row.number in self.waiting:
            self._reads[row.number] = reads
        for one in coming:
            if one.deployment in reads.providers and one.request.workflow == INSTALL:
                yield one
        for provider in sorted(reads.providers.intersection(self._counters)):
            for number, one in self._counters[provider].came.items():
                is_before = number not in self.waiting or not row.number or number < row.number
                if is_before and one.request.workflow == INSTALL and number not in reads.around:
                    yield one

    def holds(self, deployment: int) -> bool:
        """Return True if an execution of the deployment is open, or is canceled while some of its calls still run."""
        return deployment in self._counters

    @property
    def waits_for_calls(self) -> bool:
        """True if a waiting execution waits for a canceled one whose given-up calls still run."""
        return any(blocker in self.lingering for blocker in self.waiting.values())

    def blocker(self, row: ExecutionRow) -> ExecutionRow | None:
        """Return the first open execution whose claim collides with the claim of an ended execution, or None.

        A user wants to continue the ended execution.
        """
        counter = self._counters.get(row.deployment)
        return None if counter is None else counter.blocker(row)

    def row(self, execution: int) -> ExecutionRow | None:
        """Return the row of a waiting execution, or None if the execution does not wait."""
        if execution not in self.waiting:
            return None
        return next(found for counter in self._counters.values() if (found := counter.came.get(execution)))

    def ahead_of(self, row: ExecutionRow, coming: Iterable[ExecutionRow] = (), outer: int = 0) -> Iterator[int]:
        """Yield the executions that this one must wait for: those that came before it and whose claims collide with its.

        An install also waits for installs of what it reads. ``row``: an execution that waits, or one that has not come
        yet. ``coming``: others that will come before it. ``outer``: the execution that makes it, or 0.
        """
        if row.request.if_busy == FORCE or row.request.flaw:
            return
        yield from (one.number for one in self._installs_before(row, coming, outer))
        coming = [one for one in coming if one.deployment == row.deployment]
        counter = self._counters.get(row.deployment)
        if counter is None and coming:
            counter = _Counter(row.deployment, self._topology_of)
        if counter is not None:
            yield from counter.ahead_of(row, coming)

    def chain(self, execution: int) -> Iterator[int]:
        """Yield the execution that this one waits for, then the next one in the chain, up to the one that runs."""
        while (found := self.waiting.get(execution)) is not None:
            yield found
            execution = found

    def _at(self, row: ExecutionRow) -> _Counter:
        found = self._counters.get(row.deployment)
        if found is None:
            found = self._counters[row.deployment] = _Counter(row.deployment, self._topology_of)
        return found


class _Counter:
    """The open executions of one deployment; with two or more, also how many of them own or lean on each instance."""

    def __init__(self, deployment: int, topology_of: Callable[[int], Topology]) -> None:
        self._deployment, self._topology_of = deployment, topology_of
        self.came: dict[int, ExecutionRow] = {}
        self._claims: dict[int, Claim] = {}
        self._owned = self._leaned = np.zeros(0, np.int32)
        self._everything = self._by_resource = 0

    def put(self, row: ExecutionRow) -> None:
        """Add an execution. Compute claims only if there is more than one execution."""
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
        """Compute the claim of a waiting execution again: instances may have been added or removed meanwhile."""
        claim = self._claims.pop(row.number, None)
        if claim is not None:
            self._count(claim, -1)
        self._count_all()

    def blocker(self, row: ExecutionRow) -> ExecutionRow | None:
        """Return the first execution whose claim collides with the claim of this execution, or None."""
        if not self.came:
            return None
        self._count_all()
        return None if self._is_free(self._made(row)) else self.first_before(row)

    def first_before(self, row: ExecutionRow) -> ExecutionRow | None:
        """Return the first execution that came before this one and whose claim collides with its claim, or None."""
        claim = self._made(row)
        for number, other in self.came.items():
            if number == row.number:
                return None
            if collide(claim, self._claims[number]):
                return other
        return None

    def ahead_of(self, row: ExecutionRow, coming: Iterable[ExecutionRow]) -> Iterator[int]:
        """Yield the executions that came, or come, before this one and whose claims collide with its claim."""
        self._count_all()
        claim = self._made(row)
        yield from (other.number for other in coming if collide(claim, self._claim_of(other)))
        for number, other in self.came.items():
            if number == row.number:
                return
            if collide(claim, self._claims[number]):
                yield other.number

    def _is_free(self, claim: Claim) -> bool:
        """Return True if the counters show that no other execution has a claim on the instances of this claim."""
        if claim.by_resource:
            return self._by_resource == len(self._claims)
        if self._everything or self._by_resource or claim.own is None:
            return False
        taken = self._owned[claim.own].any() or self._owned[claim.leans].any() or self._leaned[claim.own].any()
        return not taken

    def _made(self, row: ExecutionRow) -> Claim:
        return self._claims.get(row.number) or self._claim_of(row)

    def _claim_of(self, row: ExecutionRow) -> Claim:
        """Return the claim of an execution.

        If the execution's data is unreadable, claim all instances: the next step that reads it fails the execution.
        """
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
