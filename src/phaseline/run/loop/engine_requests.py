"""What other parts of a process ask of its engine: requests, which take effect in the next turn, and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.deployments.check_results import Vouch
from phaseline.calls.deployments.progress import Progress, progress
from phaseline.model.execution.events import CancelRequested, CompleteRequested, Submitted, WakeRequested
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.resources import is_reach
from phaseline.model.rows.rows import EventRow
from phaseline.plan.explain.cloudify_sentences import called_by_hand, cancel_event, execution_event, waiting_event
from phaseline.run.loop.abandoned_calls import GivenUpCalls, is_forced, raise_if_overlap
from phaseline.run.loop.recovery import released, restore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.estate.provider_installs import InstallReads
    from phaseline.calls.deployments.last_messages import LastMessages
    from phaseline.calls.deployments.planner_driver import Planning
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Event
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.rows import ExecutionRow, RequestRow
    from phaseline.ports.clock import Clock
    from phaseline.ports.executor import Executor
    from phaseline.ports.store import Store
    from phaseline.run.loop.admission import Claims
    from phaseline.run.loop.awaits import Awaits
    from phaseline.run.loop.clockwork import Clockwork
    from phaseline.run.loop.drain import DrainState
    from phaseline.run.loop.engine_services import EngineServices
    from phaseline.run.loop.eviction import Eviction
    from phaseline.run.loop.follow_ups import FollowUps
    from phaseline.run.loop.open_batches import Backlog, OpenBatches
    from phaseline.run.loop.request_reader import Door
    from phaseline.run.loop.rounds import Rounds
    from phaseline.run.phases.phase_engine import PhaseEngine


class EngineRequests:
    """The requests to an engine, and its state. ``Engine`` sets the attributes, and carries the requests out in its turns."""

    scheduler: Scheduler
    deployments: DeploymentCache
    planning: Planning
    claims: Claims
    known: set[int]
    executor: Executor
    leaving: DrainState
    given_up: GivenUpCalls
    eviction: Eviction
    calls: int
    _store: Store
    _clock: Clock
    _services: EngineServices
    _rounds: Rounds
    _inbox: Inbox[CallReport]
    _backlog: Backlog
    _door: Door
    _outstanding: OpenBatches
    _messages: LastMessages
    _events: list[Event]
    _rows: list[EventRow]
    _requests: dict[int, Request]
    _alarm: int | None
    _phases: PhaseEngine | None = None
    _awaits: Awaits | None = None
    _follow_ups: FollowUps | None = None
    scheduling: Callable[[], Clockwork] | None = None
    """Makes the clockwork when the first schedule is due; None: schedules start nothing here."""
    _clockwork: Clockwork | None = None
    _schedule_at: int | None = None
    """When the next schedule is due, in ms, as of the last look at the store; None: none is."""
    most_depth: int = 8
    """The most executions that may wait for one another above a new one (CO13)."""

    @property
    def phases(self) -> PhaseEngine:
        """The phase engine, created at the first use because creating it reads all plugins."""
        if self._phases is None:
            from phaseline.run.phases.phase_engine import PhaseEngine

            given = self._store, self._clock, self.scheduler, self.deployments, self.planning, self._inbox
            self._phases = PhaseEngine(*given, self._services.phases)
            self._rounds.begins = self._phases.begins
        return self._phases

    @property
    def awaits(self) -> Awaits:
        """Which entries wait for which executions, created at the first use."""
        if self._awaits is None:
            from phaseline.run.loop.awaits import Awaits

            self._awaits = Awaits(self.scheduler, self.claims)
            self.claims.is_refused = self._refuse_circle
        return self._awaits

    def _refuse_circle(self, row: ExecutionRow) -> bool:
        """Let a waiting execution fail (PL-C110) if what it must wait for now waits for the execution itself (BB4)."""
        circle = self.awaits.circle(row.number, self.claims.ahead_of(row), {})
        if not circle:
            return False
        from phaseline.run.loop.awaits import circular

        self.planning.set_aside(row, circular([self.planning.row(number) for number in (row.number, *circle)]))
        return True

    def _reads_of(self, row: ExecutionRow, outer: int) -> InstallReads:
        """Return whose installs an install waits for (DP12)."""
        from phaseline.calls.deployments.estate.provider_installs import reads_of_install

        return reads_of_install(self._store.of(row.tenant), row, outer)

    @property
    def follow_ups(self) -> FollowUps:
        """What makes deployments and executions for outcomes, created at the first use."""
        if self._follow_ups is None:
            from phaseline.run.loop.follow_ups import FollowUps

            self._follow_ups = FollowUps(
                self._store, self._outstanding, self.awaits, self.planning.row, self._door.refuse_retry,
                depth=self.most_depth,
            )  # fmt: skip
        return self._follow_ups

    def _fire(self) -> None:
        """Start the workflows of schedules that are due. Nothing starts while this engine is to leave."""
        now = self._clock.now()
        if self._schedule_at is None or self._schedule_at > now or self.leaving.is_wanted or self.scheduling is None:
            return
        if self._clockwork is None:
            self._clockwork = self.scheduling()
        for row in self._clockwork.fire(now):
            self.submit(row)
        self._schedule_at = self._clockwork.next_at()

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
        if rows is None and self._store.has_waits:
            self._recover_awaits(wanted)

    def _recover_awaits(self, opened: Sequence[ExecutionRow]) -> None:
        """Load what the entries of these executions wait for; wake those whose awaited execution has ended meanwhile."""
        own = {row.number for row in opened}
        found = [row for row in self._store.causes.awaiting() if row.execution in own]
        if found:
            self._events.extend(self.awaits.load(found, lambda number: number in self.known))

    def take_up(self, row: ExecutionRow) -> None:
        """Start or continue an open execution, unless it is already loaded."""
        if row.number not in self.known:
            self.recover([row] if row.status is ExecutionStatus.QUEUED and not row.started_at else None)

    def cancel(self, execution: int, how: str = "wait", *, actor: str = "") -> None:
        """Cancel an execution: await its running calls (``wait``), give them up (``force``) or kill them (``kill``)."""
        if self._awaits is not None:
            for inner in self._awaits.of(execution):  # it ends only after what it waits for
                self.cancel(inner, how, actor=actor)
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

        Safe to call in a signal handler, because it takes no lock. It ends the loop's wait.
        """
        self.leaving.is_wanted = True
        self._inbox.wake()

    def go_on(self) -> None:
        """Withdraw an interrupt: begin calls again, first those that were held back."""
        self._events.extend(self.leaving.release())

    def ask_to_stop(self, drain_s: float | None = None) -> None:
        """Interrupt the engine; ``run`` returns after ``drain_s`` seconds even if calls are still running.

        With None ``run`` waits for the calls without a limit.
        """
        self.leaving.ask(drain_s)

    # -- its state ----------------------------------------------------------------------------------------------

    @property
    def has_work(self) -> bool:
        """True if events or reports are left for the next turn."""
        return bool(self._events or self._backlog)

    @property
    def wakes_at(self) -> int | None:
        """Time in ms at which a turn is due even without events, of an entry or a schedule; None if no time is set."""
        found, due = self.entries_wake_at, self._schedule_at
        if due is None or self.leaving.is_wanted or (found is not None and found <= due):
            return found
        return due

    @property
    def entries_wake_at(self) -> int | None:
        """The same without schedules: an engine that ends when it is idle does not wait for them (SC5)."""
        tried = None if self._phases is None else self._phases.breakers.wakes_at
        return tried if self._alarm is None or (tried is not None and tried < self._alarm) else self._alarm

    def has_ended(self, execution: int) -> bool:
        """Return True if the final status of the execution has been decided and committed."""
        return execution in self.eviction.ended

    @property
    def is_idle(self) -> bool:
        """True if nothing can happen before an operator acts."""
        held = self.held
        return not (self._events or self.claims.waits_for_calls) and all(
            run.execution in held or self.asker(run.execution) for run in self.scheduler.runs.values()
        )

    @property
    def held(self) -> frozenset[int]:
        """Numbers of executions whose remaining work waits for phases that an operator must resume or repair."""
        return frozenset() if self._phases is None else self._phases.held

    def needs_attention(self, execution: int) -> bool:
        """Return True if an operator must decide about unsure calls before this execution can continue.

        The calls are of the execution itself or of one that it waits for.
        """
        return not self._events and self.asker(execution) > 0

    def asker(self, execution: int) -> int:
        """Return the number of the execution about whose unsure calls an operator must decide first; 0 if there is none."""
        if self._awaits is not None:
            return self._awaits.needs_attention(execution)
        *_, last = execution, *self.claims.chain(execution)
        run = self.scheduler.runs.get(last)
        return last if run is not None and run.status is ExecutionStatus.ATTENTION else 0

    def progress(self, execution: int) -> Progress | None:
        """Return the progress of the current round, or None before the first round and after the execution's end."""
        return progress(self.scheduler, self.deployments, execution, self._messages, (self._alarm, self.calls))

    @property
    def is_calling(self) -> bool:
        """True if a call is running, or the next turn may begin one."""
        return bool(self.executor.is_busy() or self._inbox or self.has_work)

    @property
    def is_asked_to_stop(self) -> bool:
        """True if another process has asked this engine to stop."""
        return self.leaving.is_asked
