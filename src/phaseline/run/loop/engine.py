"""The loop of the one process that owns a store: take events, decide, commit, act.

``Engine`` has no rules about lifecycles. It hands reports of calls and requests to the scheduler. Then it stores the
scheduler's decision together with the results of the calls, and only then carries out the scheduler's commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.deployments.check_results import Vouch
from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.calls.deployments.lane_keys import LaneKeys
from phaseline.calls.deployments.last_messages import LastMessages
from phaseline.calls.deployments.planner_driver import Planning
from phaseline.calls.deployments.progress import Progress, progress
from phaseline.calls.protocol.reports import CallReport
from phaseline.calls.threads.inbox import Inbox
from phaseline.calls.threads.turn_thread import TurnBaton
from phaseline.engine.scheduler import Scheduler
from phaseline.model.execution.events import (
    Announce,
    Ask,
    CancelRequested,
    CompleteRequested,
    Dispatch,
    Evaluate,
    Stop,
    Submitted,
    WakeAt,
    WakeRequested,
)
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.resources import is_reach
from phaseline.model.rows.rows import EventRow, Turn
from phaseline.plan.explain.cloudify_sentences import called_by_hand, cancel_event, execution_event, waiting_event
from phaseline.run.loop.abandoned_calls import GivenUpCalls, has_calls, is_forced, raise_if_overlap
from phaseline.run.loop.admission import Claims
from phaseline.run.loop.drain import DrainState, LeaseChecks
from phaseline.run.loop.eviction import Eviction
from phaseline.run.loop.open_batches import Backlog, OpenBatches, event_of
from phaseline.run.loop.recovery import released, restore
from phaseline.run.loop.request_reader import Door, Lookout
from phaseline.run.loop.rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Command, Event
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.rows import ExecutionRow, RequestRow
    from phaseline.ports.clock import Clock
    from phaseline.ports.lease import Lease
    from phaseline.ports.store import Store
    from phaseline.run.loop.engine_services import EngineServices
    from phaseline.run.loop.retention import Retention
    from phaseline.run.phases.phase_engine import PhaseEngine

LONGEST_WAIT_MS = 1_000
"""The longest wait in ms for events, so that the caller of ``run`` can check its own conditions in between."""
HELD_WAIT_MS = 20
"""The longest wait in ms while the engine is to stop; short, to notice calls that end without a report."""
LENT_ENTRIES = 1_000
"""The most outcomes for which the thread that reports them also runs the turn. Larger turns run in the loop's thread:
every thread that runs a large turn would keep the memory that it allocated.
"""


class Engine:
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
        self._door = Door(store, self, self._outstanding.signals, lease.holder)
        self.retention: Retention | None = None
        self.executor = services.make_executor(self._inbox, self.deployments)
        self.leaving = DrainState(self.executor, clock.now)
        self._lease = LeaseChecks(lease, self.leaving)
        self.given_up = GivenUpCalls(self._outstanding, self.executor)
        self._events.extend(self.leaving.slots())
        self.calls = 0
        self._phases: PhaseEngine | None = None
        self.eviction = Eviction(store, self.planning, self.deployments, self.claims, self._outstanding, self._keys)

    @property
    def phases(self) -> PhaseEngine:
        """The phase engine, created at the first use because creating it reads all plugins."""
        if self._phases is None:
            from phaseline.run.phases.phase_engine import PhaseEngine

            given = self._store, self._clock, self.scheduler, self.deployments, self.planning, self._inbox
            self._phases = PhaseEngine(*given, self._services.phases)
            self._rounds.begins = self._phases.begins
        return self._phases

    # -- requests -----------------------------------------------------------------------------------------------

    def submit(self, row: ExecutionRow) -> None:
        """Begin a stored execution as soon as no other execution of its deployment collides with it."""
        self.known.add(row.number)
        with self.planning.alone(row):
            self.planning.begin(row)
        if self.claims.come(row):
            self._begin(row)
        else:
            blocker = self.planning.row(self.claims.waiting[row.number])
            is_over = blocker.number in self.claims.lingering
            self._rows.append(waiting_event(row, blocker, self._clock.now(), is_over=is_over))

    def _begin(self, row: ExecutionRow) -> None:
        if is_reach(row.request):
            with self.planning.alone(row):
                self._events.extend(self.phases.begin(row))
        self._events.append(Submitted(row.number, row.deployment, row.request.stop_after, row.request.timeout_ms))
        self._rows.append(execution_event(row, "workflow_started", self._clock.now()))

    def recover(self, rows: Sequence[ExecutionRow] | None = None) -> None:
        """Load stored executions (None: all open ones), and continue them from their stored state. Skip loaded ones."""
        wanted = self._store.executions(only_open=True) if rows is None else rows
        wanted = [row for row in released(self._store, wanted) if row.number not in self.known]
        new = [row for row in wanted if row.status is ExecutionStatus.QUEUED and not row.started_at]
        begun = [row for row in wanted if row.started_at or row.status is not ExecutionStatus.QUEUED]
        self.known.update(row.number for row in begun)
        orphans = self._outstanding.orphans(self._events)
        running = self.executor.recover(orphans)
        self._outstanding.run_elsewhere(orphans, running)
        restored = restore(
            self._store, self.planning, self.deployments, begun, orphans, running, self._messages,
            lambda row, events: self.phases.take_up(row, events),  # noqa: PLW0108 - made when first asked
        )  # fmt: skip
        self._events.extend(restored)
        self._messages.trim()
        for row in begun:
            self.claims.take_up(row)
            self._rows.append(execution_event(row, "workflow_resumed", self._clock.now()))
        for row in new:
            self.submit(row)

    def take_up(self, row: ExecutionRow) -> None:
        """Start or continue an open execution, unless it is already loaded."""
        if row.number not in self.known:
            self.recover([row] if row.status is ExecutionStatus.QUEUED and not row.started_at else None)

    def cancel(self, execution: int, how: str = "wait", *, actor: str = "") -> None:
        """Cancel an execution: await its running calls (``wait``), give them up (``force``) or kill them (``kill``)."""
        self._rows.append(cancel_event(execution, how, self._clock.now(), actor))
        waiting = self.claims.row(execution)
        if waiting is not None:  # nothing of it will begin: it need not wait for that
            self.claims.leave(waiting)
            self._begin(waiting)
        self._events.append(
            CancelRequested(execution, "kill" if how == "kill" else "force" if how == "force" else "wait")
        )

    def retry(
        self, row: ExecutionRow, *, graph: int | None = None, positions: np.ndarray | None = None,
        include_unsure: bool = False, replan: bool = False, actor: str = "",
    ) -> None:  # fmt: skip
        """Retry failed and canceled entries, and call at once those that sleep until their next attempt.

        Planning uses ``row.request`` from now on, in later engines too. The planner is asked again from the start if
        ``replan`` is true or nothing has been planned yet.
        """
        from phaseline.calls.deployments.removed_instances import acting_anew, to_retry

        self.recover([row])
        if self.planning.is_set_aside(row.number):
            return
        graphs = self._store.graphs(row.number)
        row = acting_anew(row) if graphs else row
        self.planning.replace_request(row.number, row.request)
        self._requests[row.number] = row.request
        if not graphs:
            return
        self._rows.append(EventRow(row.number, self._clock.now(), "retried", "Retrying what failed", actor=actor))
        if self._phases is not None:
            self._phases.orders.clear_retried(row, graph, positions)
        self._events.append(to_retry(self._store, row, (graph, positions), unsure=include_unsure, replan=replan))
        for held in graphs:
            if graph is None or held.id == graph:
                self._events.append(WakeRequested(row.number, held.id, positions, only_failing=True))

    def refuse_overlap(self, row: ExecutionRow, graph: int | None, positions: np.ndarray | None) -> None:
        """Raise PL-C028 if a retry would repeat a given-up call that still runs and must not be made twice."""
        is_leaving = is_forced(self._events, row.number)
        wanted, now = (graph, positions), self._clock.now()
        raise_if_overlap(self._outstanding, self._store, self.deployments, row, wanted, now=now, is_leaving=is_leaving)

    def complete(self, row: ExecutionRow, graph: int, positions: np.ndarray, *, reason: str, actor: str) -> None:
        """Mark entries as completed because a user declares them done, and record user and reason."""
        self.recover([row])
        self._events.append(CompleteRequested(row.number, graph, positions.astype(np.int32)))
        told = (row, self._store.graph(graph), self._store.topology(row.deployment), positions)
        self._outstanding.vouched.append(Vouch(row.number, row.deployment, graph, told[1], positions))
        self._rows.extend(called_by_hand(*told, reason=reason, now=self._clock.now(), actor=actor))

    def wake(self, execution: int, graph: int, positions: np.ndarray | None = None) -> None:
        """Call the sleeping entries of a graph at these positions now; None means all positions."""
        self._events.append(WakeRequested(execution, graph, positions))

    def about_resources(self, row: ExecutionRow, request: RequestRow) -> None:
        """Carry out a request that concerns some resources or phases of an execution."""
        self.recover([row])
        events, rows = self.phases.orders.carry_out(row, request, self._clock.now())
        self._events.extend(events)
        self._rows.extend(rows)

    def edit(self, body: Mapping[str, Value]) -> None:
        """Change attributes of resources; phases that depend on the attributes react at once."""
        deployment = body.get("deployment")
        if isinstance(deployment, int):
            self.phases.orders.edit(deployment, body.get("edits"))

    def look_at_pauses(self) -> None:
        """React to phases that a user has paused or resumed."""
        self._events.extend(self.phases.renew())

    def reload(self) -> Mapping[str, Value]:
        """Reload plugins; running calls keep their old code. Return the result, ``{"done": False}`` without plugins."""
        told = self._services.reload()
        if told is None:
            return {"done": False}
        self.deployments.renew()
        if self._phases is not None:
            self._events.extend(self._phases.renew())
        return told

    def interrupt(self) -> None:
        """Begin no new calls. ``run`` returns when the running calls have returned; given-up calls are not awaited.

        Safe to call in a signal handler, because it takes no lock. The loop notices it within ``CALM_MS``.
        """
        self.leaving.is_wanted = True

    def go_on(self) -> None:
        """Withdraw an interrupt: begin calls again, first those that were held back."""
        self._events.extend(self.leaving.release())

    @property
    def is_calling(self) -> bool:
        """True if a call is running, or the next turn may begin one."""
        return bool(self.executor.is_busy() or self._inbox or self.has_work)

    def ask_to_stop(self, drain_s: float | None = None) -> None:
        """Interrupt the engine; ``run`` returns after ``drain_s`` seconds even if calls are still running.

        With None ``run`` waits for the calls without a limit.
        """
        self.leaving.ask(drain_s)

    @property
    def is_asked_to_stop(self) -> bool:
        """True if another process has asked this engine to stop."""
        return self.leaving.is_asked

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
        reports = self._take()
        if self.leaving.is_wanted:
            self._events.extend(self.leaving.hold())  # before what has come back lets anything begin
        self._events.extend(self._lease.check())
        now = self._clock.now()
        events, self._events = self._events, []
        first = len(events)
        events.extend([event_of(report) for report in reports if len(report.members)])
        if self._phases is not None:
            events.extend(self._phases.before(reports))
        decision = self.scheduler.handle(events, now)
        sorter = self._outstanding.sort(reports, decision.accepted, first, now)
        if sorter.remarks:
            self._messages.remember(sorter.remarks)
        if self._phases is None:
            decision = self._rounds.followed(decision, now)
        else:
            self._phases.give_rows(sorter)
        for change in decision.changes.executions:
            self._note_execution(change.execution, change.status, change.reason, now)
        answers, self._door.answers = self._door.answers, []
        payload = sorter.payload(self._rows, answers, self._requests, *self.planning.written(decision.changes))
        if decision.changes or payload:
            self._store.commit(Turn(now, decision.changes, payload))
            self._rows, self._requests = [], {}
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
        if self._phases is not None:
            self._events.extend(self._phases.after(decision.changes))
        self.eviction.tidy(self._phases)
        if not is_lent:
            if self.retention is not None:
                self.retention.look(now, is_leaving=self.leaving.is_wanted)
            self._services.turn_ended(self)

    def _take(self) -> list[CallReport]:
        """Return the reports for one turn. If nothing else is to be done, wait for the first report."""
        if not self._events and not self._backlog and not self._door.answers and not self._inbox:
            longest, now = HELD_WAIT_MS if self.leaving.is_held else LONGEST_WAIT_MS, self._clock.now()
            sliced_at = None if self.retention is None else self.retention.due_at
            due = [at - now for at in (self.wakes_at, sliced_at) if at is not None]
            self._wait(min([longest, *due]))
        return self._backlog.take(self._inbox.take_all())

    def _wait(self, wait_ms: int) -> None:
        """Wait until a call returns, a request arrives or ``wait_ms`` has passed."""
        while wait_ms > 0 and not self._hands.wait(pause_ms := min(wait_ms, self._lookout.pause_ms)):
            wait_ms -= pause_ms
            self._store.refresh_lists()  # there is nothing else to do
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

    @property
    def has_work(self) -> bool:
        """True if events or reports are left for the next turn."""
        return bool(self._events or self._backlog)

    @property
    def wakes_at(self) -> int | None:
        """Time in ms at which a turn is due even without events; None if no time is set."""
        tried = None if self._phases is None else self._phases.breakers.wakes_at
        return tried if self._alarm is None or (tried is not None and tried < self._alarm) else self._alarm

    # -- looking ------------------------------------------------------------------------------------------------

    def has_ended(self, execution: int) -> bool:
        """Return True if the final status of the execution has been decided and committed."""
        return execution in self.eviction.ended

    @property
    def is_idle(self) -> bool:
        """True if nothing can happen before an operator acts."""
        held = self.held
        return not (self._events or self.claims.waits_for_calls) and all(
            run.status is ExecutionStatus.ATTENTION or run.execution in held for run in self.scheduler.runs.values()
        )

    @property
    def held(self) -> frozenset[int]:
        """Numbers of executions whose remaining work waits for phases that an operator must resume or repair."""
        return frozenset() if self._phases is None else self._phases.held

    def needs_attention(self, execution: int) -> bool:
        """Return True if this execution, or the one it waits for, needs an operator to decide about unsure calls."""
        *_, last = execution, *self.claims.chain(execution)
        run = self.scheduler.runs.get(last)
        return run is not None and run.status.value == "attention" and not self._events

    def progress(self, execution: int) -> Progress | None:
        """Return the progress of the current round, or None before the first round and after the execution's end."""
        return progress(self.scheduler, self.deployments, execution, self._messages, (self._alarm, self.calls))
