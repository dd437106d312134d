"""The real engine over any store, with plugins that answer as a script tells, on a virtual clock."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.calls.protocol.reports import CallReport, only_logs
from phaseline.calls.threads.inbox import Inbox
from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.events import Batch
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import Actor, BatchRow, DocumentChange, LogLine, NewDeployment, NewExecution
from phaseline.ports.store import Store
from phaseline.run.loop.engine import Engine
from phaseline.testing.builders import blueprint, host, node, topology
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices

ANN = Actor("ann")
NEVER = OutcomeKind.PENDING
"""The answer of a call that does not come back."""

Answer = tuple[OutcomeKind, int]
"""(outcome, ms until the next call or -1)"""
Script = Callable[[str, str], Answer]
"""(operation, instance id) -> how the call ends."""


def completes(operation: str, instance: str) -> Answer:
    del operation, instance
    return OutcomeKind.COMPLETED, -1


class ScriptedExecutor:
    """``ports.executor.Executor``: every call is answered at once, or never."""

    def __init__(self, inbox: Inbox[CallReport], deployments: DeploymentCache, script: Script = completes) -> None:
        self._inbox, self._deployments, self._script = inbox, deployments, script
        self.called: list[tuple[str, str]] = []

    def slots(self) -> Mapping[str, int]:
        return {"threads": 100, "workers": 100}

    def submit(self, batch: Batch) -> None:
        phase = batch.lane.phase.rpartition(".")[2]
        told: list[tuple[int, Answer]] = []
        documents, logs = [], []
        member = 0
        for segment in batch.segments:
            ids = self._deployments.loaded(segment.deployment).topology.ids
            for subject in segment.subjects.tolist():
                self.called.append((phase, ids[subject]))
                answer = self._script(phase, ids[subject])
                if answer[0] is not NEVER:
                    told.append((member, answer))
                    change = DocumentChange(segment.deployment, subject, {("made", phase): ids[subject]})
                    documents.append((member, change))
                    logs.append(
                        LogLine(segment.execution, batch.started_at, "info", f"{phase} {ids[subject]}", subject)
                    )
                member += 1
        if told:
            kinds = np.array([kind for _, (kind, _) in told], np.uint8)
            delays = np.array([delay for _, (_, delay) in told], np.int64)
            members = np.array([place for place, _ in told], np.int32)
            self._inbox.post(CallReport(batch.id, members, kinds, delays, documents, logs=logs))

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        raise AssertionError("nothing is canceled here")

    def hold(self) -> None: ...

    def is_busy(self) -> bool:
        return False

    def recover(self, open_batches: Sequence[BatchRow]) -> Collection[int]:
        return ()

    def stop(self, drain_s: float) -> None: ...

    def nudge(self) -> None:
        """Let the loop not wait in real time."""
        self._inbox.post(only_logs(0, ()))


@contextmanager
def engine(store: Store, clock: VirtualClock, script: Script = completes) -> Iterator[tuple[Engine, ScriptedExecutor]]:
    """An engine that owns the store."""
    made: list[ScriptedExecutor] = []

    def make(inbox: Inbox[CallReport], deployments: DeploymentCache) -> ScriptedExecutor:
        made.append(ScriptedExecutor(inbox, deployments, script))
        return made[0]

    with store.own("a test") as lease:
        started = Engine(store, clock, PlainServices(make), lease)
        yield started, made[0]


def turn(engine: Engine, executor: ScriptedExecutor, turns: int = 100) -> None:
    """So many turns, none of which waits."""
    for _ in range(turns):
        executor.nudge()
        engine.turn()


def application(hosts: int = 4) -> Blueprint:
    """Hosts with a web server each."""
    return blueprint(
        host("host", instances=hosts, create="cloud.make", delete="cloud.drop"),
        node("web", on="host", create="web.unpack", start="web.start", delete="web.remove"),
    )


def deployed(store: Store, name: str, at: int, workflow: str = "install") -> tuple[int, str]:
    """(deployment, id of its execution, which is queued)."""
    told = application()
    new = NewDeployment(name, told, {}, topology(told), CodeLocation("/nowhere"), ANN, at)
    request = Request(workflow, {}, RetryPolicy(3, 1.0))
    number, row = store.create_deployment(new, NewExecution(0, request, ANN, at))
    assert row is not None
    return number, row.id
