"""Calls of listeners when resources have reached a state. They run beside other work and delay nothing (section 9)."""

from __future__ import annotations

import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from phaseline.calls.protocol.call import truncate
from phaseline.calls.protocol.phase_view import target_of
from phaseline.calls.protocol.plugin_boundary import message_of
from phaseline.calls.protocol.reports import NO_BATCH, only_logs
from phaseline.calls.threads.guarded_calls import call_and_await, guarded_call
from phaseline.calls.threads.thread_pool import Pool
from phaseline.compat.cyclecloud.state_event import Arrival, StateEvent
from phaseline.model.graph.graph import state_entered
from phaseline.model.rows.rows import LogLine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Announce
    from phaseline.model.phases.definitions import ListenerDefinition
    from phaseline.ports.clock import Clock
    from phaseline.run.phases.active_phases import ActivePhases

THREADS = 2
"""Number of threads for listeners, apart from those for phases: a slow listener delays no phase (PD31)."""
MOST_WAITING = 10_000
"""The most events that wait for their listeners; with more, the oldest are dropped (PD38)."""
MAX_MESSAGE_CHARS = 2_000


class Listeners:
    """Calls listeners. ``told`` counts calls, ``errors`` calls that raised, ``dropped`` events that had no room.

    At most ``most_waiting`` events wait; ``threads`` listeners are called at the same time.
    """

    threads = THREADS

    def __init__(
        self,
        scheduler: Scheduler,
        deployments: DeploymentCache,
        in_force: ActivePhases,
        clock: Clock,
        inbox: Inbox[CallReport],
    ) -> None:
        """Start without events. ``inbox`` takes log lines from any thread."""
        self._scheduler = scheduler
        self._deployments = deployments
        self._in_force = in_force
        self._clock = clock
        self._inbox = inbox
        self._reached: dict[tuple[int, str, str], list[Arrival]] = {}
        self._executions: dict[tuple[int, str, str], int] = {}
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._pool = Pool("listener", THREADS, inbox.fail)
        self.told = self.dropped = self.errors = 0
        self.most_waiting = MOST_WAITING

    def announced(self, command: Announce) -> None:
        """Collect the resources that have reached a state in this turn, with their present attributes."""
        slot = self._scheduler.arena.slots.get(command.graph)
        if slot is None or not self._in_force.registry.listeners:
            return
        loaded = self._deployments.loaded(slot.deployment)
        execution = self._deployments.execution(slot.execution, slot.deployment)
        for step in slot.steps:
            state = state_entered(step.phase)
            inside = command.positions[
                (command.positions >= step.first) & (command.positions < step.first + step.count)
            ]
            if not state or not len(inside):
                continue
            subjects, policies = (
                self._scheduler.arena.subject[inside + slot.base].tolist(),
                self._scheduler.arena.policy,
            )
            kind = loaded.topology.nodes[loaded.topology.node[subjects[0]]].type
            registry = self._in_force.registry_of(loaded.blueprint)
            if not registry.listeners_of(state, kind):
                continue
            known: Mapping[str, Value] = {
                "AdType": kind,
                "ClusterName": loaded.view.id,
                "State": state,
                "TargetState": target_of(
                    slot.policies[int(policies[inside[0] + slot.base]) - slot.policy_base], execution
                ),
            }
            key = (slot.deployment, kind, state)
            self._executions[key] = slot.execution
            self._reached.setdefault(key, []).extend(
                Arrival({"Name": loaded.topology.ids[number], **known}, loaded.attributes_of(number))
                for number in subjects
            )

    def tell(self) -> None:
        """Queue one call for each listener of the states that resources reached in this turn.

        Resources of equal type, state and cluster are given to a listener together.
        """
        reached, self._reached = self._reached, {}
        executions, self._executions = self._executions, {}
        for key, resources in reached.items():
            deployment, kind, state = key
            loaded = self._deployments.loaded(deployment)
            event = StateEvent(kind, state, loaded.view.id, resources)
            for listener in self._in_force.registry_of(loaded.blueprint).listeners_of(state, kind):
                self._put(partial(self._call, listener, event, executions[key]))

    def waiting(self) -> int:
        """Return the number of waiting events."""
        return len(self._waiting)

    def busy(self) -> int:
        """Return the number of running listeners."""
        return self._pool.busy()

    def _put(self, task: Callable[[], None]) -> None:
        with self._lock:
            self._waiting.append(task)
            if len(self._waiting) > self.most_waiting:
                self._waiting.popleft()
                self.dropped += 1
                return
        self._pool.put(self._next)

    def _next(self) -> None:
        with self._lock:
            task = self._waiting.popleft() if self._waiting else None
        if task is not None:
            task()

    def _call(self, listener: ListenerDefinition, event: StateEvent, execution: int) -> None:
        source, code = self._in_force.source, listener.code
        if source is None or code is None:
            return
        function, error = guarded_call(source.function, code)
        if function is not None:
            _, error = guarded_call(call_and_await, function, event)
        with self._lock:
            self.told += 1
            self.errors += error is not None
        if error is not None:
            text = (
                f"the listener '{listener.plugin}' of {event.state} raised {type(error).__name__}: {message_of(error)}"
            )
            line = LogLine(execution, self._clock.now(), "error", truncate(text, MAX_MESSAGE_CHARS))
            self._inbox.post(only_logs(NO_BATCH, [line]))

    def close(self, drain_s: float) -> None:
        """Wait up to ``drain_s`` seconds for running listeners; events still waiting then are lost."""
        self._pool.stop(drain_s)
