"""The loop of the one process that owns a store: take events, decide, commit, act.

``Engine`` has no rules about lifecycles. It hands reports of calls and requests to the scheduler. Then it stores the
scheduler's decision together with the results of the calls, and only then carries out the scheduler's commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.calls.deployments.lane_keys import LaneKeys
from phaseline.calls.deployments.last_messages import LastMessages
from phaseline.calls.deployments.planner_driver import Planning
from phaseline.calls.protocol.reports import CallReport
from phaseline.calls.threads.inbox import Inbox
from phaseline.calls.threads.turn_thread import TurnBaton
from phaseline.engine.scheduler import Scheduler
from phaseline.model.execution.events import Announce, Ask, Dispatch, Evaluate, Stop, WakeAt
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import EventRow, Turn
from phaseline.plan.explain.cloudify_sentences import execution_event
from phaseline.run.loop.abandoned_calls import GivenUpCalls, has_calls
from phaseline.run.loop.admission import Claims
from phaseline.run.loop.drain import DrainState, LeaseChecks
from phaseline.run.loop.engine_requests import EngineRequests
from phaseline.run.loop.eviction import Eviction
from phaseline.run.loop.open_batches import Backlog, OpenBatches, event_of
from phaseline.run.loop.request_reader import LOOK_MS, Door, Lookout
from phaseline.run.loop.rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.model.execution.events import Command, Decision, Event
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.rows import ExecutionRow, TurnPayload
    from phaseline.ports.clock import Clock
    from phaseline.ports.lease import Lease
    from phaseline.ports.store import Store
    from phaseline.run.loop.engine_services import EngineServices
    from phaseline.run.loop.retention import Retention

LONGEST_WAIT_MS = 1_000
"""The longest wait in ms for events of an engine that is not calm, so that the caller of ``run`` can check its own
conditions in between."""
HELD_WAIT_MS = 20
"""The longest wait in ms while the engine is to stop; short, to notice calls that end without a report."""
LENT_ENTRIES = 1_000
"""The most outcomes for which the thread that reports them also runs the turn. Larger turns run in the loop's thread:
every thread that runs a large turn would keep the memory that it allocated.
"""


class Engine(EngineRequests):
    """The scheduler of this process, with the parts that send it events and carry out its commands.

    Only ``interrupt`` is thread-safe.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        services: EngineServices,
        lease: Lease,
    ) -> None:
        """Set up the engine. ``lease``: as ``Store.own`` yielded it; if it is lost, a turn raises PL-S004."""
        first_graph, first_batch = store.counters()
        self._store, self._clock = store, clock
        self._inbox: Inbox[CallReport] = Inbox()
        self._events: list[Event] = []
        self._rows: list[EventRow] = []
        self._requests: dict[int, Request] = {}
        self.known: set[int] = set()
        self._alarm: int | None = None
        self._services = services
        self._hands = TurnBaton(self._inbox, self._lent_turn)
        self.has_turned = self._is_news = False
        self._messages, self._keys = LastMessages(), LaneKeys()
        self.scheduler = Scheduler(next_batch=first_batch)
        self.deployments = DeploymentCache(store, services.secrets, store.of)
        self.deployments.files_of = services.files_of
        self.planning = Planning(services, self.deployments, first_graph, clock.now)
        self._rounds = Rounds(self.scheduler, self.planning, self.deployments, store, self._messages)
        self.claims = Claims(
            lambda number: self.deployments.loaded(number).topology, self._begin,
            lambda number: has_calls(self._outstanding, number),
        )  # fmt: skip
        self.planning.paths_of = lambda deployment: self.phases.known_paths(deployment)  # noqa: PLW0108 - made when first asked
        self._outstanding: OpenBatches = OpenBatches(store, self.deployments, self.scheduler, self.claims.let_go)
        self._backlog = Backlog(self._outstanding)
        self._lookout = Lookout(store, self._inbox)
        self._has_more = True  # something happened, or the store has more to do when nothing else is
        self._door = Door(store, self, self._outstanding.signals, lease.holder)
        self.retention: Retention | None = None
        self.executor = services.make_executor(self._inbox, self.deployments)
        self.leaving = DrainState(self.executor, clock.now)
        self._lease = LeaseChecks(lease, self.leaving)
        self.given_up = GivenUpCalls(self._outstanding, self.executor)
        self._events.extend(self.leaving.slots())
        self.calls = 0
        self.eviction = Eviction(store, self.planning, self.deployments, self.claims, self._outstanding, self._keys)

    # -- the loop -----------------------------------------------------------------------------------------------

    def run(self, until: Callable[[], bool]) -> None:
        """Run turns until ``until()`` is true or the engine, asked to leave, need not wait for calls any longer.

        While this thread waits, threads that report outcomes may run turns.
        """
        with self._hands, self._lookout:
            while not until():
                if self.leaving.is_wanted and self._has_let_go():
                    return
                self.turn()

    def close(self, drain_s: float) -> None:
        """Stop the engine for good: wait up to ``drain_s`` seconds for running calls, and store their results.

        Calls that have not begun return to their queues. Calls without an answer by then are lost, as after a crash.
        """
        if self.scheduler.runs or self.has_work:
            self._events.extend(self.leaving.hold())
        self._lookout.close()
        self.retention = None
        drain_s = self.leaving.drain_s(drain_s)
        self.executor.stop(drain_s)
        if self._phases is not None:
            self._phases.close(drain_s)
        while self._inbox or self._backlog or self._events:
            self.turn()

    def _lent_turn(self) -> bool:
        """Run a turn in the thread that reports an outcome. Return True if the loop's own thread has to continue."""
        first = self._inbox.first()
        if self.leaving.is_wanted or (first is not None and len(first.members) > LENT_ENTRIES):
            return True
        at, self._is_news = self.wakes_at, False
        self.turn(is_lent=True)
        return self._is_news or self.has_work or self._lookout.is_woken or self.wakes_at != at

    def turn(self, *, is_lent: bool = False) -> None:
        """Run one turn: take events, decide, commit, act.

        ``is_lent`` means that a reporting thread runs it; then ``turn_ended`` is called later, by the loop's thread.
        """
        self.has_turned = True
        self._look()
        if self._schedule_at is not None and not is_lent:
            self._fire()
        reports = self._take()
        if any(report.follow_ups for report in reports):
            with self._store.as_one():  # what outcomes make is stored with them, or not at all
                decision, payload, made = self._decide_making(reports)
        else:
            decision, payload = self._decide(reports)
            made = []
        if payload.events:
            self._services.events_stored(self, payload.events)
        for report in reports:
            if report.on_commit is not None:
                report.on_commit()
        if self._phases is not None:
            self.deployments.entered(decision.changes.states)
        self._events.extend(self._lease.check())  # this process may have been stopped while it committed
        for command in decision.commands:
            self._act(command)
        for row in made:
            self.submit(row)
        if self._phases is not None:
            self._events.extend(self._phases.after(decision.changes))
        self.eviction.tidy(self._phases)
        if not is_lent:
            if self.retention is not None:
                self.retention.look(now=self._clock.now(), is_leaving=self.leaving.is_wanted)
            self._services.turn_ended(self)

    def _decide_making(self, reports: Sequence[CallReport]) -> tuple[Decision, TurnPayload, Sequence[ExecutionRow]]:
        """Decide about outcomes that make something, in the transaction of the caller; return what was made, too.

        Requests of this turn are handled before, because they decide which outcomes are accepted.
        """
        self._hold()
        now, events = self._clock.now(), self._events
        before = self.scheduler.handle(events, now)
        self._events = []
        made = self.follow_ups.make(reports)
        decision, payload = self._decide(made, before)
        return decision, payload, self.follow_ups.rows

    def _hold(self) -> None:
        if self.leaving.is_wanted:
            self._events.extend(self.leaving.hold())  # before what has come back lets anything begin
        self._events.extend(self._lease.check())

    def _decide(self, reports: Sequence[CallReport], before: Decision | None = None) -> tuple[Decision, TurnPayload]:
        """Let the scheduler decide about events and reports, and commit. ``before``: what it has decided in this turn."""
        self._hold()
        now = self._clock.now()
        events, self._events = self._events, []
        first = len(events)
        events.extend([event_of(report) for report in reports if len(report.members)])
        if self._phases is not None:
            events.extend(self._phases.before(reports))
        decision = self.scheduler.handle(events, now)
        sorter = self._outstanding.sort(reports, decision.accepted, first, now)
        ended: Sequence[int] = ()
        if before is not None:
            decision = before.followed_by(decision)
            ended = self.follow_ups.let_wait(now, lambda number: number in self.known)
        if sorter.remarks:
            self._messages.remember(sorter.remarks)
        if self._phases is None:
            decision = self._rounds.followed(decision, now)
        else:
            self._phases.give_rows(sorter)
        for change in decision.changes.executions:
            self._note_execution(change.execution, change.status, change.reason, now)
        if self._awaits is not None:
            decision = self._told(decision, ended, now)
        answers, self._door.answers = self._door.answers, []
        awaits = None if self._awaits is None else self._awaits.changes()
        payload = sorter.payload(self._rows, answers, self._requests, *self.planning.written(decision.changes), awaits)
        if decision.changes or payload:
            self._store.commit(Turn(now, decision.changes, payload))
            self._rows, self._requests = [], {}
        return decision, payload

    def _told(self, decision: Decision, before: Sequence[int], now: int) -> Decision:
        """Wake the entries that wait for executions which have ended in this turn, or ``before`` it.

        Cancel what canceled executions wait for.
        """
        ended = [*before, *(one.execution for one in decision.changes.executions if one.status.is_ended)]
        told = [event for number in ended for event in self.awaits.told(number)]
        for number in ended:
            self.awaits.end(number)
        for change in decision.changes.executions:
            if change.status is ExecutionStatus.CANCELING:
                for inner in self.awaits.of(change.execution):
                    run = self.scheduler.runs.get(inner)
                    if run is None or not run.is_canceled:  # its outer one was canceled by its time limit
                        self.cancel(inner)
        if not told:
            return decision
        more = self.scheduler.handle(told, now)
        for change in more.changes.executions:
            self._note_execution(change.execution, change.status, change.reason, now)
        return decision.followed_by(more)

    def _take(self) -> list[CallReport]:
        """Return the reports for one turn. If nothing else is to be done, wait for the first report."""
        if not self._events and not self._backlog and not self._door.answers and not self._inbox:
            longest = HELD_WAIT_MS if self.leaving.is_held else max(LONGEST_WAIT_MS, self._lookout.pause_ms)
            now = self._clock.now()
            sliced_at = None if self.retention is None else self.retention.due_at
            due = [at - now for at in (self.wakes_at, sliced_at) if at is not None]
            self._wait(min([longest, *due]))
        else:
            self._has_more = True
        return self._backlog.take(self._inbox.take_all())

    def _wait(self, wait_ms: int) -> None:
        """Wait until a call returns, a request arrives or ``wait_ms`` has passed."""
        while wait_ms > 0:
            pause_ms = min(wait_ms, LOOK_MS if self._has_more else self._lookout.pause_ms)
            if self._hands.wait(pause_ms):
                self._has_more = True
                break
            wait_ms -= pause_ms
            self._has_more = self._store.refresh_lists()  # there is nothing else to do
            if self._look() or (self.leaving.is_wanted and not self.leaving.is_held):
                return
        if self._lookout.is_woken:
            self._look()

    def _look(self) -> bool:
        """Read requests if a look is due. Return True if there was a new request."""
        if not self._lookout.is_due(self._clock.now()):
            return False
        self.eviction.look(self._phases)
        has_news = self._door.look()
        if self.scheduling is not None and self._store.next_schedule_at != self._schedule_at:
            self._schedule_at = self._store.next_schedule_at
            has_news = True  # a command has changed a schedule
        self._lease.raise_if_lost()
        return has_news

    def _note_execution(self, execution: int, status: ExecutionStatus, reason: str, now: int) -> None:
        self._is_news = True
        if status.is_ended:
            row = self.planning.row(execution)
            self.eviction.note_end(row)
            kind = {"completed": "workflow_succeeded", "failed": "workflow_failed"}.get(status, "workflow_cancelled")
            self._rows.append(execution_event(row, kind, now, reason))
            self.planning.forget(execution)
            self.claims.end(row, was_canceled=status is ExecutionStatus.CANCELED)
            if self._phases is not None:
                self._phases.paths.forget(execution)
            self.known.discard(execution)
            if row.request.group_run and self._group_runs is not None:
                self._group_runs.end(row, status)
            if self.scheduling is not None:
                self._lookout.is_woken = True  # it may have been an update that changed schedules
        else:
            self.eviction.ended.discard(execution)

    # -- commands -----------------------------------------------------------------------------------------------

    def _act(self, command: Command) -> None:
        match command:
            case Dispatch(batch):
                self._outstanding.add(batch)
                self.calls += 1
                self.executor.submit(batch)
            case Stop(batch_id, members, kill):
                self._outstanding.cancel(self.executor, batch_id, members, kill=kill)
            case Evaluate(_, _, what):
                if what == "applies" or (self._phases is not None and self._phases.is_about_phase(command)):
                    self._events.extend(self.phases.evaluate(command, self._keys))
                else:
                    self._evaluate(command)
            case WakeAt(at):
                self._alarm = at
            case Ask(execution, _, subjects):
                if self._phases is not None and self._phases.knows(execution):
                    self._phases.ask(command)
                elif subjects is None:
                    self._events.extend(self._rounds.ask(command))
            case Announce():
                self.phases.announce(command)

    def _evaluate(self, command: Evaluate) -> None:
        answer = self._keys.answer(command, self.scheduler.arena, self.deployments.loaded)
        if answer is not None:
            self._events.append(answer)

    def _has_let_go(self) -> bool:
        """Return True if the engine may leave: it awaits no running call, or the time for leaving is over."""
        self._events.extend(self.leaving.hold())
        if self._events:
            return False
        is_awaited = self.is_calling and bool(self.scheduler.batches or self._inbox or self._backlog)
        return self.leaving.is_overdue or not is_awaited
