"""Calls task runners as coroutines in the engine's event loop, so that a slow host occupies no thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.batches.bulk_call import BulkOutcome
from phaseline.calls.protocol.call import COMPLETED, Outcome, outcome_of, unloadable
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.model.graph.plugin_errors import NonRecoverableError, RecoverableError
from phaseline.tasks.host_keys import HostKeys
from phaseline.tasks.remote_shell import HostUnreachable
from phaseline.tasks.ssh_host import SshConnections
from phaseline.tasks.task import Task

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from phaseline.calls.batches.bulk_call import BulkCall
    from phaseline.calls.protocol.call import PluginCall

Runner = "Callable[[Task], Awaitable[Outcome]]"


class TaskCaller:
    """Calls task runners, and owns the SSH connections of those that run in the engine's event loop."""

    def __init__(self, rules: HostKeys | None = None) -> None:
        """Create a caller without connections. ``rules``: how host keys are checked."""
        self._rules = rules or HostKeys()
        self._connections: SshConnections | None = None

    def call(self, call: PluginCall) -> Outcome:
        """Run a task runner to its end in the current thread. Used for a plain function, and if
        there is no event loop.
        """
        function, error = guarded_call(call.load)
        if function is None:
            assert error is not None
            return unloadable(error, call.site.implementation)
        from phaseline.calls.threads.guarded_calls import is_async

        if is_async(function):
            import asyncio

            return asyncio.run(self._alone(function, call))
        return cast("Outcome", function(call))

    def gather(self, gathering: BulkCall) -> TaskRun:
        """Return the object that runs the task of ``gathering`` in the engine's event loop."""
        return TaskRun(gathering, self._of_loop)

    def _of_loop(self) -> SshConnections:
        if self._connections is None:
            self._connections = SshConnections(self._rules)
        return self._connections

    async def _alone(self, function: Callable[..., object], call: PluginCall) -> Outcome:
        connections = SshConnections(self._rules)
        try:
            return await ran(cast("Callable[[Task], Awaitable[Outcome]]", function), call, connections)
        finally:
            await connections.close()


class TaskRun:
    """One call of a task runner in the event loop: a task on an instance, the only member of its batch."""

    def __init__(self, gathering: BulkCall, connections: Callable[[], SshConnections]) -> None:
        """Prepare the call. ``connections``: returns the SSH connections; it is called in the event loop."""
        self._call = gathering.call_at(0)
        self._connections = connections
        self._outcome: Outcome | None = None

    def code(self, function: Callable[..., object]) -> Callable[[], object]:
        """Return a function without arguments that returns the coroutine of the task runner ``function``."""
        return partial(self._run, cast("Callable[[Task], Awaitable[Outcome]]", function))

    def settle_only(self, raised: BaseException | None) -> Outcome:
        """Return the outcome of the task from the runner's result, or from the exception that ended it."""
        if raised is not None:
            return outcome_of(raised)
        return self._outcome or COMPLETED

    def settle(self, raised: BaseException | None) -> BulkOutcome:
        """Return the outcome of the task in the form for several members, here with one member."""
        outcome = self.settle_only(raised)
        kinds, delays = np.array([outcome.kind], np.uint8), np.array([outcome.delay_ms], np.int64)
        return BulkOutcome(kinds, delays, {0: outcome}, {0: self._call})

    async def _run(self, function: Callable[[Task], Awaitable[Outcome]]) -> None:
        self._outcome = await ran(function, self._call, self._connections())


async def ran(function: Callable[[Task], Awaitable[Outcome]], call: PluginCall, connections: SshConnections) -> Outcome:
    """Run a task runner and return its outcome; a failure's message begins with the task's name."""
    task = Task(call, connections)
    try:
        return await function(task)
    except HostUnreachable as error:
        return task.failed(str(error), retry=not error.is_final)
    except RecoverableError as error:
        return task.failed(str(error), retry=True)
    except NonRecoverableError as error:
        return task.failed(str(error))
