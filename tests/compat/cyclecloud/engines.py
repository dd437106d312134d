"""A phase plugin in a whole engine: real threads, a store in memory, and a clock that the test moves."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.compat.cyclecloud.runs import PhaseCatalog
from tests.run.worlds import PATIENCE_S, plugin

from phaseline.app.callers import make_caller
from phaseline.calls.batches.caller_registry import CallerRegistry
from phaseline.engine.invariants import validate
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.blueprint.operation_declaration import Declaration, as_phase
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.phase_data import data_in
from phaseline.model.rows.rows import Actor, ExecutionRow, NewDeployment, NewExecution, NoteRow
from phaseline.run.executors.local_executor import LocalExecutor
from phaseline.run.loop.engine import Engine
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.clock import VirtualClock
from phaseline.testing.plain_services import PlainServices

ANN = Actor("ann")


class OneFunction(PhaseCatalog):
    """Knows one function, by all names."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = as_phase(function)

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        return self.function


class PhaseEngine:
    """``handle`` of a plugin as the operation ``create`` of nodes, called in bulk."""

    def __init__(self, folder: Path, text: str, function: Callable[..., object] | None = None) -> None:
        """``function``: this one is called, whatever stands in the plugin."""
        plugin(folder, text)
        self.catalog = PhaseCatalog() if function is None else OneFunction(function)
        self.folder = folder
        self.clock = VirtualClock(1_700_000_000_000)
        self.store = MemoryStore(self.clock, identity="store")
        self.begin_engine()

    def begin_engine(self) -> None:
        self.store.disown()
        self.owning = self.store.own("a test")
        lease = self.owning.__enter__()
        self.engine = Engine(
            self.store,
            self.clock,
            PlainServices(
                lambda inbox, deployments: LocalExecutor(
                    inbox, deployments, self.catalog, self.clock, CallerRegistry(make_caller)
                ),
                lambda _: Declaration("phase", bulk=True, repeatable=True),
                after_turn=lambda engine: validate(engine.scheduler),
            ),
            lease,
        )

    def install(self, count: int = 1, name: str = "app", interval_s: float = 15.0) -> ExecutionRow:
        """Begin the installation of so many instances."""
        application = blueprint(node("vm", create="cloud.handle", instances=count))
        places = CodeLocation(str(self.folder))
        new = NewDeployment(name, application, {}, topology(application), places, ANN, self.clock.now())
        number, _ = self.store.create_deployment(new)
        request = Request("install", retries=RetryPolicy(0, interval_s))
        row = self.store.create_execution(NewExecution(number, request, ANN, self.clock.now()))
        self.engine.submit(row)
        return row

    def until(self, is_enough: Callable[[], bool]) -> None:
        """Turn until it holds."""
        patience = time.monotonic() + PATIENCE_S
        while not is_enough():
            assert time.monotonic() < patience, "it does not come"
            self.engine.turn()

    def until_all_are(self, row: ExecutionRow, status: EntryStatus) -> None:
        self.until(lambda: set(self.statuses(row)) == {status})

    def pass_time(self) -> None:
        """Until the engine wanted to be woken."""
        assert self.engine.wakes_at is not None
        self.clock.advance_to(self.engine.wakes_at)
        self.engine.turn()

    def _entries(self, row: ExecutionRow) -> tuple[int, range]:
        """(graph, positions) of the calls of ``create``."""
        for graph in self.store.graphs(row.number):
            for step in self.store.graph(graph.id).steps:
                if step.phase.endswith(".create"):
                    return graph.id, range(step.first, step.first + step.count)
        return 0, range(0)

    def statuses(self, row: ExecutionRow) -> list[EntryStatus]:
        graph, positions = self._entries(row)
        stored = self.store.statuses(graph) if len(positions) else []
        return [EntryStatus(int(stored[position])) for position in positions]

    def notes(self, row: ExecutionRow) -> list[NoteRow]:
        graph, positions = self._entries(row)
        return [note for note in self.store.notes(graph) if note.position in positions] if len(positions) else []

    def document(self, row: ExecutionRow, instance: int = 0) -> dict[str, Value]:
        return dict(self.store.documents(row.deployment).get(instance, {}))

    def data(self, row: ExecutionRow, instance: int = 0) -> dict[str, Value]:
        """What the phase keeps with an instance, as it is stored."""
        (phase,) = self.document(row, instance)["\0phases"]
        return dict(data_in(self.document(row, instance), phase))

    def close(self) -> None:
        self.engine.close(0)
        self.owning.__exit__(None, None, None)
