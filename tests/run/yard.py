"""An engine that brings resources to targets, whose phases are answered by hand; time and crashes as of a station."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from queue import Queue

import numpy as np
from tests.run.engines import ANN, Called, Station
from tests.run.worlds import PATIENCE_S

from phaseline.calls.protocol.reports import CallReport
from phaseline.compat.cyclecloud.state_event import StateEvent
from phaseline.engine.stories import Stories
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import OnPath, Value
from phaseline.model.blueprint.state_paths import DEFAULT_TYPES, NODE, ResourceTypes
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.breakpoints import Breakpoint, read_breakpoint
from phaseline.model.execution.events import Batch
from phaseline.model.execution.execution import Request
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.phases.definitions import ListenerDefinition, PhaseCode, PhaseDefinition, PhasePolicy
from phaseline.model.phases.phase_data import phases_in
from phaseline.model.phases.registry import PhaseRegistry
from phaseline.model.resources.resources import ResourceAddition, no_resources, type_node
from phaseline.model.resources.state_graph_names import state_name
from phaseline.model.rows.rows import ExecutionRow, NewDeployment, NewExecution, RequestKind
from phaseline.run.loop.engine import Engine
from phaseline.testing.builders import blueprint, node
from phaseline.testing.builders import topology as topology_of
from phaseline.testing.plain_services import PlainServices
from phaseline.use_cases.commands.resources.apply import reach

SERVER = "acme.Server"


def phase(name: str, state: str = "Allocation", *needs: str, **fields: object) -> PhaseDefinition:
    """A phase of nodes; ``policy``: fields of it."""
    policy = PhasePolicy(**fields.pop("policy", {}))
    states = (state,) if isinstance(state, str) else state
    made = PhaseDefinition(
        name, f"plugin.{name}", states, (NODE,), dependencies=needs, policy=policy, code=PhaseCode("plugin", name)
    )
    constraint = str(fields.get("constraint", ""))
    names = frozenset(word.lower() for word in constraint.replace("(", " ").split())
    return replace(made, constraint_names=names, **fields)


@dataclass
class Source:
    """``run.phases.active_phases.PhaseSource`` of definitions that the test gives."""

    phases: list[PhaseDefinition] = field(default_factory=list)
    listeners: list[ListenerDefinition] = field(default_factory=list)
    types: ResourceTypes = DEFAULT_TYPES
    functions: dict[str, Callable[..., object]] = field(default_factory=dict)

    def registry(self) -> PhaseRegistry:
        return PhaseRegistry(self.phases, self.listeners, self.types)

    def function(self, code: PhaseCode) -> Callable[..., object]:
        return self.functions[code.function]


def installed(yard: "Yard", *breakpoints: Breakpoint, **operations: str) -> ExecutionRow:
    """The install of a blueprint of one server, whose node goes a path to Started, has begun."""
    line = OnPath((SERVER, "cloudify.nodes.Root", NODE), "Started")
    made = altered(
        blueprint(node("web", types=(SERVER,), **operations)), version="phaseline_dsl_1_0", on_path={SERVER: line}
    )
    new = NewDeployment("lab", made, {}, topology_of(made), CodeLocation("/nowhere"), ANN, yard.clock.now())
    number, _ = yard.store.create_deployment(new)
    request = Request("install", breakpoints=breakpoints)
    row = yard.store.create_execution(NewExecution(number, request, ANN, yard.clock.now()))
    yard.engine.submit(row)
    yard.settle()
    return row


class Heard:
    """A listener that keeps what it is told; ``wait`` until it was told so often."""

    def __init__(self) -> None:
        self.events: Queue[StateEvent] = Queue()

    def __call__(self, event: StateEvent) -> None:
        self.events.put(event)

    def wait(self, count: int) -> list[tuple[str, list[str]]]:
        """(state, names) of so many events, in the order of the states' names."""
        found = [self.events.get(timeout=PATIENCE_S) for _ in range(count)]
        return sorted((event.getState(), event.getResources().names()) for event in found)


class Yard(Station):
    """A station with phases."""

    def __init__(self, *phases: PhaseDefinition, types: ResourceTypes = DEFAULT_TYPES) -> None:
        self.source = Source(list(phases), types=types)
        super().__init__()

    def begin_engine(self) -> None:
        self.store.disown()
        self.owning = self.store.own("a test")
        lease = self.owning.__enter__()
        self.answered = set()
        self.engine = Engine(
            self.store,
            self.clock,
            PlainServices(
                self._make_executor,
                self.declares,
                after_turn=self._after_turn,
                reloaded=self._reloaded,
                phases=self.source,
            ),
            lease,
        )
        self.engine.scheduler.arena.stories = Stories()

    def _reloaded(self) -> dict[str, Value]:
        return {"done": True}

    # -- what users do ------------------------------------------------------------------------------------------

    def cluster(self, name: str = "lab") -> int:
        found = self.store.deployment(name)
        if found is not None:
            return found.number
        empty = no_resources()
        new = NewDeployment(
            name, empty.blueprint, {}, empty, CodeLocation("/nowhere"), ANN, self.clock.now(), kind="resources"
        )
        number, _ = self.store.create_deployment(new)
        return number

    def add(self, *names: str, kind: str = NODE, cluster: str = "lab", **attributes: Value) -> None:
        """Resources with these attributes; one whose type is ``kind``."""
        number = self.cluster(cluster)
        topology = self.store.topology(number)
        first = len(topology)
        known = [node.name for node in topology.nodes]
        new = [] if kind in known else [type_node(kind, self.source.types.line(kind))]
        place = known.index(kind) if kind in known else len(known)
        documents = {first + at: dict(attributes) for at in range(len(names))} if attributes else {}
        growth = ResourceAddition(first, new, list(names), np.full(len(names), place, np.int32), documents)
        self.store.grow(number, growth, ANN)

    def numbers(self, names: Iterable[str], cluster: str = "lab") -> np.ndarray:
        made = self.store.topology(self.cluster(cluster))
        wanted = list(names) or list(made.ids)
        return np.array(sorted(made.number_of[name] for name in wanted), np.int32)

    def reach(
        self, target: str, *names: str, cluster: str = "lab", force: bool = False, breaks: Iterable[str] = ()
    ) -> ExecutionRow:
        """Bring these (none: all) to a target, and turn until calls are out. ``breaks``: where some of them stop."""
        stops = tuple(map(read_breakpoint, breaks))
        request = reach(target, self.numbers(names, cluster), force=force, breakpoints=stops)
        row = self.store.create_execution(NewExecution(self.cluster(cluster), request, ANN, self.clock.now()))
        self.engine.submit(row)
        self.settle()
        return row

    def start(self, *names: str, **attributes: Value) -> ExecutionRow:
        """Add nodes and bring them to Started."""
        self.add(*names, **attributes)
        return self.reach("Started", *names)

    def ask(self, kind: RequestKind, row: ExecutionRow | None, **body: Value) -> None:
        """Another process asks, and the engine goes on."""
        self.clock.advance_to(self.clock.now() + 1_000)
        number = self.store.ask(kind, 0 if row is None else row.number, {"id": row.id if row else "", **body}, ANN)
        self.engine.turn()
        self.settle()
        self.answer_to = self.store.answer_of(number)

    def about(self, kind: RequestKind, phase: str, *names: str, **body: Value) -> None:
        """Ask about a phase of resources in their present stays."""
        places: dict[int, list[Value]] = {}
        for name in names:
            graph, position = self.spots(name)[phase]
            places.setdefault(graph, []).append(position)
        (row,) = {
            row.number: row
            for row in self.store.executions()
            for graph in self.store.graphs(row.number)
            if graph.id in places
        }.values()
        self.ask(kind, row, chosen=[[graph, positions] for graph, positions in places.items()], **body)

    def edit(self, name: str, **attributes: Value) -> None:
        """A user changes attributes of a resource."""
        number = int(self.numbers([name])[0])
        written: list[Value] = [[[key], value] for key, value in attributes.items()]
        edits: list[Value] = [{"instance": number, "written": written, "removed": []}]
        self.ask(RequestKind.EDIT, None, deployment=self.cluster(), edits=edits)

    def renew(self) -> None:
        """Plugins are read anew."""
        self.ask(RequestKind.RELOAD, None)

    def pass_time(self, seconds: float) -> None:
        """The clock goes on, and the engine looks at it if it wanted to."""
        self.clock.advance_to(self.clock.now() + round(seconds * 1000))
        if self.engine.wakes_at is not None and self.engine.wakes_at <= self.clock.now():
            self.engine.turn()
        self.settle()

    def crash(self) -> None:
        """The process dies; another one goes on with what is open."""
        self.begin_engine()
        self.engine.recover()
        self.settle()

    # -- what happens -------------------------------------------------------------------------------------------

    def one(self, batch: Batch, member: int) -> Called:
        found = super().one(batch, member)
        return replace(found, phase=phase_of(batch.lane.phase) or found.phase)

    def report(self, one: Called, kind: OutcomeKind = OutcomeKind.COMPLETED, **brought: object) -> CallReport:
        """As a station's; what it brings is known at once, as executors have it."""
        found = super().report(one, kind, **brought)
        for _, change in found.documents:
            self.deployments.loaded(change.deployment).apply(change.instance, change.written, change.removed)
        return found

    def runs(self) -> list[tuple[str, list[str]]]:
        """(phase, resources) of all runs so far, in order."""
        return [
            (phase_of(batch.lane.phase) or "", [self.one(batch, member).instance for member in range(len(batch))])
            for batch in self.executor.batches.values()
        ]

    def hear(self, *names: str) -> "Heard":
        """A listener; ``names``: the states it listens to."""
        heard = Heard()
        self.source.functions["hear"] = heard
        self.source.listeners.append(ListenerDefinition("hearing", tuple(names), code=PhaseCode("plugin", "hear")))
        return heard

    # -- what is remembered -------------------------------------------------------------------------------------

    def state(self, name: str, cluster: str = "lab") -> str:
        number = self.cluster(cluster)
        found = int(self.store.states(number)[self.store.topology(number).number_of[name]])
        return state_name(found, self.store.state_names(number))

    def document_of(self, name: str, cluster: str = "lab") -> dict[str, Value]:
        number = self.cluster(cluster)
        return dict(self.store.documents(number).get(self.store.topology(number).number_of[name], {}))

    def data(self, name: str, phase: str) -> Value:
        """What a phase keeps with a resource."""
        return phases_in(self.document_of(name)).get(phase)

    def spots(self, name: str, cluster: str = "lab") -> dict[str, tuple[int, int]]:
        """{phase: (graph, position)} of the latest stay of a resource."""
        number = self.cluster(cluster)
        subject = self.store.topology(number).number_of[name]
        graphs = [graph for row in self.store.executions(number) for graph in self.store.graphs(row.number)]
        for graph in sorted(graphs, key=lambda one: -one.id):
            columns = self.store.graph(graph.id)
            if subject in columns.subject:
                return {
                    phase_of(step.phase) or step.phase: (graph.id, step.first + int(place))
                    for step in columns.steps
                    for place in np.flatnonzero(columns.subject[step.first : step.first + step.count] == subject)
                }
        return {}

    def stay(self, name: str, cluster: str = "lab") -> dict[str, str]:
        """{phase: status} of the latest stay, as the engine knows it, or the store."""
        found = {}
        for step, (graph, position) in self.spots(name, cluster).items():
            slot = self.engine.scheduler.arena.slots.get(graph)
            stored = self.store.statuses(graph)[position] if slot is None else None
            status = stored if slot is None else self.engine.scheduler.arena.status[slot.base + position]
            if ":" not in step:
                found[step] = EntryStatus(int(status)).word
        return found

    def message(self, name: str, phase: str) -> str:
        graph, position = self.spots(name)[phase]
        return next((note.message for note in self.store.notes(graph) if note.position == position), "")
