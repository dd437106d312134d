"""A deployment in a memory store, an executor over it, and what comes back from batches: for tests of calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.calls.protocol.reports import CallReport
from phaseline.calls.threads.inbox import Inbox
from phaseline.calls.threads.timer_thread import Alarms
from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.model.blueprint.blueprint import Blueprint, Operation
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.events import Batch, Changes, ExecutionChanged, GraphAdded
from phaseline.model.execution.execution import Request
from phaseline.model.graph.batch_members import GraphSegment, MemberColumns
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.rows.rows import Actor, DocumentChange, EntryRemark, LogLine, NewDeployment, NewExecution, Turn
from phaseline.ports.catalog import Catalog
from phaseline.run.executors.local_executor import LocalExecutor, Slots
from phaseline.store.memory.store import MemoryStore
from phaseline.tasks.host_keys import HostKeys
from phaseline.testing.builders import blueprint as make_blueprint
from phaseline.testing.builders import topology as make_topology

CREATE = "cloudify.interfaces.lifecycle.create"
START = "cloudify.interfaces.lifecycle.start"
PATIENCE_S = 60.0
"""Tests give up after so long."""


class WallClock:
    def now(self) -> int:
        return int(time.time() * 1000)


@dataclass
class Answer:
    """What came of one batch."""

    kinds: dict[int, OutcomeKind] = field(default_factory=dict)
    delays: dict[int, int] = field(default_factory=dict)
    documents: list[DocumentChange] = field(default_factory=list)
    remarks: dict[int, EntryRemark] = field(default_factory=dict)
    logs: list[LogLine] = field(default_factory=list)
    reports: list[CallReport] = field(default_factory=list)
    answered: set[tuple[int, int]] = field(default_factory=set)

    def take(self, report: CallReport) -> None:
        self.reports.append(report)
        if report.on_commit is not None:
            report.on_commit()
        self.documents.extend(change for _, change in report.documents)
        self.remarks.update(dict(report.remarks))
        self.logs.extend(report.logs)
        if not report.is_noted:
            for member, kind, delay in zip(report.members, report.kinds, report.delays, strict=True):
                assert (report.batch, int(member)) not in self.answered, "a member is answered once"
                self.answered.add((report.batch, int(member)))
                self.kinds[int(member)] = OutcomeKind(int(kind))
                self.delays[int(member)] = int(delay)

    @property
    def kind(self) -> OutcomeKind:
        (found,) = self.kinds.values()
        return found

    @property
    def message(self) -> str:
        (found,) = self.remarks.values()
        return found.message

    @property
    def lines(self) -> list[str]:
        return [line.text for line in self.logs]


class World:
    """One deployment and its executor. ``batch`` and ``run`` address instances (or relationships) by number."""

    def __init__(
        self,
        folder: Path,
        blueprint: Blueprint,
        *,
        policy: Policy | None = None,
        kind: SubjectKind = SubjectKind.INSTANCE,
        phase: str = CREATE,
        slots: Slots | None = None,
        inputs: dict[str, object] | None = None,
        catalog: Catalog | None = None,
        host_keys: HostKeys | None = None,
        identity: str = "",
    ) -> None:
        # As each store has its own: by it processes of calls are told apart, and ended.
        self.identity = identity or uuid4().hex
        self.store = MemoryStore(WallClock(), identity=self.identity)
        self.topology = make_topology(blueprint)
        self.phase = phase
        self.kind = kind
        actor = Actor("ann")
        code = CodeLocation(str(folder))
        (folder / "plugins").mkdir(exist_ok=True)
        new = NewDeployment("app", blueprint, inputs or {}, self.topology, code, actor, 1)
        self.owning = self.store.own("test")
        self.owning.__enter__()
        self.deployment, _ = self.store.create_deployment(new)
        self.execution = self.store.create_execution(NewExecution(self.deployment, Request("install"), actor, 1))
        count = len(self.topology) if kind is SubjectKind.INSTANCE else len(self.topology.link)
        self.policy = policy or Policy(LaneSpec(phase, "each"))
        graph = Graph(
            "install",
            (Step(phase, kind, 0, count),),
            (self.policy,),
            np.arange(count, dtype=np.int32),
            np.zeros(count, np.uint16),
            np.zeros(count, np.uint8),
            np.zeros(count + 1, np.int32),
            np.empty(0, np.int32),
        )
        begun = ExecutionChanged(self.execution.number, ExecutionStatus.RUNNING)
        self.store.commit(Turn(1, Changes(executions=(begun,), graphs=(GraphAdded(1, self.execution.number, graph),))))
        self.inbox: Inbox[CallReport] = Inbox()
        self.deployments = DeploymentCache(self.store)
        self.executor = LocalExecutor(
            self.inbox,
            self.deployments,
            catalog or PluginCatalog(),
            WallClock(),
            CallerRegistry(partial(make_caller, host_keys=lambda: host_keys or HostKeys())),
            slots,
        )
        self.batches = 0

    def batch(self, *subjects: int, attempts: int = 0, deadline_at: int = 0) -> Batch:
        count = len(subjects)
        self.batches += 1
        numbers = np.array(subjects, np.int32)
        segment = GraphSegment(
            1,
            self.execution.number,
            self.deployment,
            numbers,
            self.kind,
            numbers,
            np.full(count, attempts, np.int32),
            np.zeros(count, np.int32),
            np.zeros(count, np.uint16),
        )
        return Batch(self.batches, self.policy.lane, 0, MemberColumns.of(segment), WallClock().now(), deadline_at)

    def run(self, *subjects: int, attempts: int = 0) -> Answer:
        """Call these and wait until all have outcomes."""
        batch = self.batch(*subjects, attempts=attempts)
        self.executor.submit(batch)
        return self.wait(len(batch))

    def wait(self, count: int, answer: Answer | None = None) -> Answer:
        """Take reports until ``count`` outcomes have come."""
        answer = answer or Answer()
        until = time.monotonic() + PATIENCE_S
        while len(answer.answered) < count:
            assert time.monotonic() < until, f"no answer: {answer}"
            self.inbox.wait(200)
            for report in self.inbox.take_all():
                answer.take(report)
        return answer

    def wait_for_line(self, text: str, count: int = 1) -> Answer:
        """Take reports until a line of a log, or so many, have this text."""
        return self._wait_until(lambda answer: sum(text in line for line in answer.lines) >= count)

    def wait_for_document(self) -> Answer:
        """Take reports until one brings a change of runtime properties."""
        return self._wait_until(lambda answer: bool(answer.documents))

    def _wait_until(self, is_enough: Callable[[Answer], bool]) -> Answer:
        answer = Answer()
        until = time.monotonic() + PATIENCE_S
        while not is_enough(answer):
            assert time.monotonic() < until, f"it does not come: {answer}"
            self.inbox.wait(200)
            for report in self.inbox.take_all():
                answer.take(report)
        return answer

    def close(self) -> None:
        self.executor.stop(0)
        self.owning.__exit__(None, None, None)


@contextmanager
def silenced(alarms: Alarms) -> Iterator[None]:
    """Nothing rings within, however long it takes; what has become due rings afterwards."""
    is_silent, ends = threading.Event(), threading.Event()
    alarms.set(0, lambda: (is_silent.set(), ends.wait(PATIENCE_S))[0])
    assert is_silent.wait(PATIENCE_S)
    try:
        yield
    finally:
        ends.set()


def plugin(folder: Path, text: str, name: str = "cloud") -> None:
    """Write a module into the blueprint's plugins folder."""
    file = folder / "plugins" / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


__all__ = ["CREATE", "START", "Answer", "LaneSpec", "Operation", "Policy", "World", "make_blueprint", "plugin"]
