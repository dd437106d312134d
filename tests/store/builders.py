"""Small worlds to store: a blueprint, its topology, graphs and turns."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np

from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, PropertySchema, Relationship
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.topology import Link, Topology
from phaseline.model.execution.events import (
    Batch,
    BatchClosed,
    Changes,
    ExecutionChanged,
    GraphAdded,
    PageWritten,
    StatesEntered,
)
from phaseline.model.execution.execution import Request, RetryPolicy, StopAfter
from phaseline.model.graph.batch_members import GraphSegment, MemberColumns
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import PAGE_ENTRIES, ExecutionStatus
from phaseline.model.problems.problem import Place
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.model.rows.rows import Actor, DocumentChange, NewDeployment, NewExecution, Turn, TurnPayload
from phaseline.ports.store import Store
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.sqlite.store import SqliteStore
from phaseline.use_cases.commands.maintenance import purge_all

ANN = Actor("ann")
LANE = LaneSpec("cloudify.interfaces.lifecycle.create")
REQUEST = Request("install", {"a": [1, {"b": None}]}, RetryPolicy(3, 0.5), StopAfter(failures=2), clean=True)


class FakeClock:
    """Stands still until told."""

    def __init__(self) -> None:
        self.time = 1_000

    def now(self) -> int:
        return self.time


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def place(node: str, line: int) -> Place:
    return Place("shop.yaml", line, 3, f"node_templates.{node}")


def blueprint() -> Blueprint:
    create = Operation("cloudify.interfaces.lifecycle.create", "script", "script", "scripts/create.sh", {"port": 8080})
    within = Relationship(
        "cloudify.relationships.contained_in",
        ("cloudify.relationships.contained_in",),
        "host",
        {},
        {},
        {},
        "all_to_all",
    )
    host = Node(
        "host",
        "cloudify.nodes.Compute",
        ("cloudify.nodes.Root", "cloudify.nodes.Compute"),
        {"ip": ""},
        {},
        place=place("host", 3),
    )
    app = Node(
        "app",
        "cloudify.nodes.Root",
        ("cloudify.nodes.Root",),
        {"port": {"get_input": "port"}, "name": "äpp"},
        {create.name: create},
        (within,),
        host="host",
        place=place("app", 9),
    )
    return Blueprint(
        "cloudify_dsl_1_3",
        "shop.yaml",
        "/blueprints",
        nodes={"host": host, "app": app},
        inputs={"port": PropertySchema("integer", 8080, has_default=True)},
        description="A shop",
    )


def topology(of: Blueprint, hosts: int = 2, apps: int = 3) -> Topology:
    """``hosts`` hosts and ``apps`` apps in each, the apps' properties evaluated."""
    host, told = of.nodes["host"], of.nodes["app"]
    app = replace(told, properties={**told.properties, "port": 8080})
    inside = hosts * apps
    container = np.repeat(np.arange(hosts, dtype=np.int32), apps)
    everything = np.arange(hosts + inside, dtype=np.int32)
    return Topology(
        blueprint=of,
        nodes=(host, app),
        ids=[*(f"host_{number}" for number in range(hosts)), *(f"app_{number}" for number in range(inside))],
        node=np.repeat(np.array([0, 1], np.int32), [hosts, inside]),
        index=np.concatenate((np.arange(1, hosts + 1), np.arange(1, inside + 1))).astype(np.int32),
        container=np.concatenate((np.full(hosts, -1), container)).astype(np.int32),
        host=np.concatenate((np.arange(hosts), container)).astype(np.int32),
        links=(Link(1, 0, 0, app.relationships[0], is_rule=False),),
        link=np.zeros(inside, np.int32),
        source=everything[hosts:],
        target=container,
    )


def deployment(name: str = "shop", *, hosts: int = 2, apps: int = 3) -> NewDeployment:
    told = blueprint()
    return NewDeployment(
        name=name,
        blueprint=told,
        inputs={"port": 8080, "tags": ["a", {"b": 1.5}]},
        topology=topology(told, hosts, apps),
        code=CodeLocation("/blueprints", ("/blueprints/plugins", "/plugins")),
        actor=ANN,
        created_at=5,
    )


def execution(deployment: int = 0, request: Request = REQUEST) -> NewExecution:
    return NewExecution(deployment, request, ANN, 7)


def graph(subjects: int = 8, steps: int = 3, name: str = "install") -> Graph:
    """A chain of ``steps`` for each subject."""
    count = subjects * steps
    waits = np.full(count, 1)
    waits[count - subjects :] = 0
    return Graph(
        name=name,
        steps=tuple(Step(f"step-{at}", SubjectKind.INSTANCE, at * subjects, subjects) for at in range(steps)),
        policies=(
            Policy(LANE, enter=(2,), leave=(3, 4)),
            Policy(replace(LANE, form="each", key="properties.region"), -1),
        ),
        subject=np.tile(np.arange(subjects, dtype=np.int32), steps),
        policy=np.zeros(count, np.uint16),
        marks=np.zeros(count, np.uint8),
        ptr=np.concatenate(([0], np.cumsum(waits))).astype(np.int32),
        idx=np.arange(subjects, count, dtype=np.int32),
    )


def page(graph: int, number: int, status: int, count: int = PAGE_ENTRIES) -> PageWritten:
    return PageWritten(graph, number, bytes([status]) * count)


def batch(id: int, execution: int, positions: np.ndarray, graph: int = 1, deployment: int = 1) -> Batch:
    nothing = np.zeros(len(positions), np.int32)
    segment = GraphSegment(
        graph=graph,
        execution=execution,
        deployment=deployment,
        positions=positions,
        kind=SubjectKind.INSTANCE,
        subjects=positions,
        attempts=nothing,
        generations=nothing,
        policies=nothing.astype(np.uint16),
    )
    return Batch(id, LANE, 0, MemberColumns.of(segment), started_at=20, deadline_at=30)


def joined(id: int, *batches: Batch) -> Batch:
    """One batch with the segments of several."""
    return replace(
        batches[0], id=id, members=MemberColumns.of(*[segment for each in batches for segment in each.segments])
    )


def closed(id: int, *kinds: int) -> BatchClosed:
    return BatchClosed(id, 25, np.array(kinds, np.uint8))


def entered(deployment: int, states: tuple[int, ...], *subjects: int) -> StatesEntered:
    return StatesEntered(deployment, states, numbers(*subjects))


def turn(at: int = 10, payload: TurnPayload | None = None, **changes: tuple[object, ...]) -> Turn:
    return Turn(at, Changes(**changes), payload or TurnPayload())  # type: ignore[arg-type]  # the names of changes are those of Changes


def written(*changes: DocumentChange) -> Turn:
    return turn(payload=TurnPayload(documents=changes))


def status(execution: int, status: ExecutionStatus, reason: str = "", attempt: int = 0) -> ExecutionChanged:
    return ExecutionChanged(execution, status, reason, attempt)


def added(id: int, execution: int, graph: Graph) -> GraphAdded:
    return GraphAdded(id, execution, graph)


def installed(store: Store, name: str = "shop", **sizes: int) -> tuple[int, int]:
    """(deployment, execution) of a deployment with an execution."""
    number, row = store.create_deployment(deployment(name, **sizes), execution())
    assert row is not None
    return number, row.number


def end(store: Store, run: int, status: ExecutionStatus = ExecutionStatus.COMPLETED, at: int = 10) -> None:
    """The execution has ended, as its owner says who comes for that."""
    with store.own("the end"):
        store.commit(turn(at, executions=(ExecutionChanged(run, status),)))


@contextmanager
def beside(store: Store) -> Iterator[Store]:
    """The store as another process has it; of one in memory there is only the one."""
    if isinstance(store, PostgresStore):
        other: Store = PostgresStore.open(store._url, FakeClock())
    elif isinstance(store, SqliteStore):
        other = SqliteStore.open(store.path, FakeClock())
    else:
        yield store
        return
    with closing(other):
        yield other


def purge(store: Store, before: int, *, deployment: int | None = None) -> Purged:
    """Remove the executions that ended before a time, in as many slices as it takes."""
    return purge_all(store, PurgeRules(before, deployment=deployment))
