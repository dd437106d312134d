"""One simulated world: an engine that crashes, a store that survives, users with random requests, and the events."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Protocol

import numpy as np

from phaseline.engine.invariants import validate
from phaseline.engine.stories import Stories
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import Actor, NewDeployment, NewExecution
from phaseline.plan.workflows.install import CLEAN_UP
from phaseline.ports.store import Store
from phaseline.run.loop.engine import Engine
from phaseline.run.loop.eviction import MOST_BYTES
from phaseline.store.memory.purge import MemoryPurge
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import topology
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices
from phaseline.testing.scheduled_reports import ScheduledExecutor
from phaseline.testing.simulation.applications import declare, draw_application
from phaseline.testing.simulation.faults import Crash, Dice
from phaseline.testing.simulation.ledger import DELETED, STARTED, CallLedger, neighbours_of
from phaseline.testing.simulation.plugins import DrawnAnswers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Commit = Callable[["Turn", Callable[["Turn"], None]], None]
    OpenStore = Callable[[VirtualClock, Commit], "SimulatedStore"]

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.model.execution.events import GraphAdded
    from phaseline.model.rows.maintenance import PurgeRules
    from phaseline.model.rows.rows import ExecutionRow, Turn
    from phaseline.store.memory.tables import MemoryTables
    from phaseline.testing.simulation.ledger import Neighbours

BEGINNING_MS = 1_700_000_000_000
CALM_AFTER = 60
"""Number of turns after which no more faults happen, so that every world ends."""
CHECKED_EVERY = 16
"""Number of turns after which the engine's invariants are checked; property tests check them after each turn."""
BOUNDS = (0, 0, 5_000, MOST_BYTES)
"""Limits, in bytes, of the idle deployments that an engine keeps in memory; half of the seeds draw one each turn."""
MOST_TURNS = 2_000
MOST_TRIES = 3
HALF_MADE = (InstanceState.CREATING, InstanceState.STARTING)
"""States of instances that are half made, which a clean-up must remove before an install."""
USER = Actor("ann")
LIMITS = (None, None, None, StopAfter(failures=0), StopAfter(failures=1), StopAfter(share=0.5), StopAfter(seconds=5))


class Broken(AssertionError):
    """Something happened that must never happen."""

    def __init__(self, seed: int, lines: list[str], reason: str) -> None:
        """``lines`` are the events so far."""
        self.seed, self.lines = seed, lines
        super().__init__(f"seed {seed}: {reason}")


@dataclass(slots=True)
class Story:
    """The events of one world, a line for each turn worth reporting."""

    seed: int
    told: list[tuple[int, str | Turn]] = field(default_factory=list)
    turns: int = 0
    calls: int = 0
    crashes: int = 0
    evictions: int = 0
    waits: int = 0
    circles: int = 0
    firings: int = 0
    missed: int = 0

    @property
    def lines(self) -> list[str]:
        """Remarks and commits as text, made when needed, because few runs read it."""
        return [f"{at - BEGINNING_MS:>8} ms  {line}" for at, told in self.told for line in _in_words(told)]


def _in_words(told: str | Turn) -> list[str]:
    if isinstance(told, str):
        return [told]
    lines = []
    for changed in told.changes.executions:
        lines.append(f"execution {changed.execution} is {changed.status.value} {changed.reason}".rstrip())
    for closed in told.changes.closed:
        kinds = " ".join(OutcomeKind(kind).name.lower() for kind in closed.kinds.tolist())
        lines.append(f"batch {closed.batch} has {kinds}")
    for batch in told.changes.opened:
        members = ", ".join(f"{part.graph}:{part.positions.tolist()}" for part in batch.segments)
        lines.append(f"batch {batch.id} calls {batch.lane.phase.rpartition('.')[2]} for {members}")
    return lines


@dataclass(slots=True)
class Life:
    """One deployment: it is installed, perhaps retried, and uninstalled. ``execution`` is the id of its present execution.

    ``neighbours`` are dependencies between instances, with which the order of calls is compared. ``wished_at`` is the
    attempt for which a user requested a clean-up, ``cleaned_at`` the last attempt that had one (0: none).
    """

    deployment: int
    neighbours: Neighbours
    execution: str = ""
    workflow: str = "install"
    tries: int = 0
    is_over: bool = False
    wished_at: int = 0
    cleaned_at: int = 0


class SimulatedStore(Store, Protocol):
    """A store of a world, which passes its commits to the world."""

    def disown(self) -> None:
        """End the ownership as if the owner had died, so that another owner can follow."""
        ...

    def close(self) -> None:
        """Close what the store has opened."""
        ...


class CrashingStore(MemoryStore):
    """The usual store of a world, in memory; what was committed before a crash is kept."""

    def __init__(self, clock: VirtualClock, commit: Commit) -> None:
        """``commit`` is called with each turn and the function that writes it."""
        super().__init__(clock, identity="simulated")
        self._commit = commit
        self.crash: Callable[[], None] = lambda: None
        """Called before and after each slice of a purge; the process may die there."""

    def commit(self, turn: Turn) -> None:
        """Write the turn, unless the world's process dies first."""
        self._commit(turn, super().commit)

    def purging(self, rules: PurgeRules) -> MemoryPurge:
        """Begin to remove what is older than the rules allow, one execution in a slice."""
        return MemoryPurge(self._slicing, rules, self._own, self._forget_gone, removed_together=1)

    @contextmanager
    def _slicing(self) -> Iterator[MemoryTables]:
        """Return a context for a slice, before or after which the process may die."""
        self.crash()
        with self._changing() as held:
            yield held
        self.crash()


class World:
    """The whole simulated world of one seed."""

    executor: ScheduledExecutor
    engine: Engine

    def __init__(self, seed: int, open_store: OpenStore = CrashingStore) -> None:
        """Store one or two deployments, which are not yet installed."""
        self.story = Story(seed)
        self.dice = Dice(seed)
        self.clock = VirtualClock(BEGINNING_MS)
        self.store = open_store(self.clock, self.commit)
        if isinstance(self.store, CrashingStore):
            self.store.crash = self.dice.crash
        self.ledger = CallLedger(self.store)
        self._memory = Random(seed)
        self.lives = [self._new_life(number) for number in range(self.dice.one(1, 1, 2))]
        self._begin_engine()

    def _new_life(self, number: int) -> Life:
        application = draw_application(self.dice)
        made = topology(application)
        new = NewDeployment(f"app{number}", application, {}, made, CodeLocation("/nowhere"), USER, self.clock.now())
        deployment, _ = self.store.create_deployment(new)
        return Life(deployment, neighbours_of(made))

    def _begin_engine(self) -> None:
        """Start a new process that becomes the owner of the store and continues open executions."""
        self.store.disown()
        self._owning = self.store.own("simulation")
        lease = self._owning.__enter__()
        self.engine = Engine(
            self.store,
            self.clock,
            PlainServices(
                lambda inbox, deployments: ScheduledExecutor(inbox, self.clock, self._answers(deployments)),
                declare,
            ),
            lease,
        )
        assert isinstance(self.engine.executor, ScheduledExecutor)
        self.executor = self.engine.executor
        self.ledger.neighbours = {life.deployment: life.neighbours for life in self.lives}
        self.engine.scheduler.arena.stories = Stories()
        self.engine.recover()

    def _answers(self, deployments: DeploymentCache) -> DrawnAnswers:
        """Return what answers the calls of a new engine."""
        return DrawnAnswers(deployments, self.dice, self.ledger)

    # -- time ---------------------------------------------------------------------------------------------------

    def live(self) -> Story:
        """Run turns until every deployment has been uninstalled, and return the story."""
        while alive := [life for life in self.lives if not life.is_over]:
            self.story.turns += 1
            assert self.story.turns < MOST_TURNS, "it never ends"
            if self.story.turns == CALM_AFTER + 1:
                self.dice.calm_down()
            acted = [self.act(life) for life in alive]
            self._turn()
            self._pass_time(must_move=not any(acted))
        self.story.calls = self.ledger.calls
        return self.story

    def _turn(self) -> None:
        try:
            self.executor.deliver()
            self._waver()
            if self.story.seed % 2:
                self.engine.eviction.most_bytes = self._memory.choice(BOUNDS)
            self.engine.turn()
            self.story.evictions += self.engine.eviction.evicted
            self.engine.eviction.evicted = 0
            if not self.story.turns % CHECKED_EVERY:
                validate(self.engine.scheduler)
            self.dice.crash()
        except Crash:
            self._end_engine("the process dies")
            self._begin_engine()

    def _waver(self) -> None:
        """Ask the engine to leave, or withdraw that because calls of other clients are running."""
        if not self.dice.wavers():
            return
        if self.engine.leaving.is_wanted:
            self.say("the engine continues")
            self.engine.go_on()
        else:
            self.say("the engine wants to leave, and begins nothing")
            self.engine.interrupt()

    def _end_engine(self, story: str) -> None:
        self.story.crashes += 1
        self.say(story)
        let_go(self.engine)
        self.clock.jump(self.dice.clock_jump())

    def _pass_time(self, *, must_move: bool) -> None:
        """Advance the clock to the next event."""
        if self.engine.has_work:
            return
        times = [at for at in (self.engine.wakes_at, self.executor.next_at) if at is not None]
        if times:
            self.clock.advance_to(min(times))
        elif must_move and self.engine.leaving.is_wanted:
            self.engine.go_on()
        elif must_move and self.engine.claims.waits_for_calls:
            self._end_engine("a user ends the engine, for calls that were given up hang in it")
            self._begin_engine()
        elif must_move:
            waiting = [life for life in self.lives if not life.is_over and not self._is_users_turn(life)]
            assert not waiting, f"nothing will ever happen again to {[life.execution for life in waiting]}"

    # -- users --------------------------------------------------------------------------------------------------

    def _row(self, life: Life) -> ExecutionRow | None:
        return self.store.execution(life.execution) if life.execution else None

    def _is_users_turn(self, life: Life) -> bool:
        row = self._row(life)
        return row is None or row.status.is_ended or row.status is ExecutionStatus.ATTENTION

    def act(self, life: Life) -> bool:
        """Let a user of this deployment act at random, and return True if the user did something."""
        row = self._row(life)
        if row is None:
            self._submit(life)
        elif row.status.is_ended:
            self._after_the_end(life, row)
        elif row.status is ExecutionStatus.ATTENTION:
            self._decide(life, row)
        elif self.dice.happens(self.dice.faults.cancels):
            how = self.dice.one("wait", "force", "kill")
            self.say(f"{row.id}: a user cancels ({how})")
            self.engine.cancel(row.number, how)
        else:
            return False
        return True

    def _submit(self, life: Life) -> None:
        request = Request(life.workflow, retries=RetryPolicy(2, 1.0), stop_after=self.dice.one(*LIMITS))
        row = self.store.create_execution(NewExecution(life.deployment, request, USER, self.clock.now()))
        life.execution, life.tries, life.wished_at, life.cleaned_at = row.id, 0, 0, 0
        self.say(f"{row.id}: a user asks for it")
        self.engine.submit(row)

    def _after_the_end(self, life: Life, row: ExecutionRow) -> None:
        """Continue after an execution has ended: with the next workflow, or after a failure with a retry or an uninstall."""
        states = self.store.states(life.deployment)
        is_completed = row.status is ExecutionStatus.COMPLETED
        if is_completed:
            wanted = int(STARTED if life.workflow == "install" else DELETED)
            assert (states == wanted).all(), f"{row.id} is completed, but the states are {states.tolist()}"
        if is_completed and life.workflow == "uninstall":
            life.is_over = True
        elif is_completed or (life.workflow == "install" and (life.tries >= MOST_TRIES or self.dice.happens(0.4))):
            life.workflow = "uninstall"
            self._submit(life)
        else:
            self._retry(life, row)

    def _retry(self, life: Life, row: ExecutionRow) -> None:
        life.tries += 1
        if life.tries > MOST_TRIES:
            self.dice.calm_down()
        clean = life.workflow == "install" and self.dice.happens(0.3)
        clean = clean and (row.status.is_ended or not row.request.is_surrounded)  # as ``raise_if_not_cleanable`` has it
        self.say(f"{row.id}: a user retries{' with clean-up' if clean else ''}")
        life.wished_at = row.attempt + 1 if clean else 0
        wanted = altered(row, request=altered(row.request, clean=clean))
        self.engine.retry(wanted, include_unsure=True, replan=clean)

    def _decide(self, life: Life, row: ExecutionRow) -> None:
        """Decide about unsure calls: the user retries them, declares them completed, or gives up."""
        what = self.dice.one("retry", "retry", "complete", "force")
        if what == "force":
            self.say(f"{row.id}: a user gives up")
            self.engine.cancel(row.number, "force")
            return
        if what == "retry":
            self._retry(life, row)
            return
        for graph in self.store.graphs(row.number):
            unsure = np.flatnonzero(self.store.statuses(graph.id) == EntryStatus.UNSURE)
            if len(unsure):
                self.say(f"{row.id}: a user vouches for {unsure.tolist()} of graph {graph.id}")
                self.engine.complete(row, graph.id, unsure, reason="seen", actor=USER.name)

    def commit(self, turn: Turn, write: Callable[[Turn], None]) -> None:
        """Have the store write a turn, unless the process dies before; it may also die after that."""
        self.dice.crash()
        self.check(turn)
        write(turn)
        self.tell(turn)
        if not self.store_is_writing:
            self.dice.crash()

    @property
    def store_is_writing(self) -> bool:
        """True if the turn is a part of a larger transaction, which is not stored yet."""
        return False

    def check(self, turn: Turn) -> None:
        """Check the statements that must be true of a turn before it is written."""
        for added in turn.changes.graphs:
            self._keeps_wish(turn, added)

    def _keeps_wish(self, turn: Turn, added: GraphAdded) -> None:
        """Check that a requested clean-up precedes the install of its attempt, even if engines died meanwhile."""
        for life in self.lives:
            row = self._row(life)
            if row is None or row.number != added.execution:
                continue
            attempt = max(
                row.attempt, *(one.attempt for one in turn.changes.executions if one.execution == row.number), 0
            )
            if added.graph.name == CLEAN_UP:
                life.cleaned_at = attempt
            elif attempt == life.wished_at and attempt > life.cleaned_at:
                half_made = np.isin(self.store.states(life.deployment), HALF_MADE)
                assert not half_made.any(), f"{row.id} continues without the requested clean-up"

    # -- story --------------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Add a line to the story."""
        self.story.told.append((self.clock.now(), text))

    def tell(self, turn: Turn) -> None:
        """Record what was committed."""
        self.ledger.committed(turn.changes)
        self.story.told.append((self.clock.now(), turn))


def let_go(*ended: object) -> None:
    """Clear ended objects that refer to each other, so that their memory is free at once.

    Collecting such cycles later would cost a tenth of the time of the calls.
    """
    for one in ended:
        vars(one).clear()


def simulate(seed: int, open_store: OpenStore = CrashingStore) -> Story:
    """Return the story of the world of this seed. Raises ``Broken`` with the story so far if it breaks a promise.

    ``open_store`` opens an empty store, given the clock and the function that its ``commit`` calls; all stores give equal
    stories.
    """
    return lived(World(seed, open_store))


def lived(world: World) -> Story:
    """Return the story of a world to its end. Raises ``Broken`` with the story so far if it breaks a promise."""
    store, seed = world.store, world.story.seed
    try:
        return world.live()
    except (AssertionError, KeyError, IndexError, ValueError, TypeError) as error:
        raise Broken(seed, world.story.lines, f"{type(error).__name__}: {error}") from error
    finally:
        let_go(world.engine, world)
        store.close()
        let_go(store)
