"""Worlds in which calls make executions of other deployments and wait for them: crashes, cancels and circles (BB1-BB4, RK2).

The applications of a world share a few inner deployments. Now and then an operation of any of them starts an execution in
an inner deployment, or waits for one that runs there. So executions wait for one another, in queues of deployments and
in entries, and without the engine's care some would wait in a circle.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from phaseline.lang.cycles import find_path
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.rows.causes import CauseKey, entry_key
from phaseline.model.rows.follow_ups import FollowUp
from phaseline.model.rows.rows import NewDeployment, NewExecution
from phaseline.testing.builders import topology
from phaseline.testing.simulation.applications import draw_application
from phaseline.testing.simulation.ledger import neighbours_of
from phaseline.testing.simulation.plugins import AGAIN, COMPLETED, FAILED, DrawnAnswers
from phaseline.testing.simulation.world import USER, CrashingStore, Life, World, lived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.causes import AwaitRow
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import ExecutionRow, Turn
    from phaseline.testing.simulation.faults import Dice
    from phaseline.testing.simulation.ledger import CallLedger
    from phaseline.testing.simulation.world import OpenStore, Story

COMPOSES = 0.25
"""Chance that a call which would complete starts or awaits an execution instead."""
LONG_MS = 366 * 24 * 3_600_000
WORKFLOWS = ("install", "install", "uninstall")
MOST_INNER = 40
"""Number of executions that the calls of one world start at most, so that every world ends."""


class CrashingTransactions:
    """A part of a store whose process may die after a transaction of several parts, of which each is then stored.

    ``depth`` is the number of contexts ``as_one`` that the thread is in.
    """

    depth = 0
    crash: Callable[[], None]

    @contextmanager
    def as_one(self, order: NewOrder | None = None) -> Iterator[dict[str, Value]]:
        """Return a context that makes all writes of this thread one transaction."""
        self.depth += 1
        try:
            with super().as_one(order) as answer:  # type: ignore[misc]  # of the store that this is a part of
                yield answer
        finally:
            self.depth -= 1
        if not self.depth:
            self.crash()


class ComposingStore(CrashingTransactions, CrashingStore):
    """The usual store of a composed world, in memory."""


class ComposedAnswers(DrawnAnswers):
    """Drawn answers, of which some start or await executions of the world's inner deployments."""

    def __init__(self, deployments: DeploymentCache, dice: Dice, ledger: CallLedger, world: ComposedWorld) -> None:
        super().__init__(deployments, dice, ledger)
        self._world = world

    def to(self, batch: Batch) -> Iterator[tuple[int, CallReport]]:
        """Draw the answer of each member, and what it makes."""
        for after, report in super().to(batch):
            is_own = report.batch == batch.id and not report.is_noted and int(report.members.min()) >= 0
            yield after, self._composed(batch, report) if is_own else report

    def _composed(self, batch: Batch, report: CallReport) -> CallReport:
        kinds, delays, made = report.kinds.copy(), report.delays.copy(), []
        for place, member in enumerate(report.members.tolist()):
            if kinds[place] != COMPLETED or member >= len(batch):
                continue
            segment, index = batch.members.place_of(member)
            if segment.kind is SubjectKind.DEPLOYMENT:
                continue
            key = entry_key(segment.graph, int(segment.positions[index]), int(segment.generations[index]))
            wanted = self._world.wanted(CauseKey("component", segment.execution, key))
            if isinstance(wanted, FollowUp):
                kinds[place], delays[place] = AGAIN, self._dice.one(LONG_MS, LONG_MS, LONG_MS, 500)
                made.append((member, wanted))
            elif wanted is not None:
                kinds[place] = wanted
        return altered(report, kinds=kinds, delays=delays, follow_ups=made) if made or len(kinds) else report


class ComposedWorld(World):
    """A world with inner deployments. An oracle checks by reachability that nothing ever waits in a circle."""

    store: ComposingStore

    def __init__(self, seed: int, open_store: OpenStore = ComposingStore) -> None:
        """Store the inner deployments beside the applications."""
        self.inner: list[Life] = []
        self.made = 0
        super().__init__(seed, open_store)
        self.store.crash = self.dice.crash
        self.inner = [self._new_inner(number) for number in range(self.dice.one(1, 2, 3))]
        self._know_neighbours()

    def _new_inner(self, number: int) -> Life:
        application = draw_application(self.dice)
        made = topology(application)
        new = NewDeployment(f"in{number}", application, {}, made, CodeLocation("/nowhere"), USER, self.clock.now())
        deployment, _ = self.store.create_deployment(new)
        return Life(deployment, neighbours_of(made))

    def _answers(self, deployments: DeploymentCache) -> DrawnAnswers:
        return ComposedAnswers(deployments, self.dice, self.ledger, self)

    def _begin_engine(self) -> None:
        super()._begin_engine()
        self._know_neighbours()

    def _know_neighbours(self) -> None:
        self.ledger.neighbours |= {life.deployment: life.neighbours for life in self.inner}

    @property
    def store_is_writing(self) -> bool:
        """True if the turn is a part of a larger transaction, which is not stored yet."""
        return self.store.depth > 0

    # -- what calls make ----------------------------------------------------------------------------------------

    def wanted(self, cause: CauseKey) -> FollowUp | int | None:
        """Return what a call makes that would complete, or its outcome once that has ended; None: it just completes."""
        made = [row for row in self.store.causes.caused(cause.kind, cause.number) if row.cause == cause]
        if made:
            row = self._by_number(made[0].number)
            if not row.status.is_ended:
                return FollowUp(awaits=(row.number,))
            return COMPLETED if row.status is ExecutionStatus.COMPLETED else FAILED
        if not self.inner or self.made >= MOST_INNER or not self.dice.happens(COMPOSES):
            return None
        life = self.dice.one(*self.inner)
        running = self.store.executions(life.deployment, only_open=True)
        if running and self.dice.happens(0.3):
            return FollowUp(awaits=(self.dice.one(*running).number,))
        self.made += 1
        request = Request(self.dice.one(*WORKFLOWS), retries=RetryPolicy(2, 1.0), if_busy="wait")
        return FollowUp(executions=(NewExecution(life.deployment, request, USER, self.clock.now(), cause=cause),))

    def _by_number(self, number: int) -> ExecutionRow:
        return next(row for row in self.store.executions() if row.number == number)

    # -- users --------------------------------------------------------------------------------------------------

    def act(self, life: Life) -> bool:
        """Let a user act on a deployment; the first user also decides about unsure calls of inner executions."""
        is_first = life is next(one for one in self.lives if not one.is_over)
        has_acted = super().act(life)
        if not is_first:
            return has_acted
        for inner in self.inner:
            for row in self.store.executions(inner.deployment, only_open=True):
                if row.status is ExecutionStatus.ATTENTION:
                    self._decide(Life(inner.deployment, inner.neighbours, row.id, row.request.workflow), row)
                    has_acted = True
        return has_acted

    def _pass_time(self, *, must_move: bool) -> None:
        """Advance the clock to the next event, which must be near: otherwise all wait for one another."""
        times = [at for at in (self.engine.wakes_at, self.executor.next_at) if at is not None]
        is_far = bool(times) and min(times) > self.clock.now() + LONG_MS // 2
        asks = any(row.status is ExecutionStatus.ATTENTION for row in self.store.executions(only_open=True))
        asks = asks or any(self._is_users_turn(life) for life in self.lives if not life.is_over)
        if asks and is_far:
            return  # the users act before the next turn
        if self.engine.has_work or not is_far or not must_move:
            super()._pass_time(must_move=must_move)
        elif self.engine.leaving.is_wanted:
            self.engine.go_on()
        else:
            assert self.engine.claims.waits_for_calls, "nothing will happen for a year"
            self._end_engine("a user ends the engine, for calls that were given up hang in it")
            self._begin_engine()

    # -- the oracle ---------------------------------------------------------------------------------------------

    def tell(self, turn: Turn) -> None:
        """Record what was committed, and check that nothing waits in a circle."""
        super().tell(turn)
        rows = self.store.causes.awaiting()
        self.story.waits += len(turn.payload.awaits.new) if turn.payload.awaits else 0
        self.story.circles += sum("PL-C110" in remark.message for remark in turn.payload.remarks)
        if rows:
            self._raise_if_circular()

    def _raise_if_circular(self) -> None:
        """Find circles from what is stored alone: sleeping entries and their awaited executions, and the queues."""
        opened = {row.number: row for row in self.store.executions(only_open=True)}
        ahead: dict[int, list[int]] = {number: [] for number in opened}
        for wait in self.store.causes.awaiting():
            assert wait.execution in opened, f"a row of execution {wait.execution} is left, which has ended"
            assert wait.awaited in opened, f"{wait.execution} still awaits {wait.awaited}, which has ended"
            if self._waits_only(wait):
                ahead[wait.execution].append(wait.awaited)
        for number, row in opened.items():
            if row.status is ExecutionStatus.QUEUED and not row.started_at:
                before = [other.number for other in opened.values() if other.deployment == row.deployment]
                ahead[number] += [other for other in before if other < number]
        for number in opened:
            for after in ahead[number]:
                path = find_path(after, number, ahead.__getitem__)
                assert not path, f"executions wait for each other: {[number, *path]}"

    def _waits_only(self, row: AwaitRow) -> bool:
        """Return True if an entry sleeps, and only the end of the awaited execution will wake it."""
        status = int(self.store.statuses(row.graph)[row.position])
        due = [note.due for note in self.store.notes(row.graph, among=[row.position])]
        return status == EntryStatus.SLEEPING and max(due, default=0) > self.clock.now() + LONG_MS // 2


def simulate_composition(seed: int, open_store: OpenStore = ComposingStore) -> Story:
    """Return the story of the composed world of this seed. ``open_store`` opens an empty store with ``CrashingTransactions``.

    Raises: ``Broken`` with the story so far if it breaks a promise.
    """
    return lived(ComposedWorld(seed, open_store))
