"""An engine whose calls are answered by hand, over a store that notes in which order things happen."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from tests.run.leases import ScriptedLease

from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.calls.deployments.planner_driver import Planner
from phaseline.calls.protocol.reports import CallReport
from phaseline.calls.threads.inbox import Inbox
from phaseline.engine.invariants import validate
from phaseline.engine.stories import Stories
from phaseline.model.blueprint.blueprint import Node, Operation, Value
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.events import Batch
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.rows.causes import CausedRow, CauseKind
from phaseline.model.rows.rows import (
    Actor,
    BatchRow,
    DocumentChange,
    EntryRemark,
    EventRow,
    ExecutionRow,
    NewDeployment,
    NewExecution,
    Turn,
)
from phaseline.plan.workflows import PLANNERS
from phaseline.run.loop.engine import Engine
from phaseline.store.memory.estate.causes import MemoryCauses
from phaseline.store.memory.store import MemoryStore, MemoryTenant
from phaseline.store.sql import errors as failures
from phaseline.testing.builders import blueprint, topology
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices
from phaseline.testing.simulation.applications import declare

BEGINNING_MS = 1_700_000_000_000
ANN = Actor("ann")


class CountedCauses(MemoryCauses):
    """Counts how often it is asked what a cause has made."""

    reads = 0

    def caused(self, kind: CauseKind, number: int) -> Sequence[CausedRow]:
        self.reads += 1
        return super().caused(kind, number)


class TroubledTenant(MemoryTenant):
    """A tenant of a store that cannot be written any more."""

    def create_execution(self, *_given: object, **_named: object) -> ExecutionRow:
        raise failures.damaged("memory", "a test")


class Noting(MemoryStore):
    """Notes each commit in a journal that others write to as well."""

    def __init__(self, clock: VirtualClock, journal: list[object]) -> None:
        super().__init__(clock, identity="store")
        self.journal = journal
        self.causes = CountedCauses(self._changing, self._own, self.stored_blueprints)

    trouble: Exception | None = None
    """What the next commits raise instead of storing anything."""
    is_troubled = False
    """True if tenants can store nothing any more."""

    def of(self, tenant: str) -> MemoryTenant:
        if self.is_troubled:
            return TroubledTenant(self, tenant, self._clock, self._guard, self._held)
        return super().of(tenant)

    def commit(self, turn: Turn) -> None:
        if self.trouble is not None:
            raise self.trouble
        super().commit(turn)
        self.journal.append(turn)


class ByHand:
    """``ports.executor.Executor``: nothing is called, reports come from the test."""

    def __init__(self, inbox: Inbox[CallReport], journal: list[object], slots: Mapping[str, int]) -> None:
        self.inbox, self.journal, self._slots = inbox, journal, slots
        self.batches: dict[int, Batch] = {}
        self.canceled: list[tuple[int, list[int], bool]] = []
        self.recovered: list[int] = []
        self.at_stop: list[CallReport] = []
        self.elsewhere: set[int] = set()
        """Ids of batches whose calls survive the engine."""
        self.is_held = self.is_stopped = False
        self.running = 0

    def slots(self) -> Mapping[str, int]:
        return self._slots

    def submit(self, batch: Batch) -> None:
        self.journal.append(batch)
        self.batches[batch.id] = batch

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        self.canceled.append((batch, members.tolist(), kill))

    def hold(self) -> None:
        self.is_held = True

    def release(self) -> None:
        self.is_held = False

    def is_busy(self) -> bool:
        return self.running > 0

    def recover(self, open_batches: Sequence[BatchRow]) -> Collection[int]:
        self.recovered.extend(row.id for row in open_batches)
        return self.elsewhere & {row.id for row in open_batches}

    def stop(self, drain_s: float) -> None:
        self.is_stopped = True
        for report in self.at_stop:
            self.inbox.post(report)


@dataclass(frozen=True)
class Called:
    """One member of a batch that was handed over."""

    batch: int
    member: int
    instance: str
    phase: str
    execution: int
    graph: int
    position: int
    attempt: int
    generation: int

    @property
    def token(self) -> str:
        return f"{self.graph}-{self.position}-{self.generation}"


@dataclass
class Station:
    """A store, a clock, and the engine that owns the store; ``crash`` gives the store to a new one."""

    slots: Mapping[str, int] = field(default_factory=lambda: {"threads": 4, "workers": 4})
    planners: Mapping[str, Planner] = field(default_factory=lambda: PLANNERS)
    declaring: Callable[[Operation], Declaration] = declare

    def __post_init__(self) -> None:
        self.clock = VirtualClock(BEGINNING_MS)
        self.journal: list[object] = []
        self.store = Noting(self.clock, self.journal)
        self.turns = 0
        self.begin_engine()

    def begin_engine(self) -> None:
        self.store.disown()
        self.owning = self.store.own("a test")
        given = self.owning.__enter__()
        self.lease = ScriptedLease(given.epoch, given.holder)
        self.answered: set[tuple[int, int]] = set()
        self.engine = Engine(
            self.store,
            self.clock,
            PlainServices(self._make_executor, self.declares, self.planners, self._after_turn),
            self.lease,
        )
        self.engine.scheduler.arena.stories = Stories()

    def _make_executor(self, inbox: Inbox[CallReport], deployments: DeploymentCache) -> ByHand:
        self.inbox, self.deployments = inbox, deployments
        self.executor = ByHand(inbox, self.journal, self.slots)
        return self.executor

    def declares(self, operation: Operation) -> Declaration:
        return self.declaring(operation)

    def _after_turn(self, engine: Engine) -> None:
        self.turns += 1
        validate(engine.scheduler)

    def crash(self) -> None:
        """The process dies; another one owns the store and has not begun anything."""
        self.begin_engine()

    # -- what users do ------------------------------------------------------------------------------------------

    def deployment(self, *nodes: Node, name: str = "app", inputs: dict[str, Value] | None = None) -> int:
        application = blueprint(*nodes)
        made = topology(application)
        new = NewDeployment(name, application, inputs or {}, made, CodeLocation("/nowhere"), ANN, self.clock.now())
        number, _ = self.store.create_deployment(new)
        return number

    def stored(self, deployment: int, workflow: str = "install", **fields: object) -> ExecutionRow:
        request = replace(Request(workflow, retries=RetryPolicy(1, 15.0)), **fields)
        return self.store.create_execution(NewExecution(deployment, request, ANN, self.clock.now()))

    def submit(self, deployment: int, workflow: str = "install", **fields: object) -> ExecutionRow:
        """Begin an execution and turn until calls are out."""
        row = self.stored(deployment, workflow, **fields)
        self.engine.submit(row)
        self.settle()
        return row

    def install(self, *nodes: Node, stop_after: StopAfter | None = None, **fields: object) -> ExecutionRow:
        return self.submit(self.deployment(*nodes), stop_after=stop_after, **fields)

    def row(self, execution: ExecutionRow) -> ExecutionRow:
        found = self.store.execution(execution.id)
        assert found is not None
        return found

    def status(self, execution: ExecutionRow) -> ExecutionStatus:
        return self.row(execution).status

    # -- what happens -------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Turn as long as there is something to do at this moment."""
        for _ in range(1_000):
            if not (self.engine.has_work or self.inbox):
                return
            self.engine.turn()
        raise AssertionError("it never settles")

    def wait_until_due(self) -> None:
        """Time passes until the engine wanted to be woken."""
        assert self.engine.wakes_at is not None
        self.clock.advance_to(self.engine.wakes_at)
        self.engine.turn()
        self.settle()

    def called(self) -> list[Called]:
        """All members this engine handed over that were not answered, in order."""
        found = []
        for batch in self.executor.batches.values():
            for member in range(len(batch)):
                if (batch.id, member) not in self.answered:
                    found.append(self.one(batch, member))
        return found

    def one(self, batch: Batch, member: int) -> Called:
        segment, place = batch.members.place_of(member)
        made = self.store.topology(segment.deployment)
        subject = int(segment.subjects[place])
        owner = subject if segment.kind is SubjectKind.INSTANCE else int(made.source[subject])
        return Called(
            batch.id,
            member,
            made.ids[owner],
            batch.lane.phase.rpartition(".")[2],
            segment.execution,
            segment.graph,
            int(segment.positions[place]),
            int(segment.attempts[place]),
            int(segment.generations[place]),
        )

    def names(self) -> list[tuple[str, str]]:
        """(operation, instance) of what is out, in order."""
        return [(one.phase, one.instance) for one in self.called()]

    def find(self, phase: str, instance: str) -> Called:
        (found,) = [one for one in self.called() if (one.phase, one.instance) == (phase, instance)]
        return found

    def report(self, one: Called, kind: OutcomeKind = OutcomeKind.COMPLETED, **brought: object) -> CallReport:
        """What a call of it might bring: ``properties`` (dict), ``message``, ``result``, ``delay_ms``, ``follow_up``."""
        segment, place = self.executor.batches[one.batch].members.place_of(one.member)
        documents, remarks = (), ()
        if "properties" in brought:
            written = {(key,): value for key, value in brought["properties"].items()}
            change = DocumentChange(segment.deployment, int(segment.subjects[place]), written)
            documents = ((one.member, change),)
        if "message" in brought or "result" in brought:
            remark = EntryRemark(one.graph, one.position, str(brought.get("message", "")), result=brought.get("result"))
            remarks = ((one.member, remark),)
        delay = brought.get("delay_ms", -1)
        return CallReport(
            one.batch,
            np.array([one.member], np.int32),
            np.array([kind], np.uint8),
            np.array([delay], np.int64),
            documents,
            remarks,
            follow_ups=((one.member, brought["follow_up"]),) if "follow_up" in brought else (),
        )

    def post(self, report: CallReport) -> None:
        """The report arrives, and the engine goes on."""
        self.inbox.post(report)
        self.settle()

    def answer(self, one: Called, kind: OutcomeKind = OutcomeKind.COMPLETED, **brought: object) -> None:
        self.answered.add((one.batch, one.member))
        self.post(self.report(one, kind, **brought))

    def complete(self, phase: str, *instances: str) -> None:
        for instance in instances:
            self.answer(self.find(phase, instance))

    def complete_all(self) -> None:
        """Every call completes, and those that follow, until nothing is out."""
        while out := self.called():
            for one in out:
                self.answer(one)

    # -- what is remembered -------------------------------------------------------------------------------------

    def events(self, execution: ExecutionRow, kind: str = "") -> list[EventRow]:
        return [event for event in self.store.events(execution.number) if kind in {"", event.type}]

    def document(self, execution: ExecutionRow, instance: str) -> dict[str, Value]:
        made = self.store.topology(execution.deployment)
        return self.store.documents(execution.deployment).get(made.number_of[instance], {})

    def states(self, execution: ExecutionRow) -> dict[str, str]:
        made, states = self.store.topology(execution.deployment), self.store.states(execution.deployment)
        return {id: InstanceState(int(state)).word for id, state in zip(made.ids, states, strict=True)}

    def entry(self, one: Called) -> EntryStatus:
        return EntryStatus(int(self.store.statuses(one.graph)[one.position]))

    def all_entries(self, execution: ExecutionRow) -> list[list[EntryStatus]]:
        """The statuses of each graph of an execution."""
        graphs = self.store.graphs(execution.number)
        return [[EntryStatus(int(status)) for status in self.store.statuses(graph.id)] for graph in graphs]


def all_of(batch: Batch) -> CallReport:
    count = len(batch)
    return CallReport(
        batch.id, np.arange(count, dtype=np.int32), np.ones(count, np.uint8), np.full(count, -1, np.int64)
    )
