"""Stores with many small deployments, in every situation that a list shows, written through the port of the store.

Most deployments are installed. One of ``EVERY`` is in a situation of its own, one after the other of ``SITUATIONS``.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Sequence

import numpy as np
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import OnPath
from phaseline.model.blueprint.labels import Label
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.breakpoints import LABEL, Breakpoint
from phaseline.model.execution.events import Changes, NotesWritten, PageWritten
from phaseline.model.execution.execution import Request
from phaseline.model.execution.pre_post import HOOKS, OPENING
from phaseline.model.execution.stored_plans import StoredPlan
from phaseline.model.graph.graph import Graph, LaneSpec, Policy, Step, SubjectKind
from phaseline.model.graph.status import EntryStatus as E
from phaseline.model.graph.status import ExecutionStatus as X
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.resources.resources import REACH_WORKFLOW, ResourceAddition, no_resources, type_node
from phaseline.model.rows.rows import EntryRemark, EventRow, NewDeployment, NewExecution, RequestKind, Turn, TurnPayload
from phaseline.plan.explain.cloudify_sentences import QUEUED
from phaseline.ports.store import Store

CREATE, START = "cloudify.interfaces.lifecycle.create", "cloudify.interfaces.lifecycle.start"
STARTED, CREATING = int(InstanceState.STARTED), int(InstanceState.CREATING)
HOSTS, APPS = 1, 2
COUNT = HOSTS + APPS
"""Instances of a deployment."""
TOGETHER = 500
"""Deployments that are written in one turn."""
EVERY = 6
"""One of so many deployments is in a situation of its own."""
CREATES, STARTS = tuple(range(COUNT)), tuple(range(COUNT, 2 * COUNT))
"""Positions of the entries of both steps."""
NAMED = 64
"""Number of the first named state."""


class Writer:
    """Collects what deployments have gone through, and writes it in turns of the owner."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.graph, self.batch = store.counters()
        self.forget()

    def forget(self) -> None:
        self.changes: dict[str, list[object]] = {}
        self.remarks: list[EntryRemark] = []
        self.events: list[EventRow] = []

    def add(self, **changes: object) -> None:
        for name, change in changes.items():
            self.changes.setdefault(name, []).append(change)

    def commit(self, at: int) -> None:
        changes = Changes(**{name: tuple(found) for name, found in self.changes.items()})  # type: ignore[arg-type]  # by name
        self.store.commit(Turn(at, changes, TurnPayload(remarks=self.remarks, events=self.events)))
        self.forget()

    def execution(self, deployment: int, workflow: str = "install", **fields: object) -> int:
        request = Request(workflow, **fields)  # type: ignore[arg-type]  # by name
        return self.store.create_execution(
            NewExecution(deployment, request, a.ANN, 7), asks=False, beside=lambda _: True
        ).number

    def round(self, execution: int, statuses: Sequence[int], *, graph: Graph | None = None) -> int:
        """A graph with these statuses of its entries."""
        number = self.graph
        self.graph += 1
        self.add(
            graphs=a.added(number, execution, graph or small_graph()), pages=PageWritten(number, 0, bytes(statuses))
        )
        return number

    def call(self, graph: int, execution: int, deployment: int, positions: Sequence[int], *kinds: int) -> None:
        """A call of some entries; without ``kinds`` it runs."""
        batch = altered(a.batch(self.batch, execution, a.numbers(*positions), graph, deployment), lane=LaneSpec(CREATE))
        self.add(opened=batch)
        if kinds:
            self.add(closed=a.closed(self.batch, *kinds))
        self.batch += 1

    def note(
        self, graph: int, position: int, message: str, *, attempts: int = 0, due: int = 0, result: object = None
    ) -> None:
        """What a call said about an entry."""
        columns = a.numbers(position), a.numbers(attempts), a.numbers(0), np.array([due], np.int64)
        self.add(notes=NotesWritten(graph, *columns))
        self.remarks.append(EntryRemark(graph, position, message, {"type": "RuntimeError"} if attempts else {}, result))  # type: ignore[arg-type]  # some of them are None

    def end(self, execution: int, status: X, reason: str = "") -> None:
        self.add(executions=a.status(execution, status, reason))

    def states(self, deployment: int, state: int, subjects: Sequence[int] = CREATES) -> None:
        self.add(states=a.entered(deployment, (state,), *subjects))


def small_graph(name: str = "install", steps: Sequence[str] = (CREATE, START), subjects: int = COUNT) -> Graph:
    """Each step for each instance; an instance's second step needs its first."""
    found = a.graph(subjects, len(steps), name)
    return altered(
        found,
        steps=tuple(altered(step, phase=phase) for step, phase in zip(found.steps, steps, strict=True)),
        policies=(Policy(LaneSpec(CREATE), 5), Policy(LaneSpec(START), 5)),
        policy=np.repeat(np.arange(len(steps), dtype=np.uint16) % 2, subjects),
    )


def lone_graph(name: str, phase: str) -> Graph:
    """One entry that concerns the whole deployment."""
    found = a.graph(1, 1, name)
    return altered(found, steps=(Step(phase, SubjectKind.DEPLOYMENT, 0, 1),), policies=(Policy(LaneSpec(phase)),))


def installed(new: Writer, number: int) -> None:
    run = new.execution(number)
    graph = new.round(run, [E.COMPLETED] * 2 * COUNT)
    new.call(graph, run, number, CREATES, *[OutcomeKind.COMPLETED] * COUNT)
    new.states(number, STARTED)
    new.end(run, X.COMPLETED)


def failed(new: Writer, number: int) -> None:
    run = new.execution(number)
    graph = new.round(run, [E.FAILED, E.COMPLETED, E.COMPLETED, E.SKIPPED, E.COMPLETED, E.COMPLETED])
    new.call(graph, run, number, CREATES, OutcomeKind.FAILED, *[OutcomeKind.COMPLETED] * APPS)
    new.note(graph, 0, "no quota", attempts=1)
    new.states(number, CREATING, [0])
    new.end(run, X.FAILED, "1 entry failed")


def left_behind(new: Writer, number: int) -> None:
    failed(new, number)
    run = new.execution(number, "heal")
    new.round(run, [E.COMPLETED] * 2 * COUNT)
    new.end(run, X.COMPLETED)


def canceled(new: Writer, number: int) -> None:
    run = new.execution(number)
    graph = new.round(run, [E.UNSURE, E.COMPLETED, E.COMPLETED, E.CANCELED, E.COMPLETED, E.COMPLETED])
    new.call(graph, run, number, CREATES, OutcomeKind.UNSURE, *[OutcomeKind.COMPLETED] * APPS)
    new.end(run, X.CANCELED)


def unsure(new: Writer, number: int) -> None:
    run = new.execution(number)
    new.round(run, [E.UNSURE, E.COMPLETED, E.COMPLETED, E.BLOCKED, E.COMPLETED, E.COMPLETED])
    new.end(run, X.ATTENTION)


def retrying(new: Writer, number: int) -> None:
    run = new.execution(number)
    graph = new.round(run, [E.SLEEPING, E.COMPLETED, E.COMPLETED, E.BLOCKED, E.BLOCKED, E.BLOCKED])
    new.call(graph, run, number, CREATES, OutcomeKind.RETRY, *[OutcomeKind.COMPLETED] * APPS)
    new.note(graph, 0, "no route", attempts=2, due=2**45)
    new.events += [EventRow(run, at, "task_failed", "no route", 0, CREATE) for at in (11, 12)]
    new.end(run, X.RUNNING)


def asleep(new: Writer, number: int) -> None:
    run = new.execution(number)
    graph = new.round(run, [E.SLEEPING, E.COMPLETED, E.COMPLETED, E.BLOCKED, E.BLOCKED, E.BLOCKED])
    new.call(graph, run, number, CREATES, OutcomeKind.AGAIN, *[OutcomeKind.COMPLETED] * APPS)
    new.note(graph, 0, "image is built", due=2**45)
    new.end(run, X.RUNNING)


def calling(new: Writer, number: int) -> None:
    run = new.execution(number)
    graph = new.round(run, [E.WAITING] * COUNT + [E.BLOCKED] * COUNT)
    new.call(graph, run, number, CREATES[:2])
    new.end(run, X.RUNNING)


def ready(new: Writer, number: int) -> None:
    run = new.execution(number)
    new.round(run, [E.WAITING] * COUNT + [E.BLOCKED] * COUNT)
    new.end(run, X.RUNNING)


def queued(new: Writer, number: int) -> None:
    ready(new, number)
    for workflow in ("heal", "restart"):
        run = new.execution(number, workflow)
        new.events.append(EventRow(run, 11, QUEUED, "queued"))


def awaited(new: Writer, number: int) -> None:
    run = new.execution(number, is_surrounded=True)
    graph = new.round(run, [E.SLEEPING], graph=lone_graph(OPENING, f"{HOOKS}pre.approval"))
    new.note(graph, 0, "waits for an approval", due=2**45, result={"plan": "4d5e"})
    new.end(run, X.RUNNING)


def refused(new: Writer, number: int) -> None:
    installed(new, number)
    run = new.execution(number, "heal", is_surrounded=True)
    graph = new.round(run, [E.FAILED], graph=lone_graph(OPENING, f"{HOOKS}pre.quota"))
    new.note(graph, 0, "over the quota", attempts=1)
    new.end(run, X.FAILED, "refused")


def stopped(new: Writer, number: int) -> None:
    new.store.labels.add(number, [Label(LABEL, "pre-create")])
    run = new.execution(number, breakpoints=(Breakpoint("pre-create"),))
    graph = new.round(
        run, [E.SLEEPING] * COUNT + [E.BLOCKED] * COUNT, graph=small_graph(steps=("breakpoint pre-create", CREATE))
    )
    new.note(graph, 0, "stopped at pre-create")
    new.end(run, X.RUNNING)


def planned(new: Writer, number: int) -> None:
    installed(new, number)
    base = {"version": 0, "states": base64.b64encode(zlib.compress(bytes([STARTED] * COUNT))).decode()}
    new.store.stored_plans.add(StoredPlan(0, number, Request("uninstall"), 9, "ann", base, {}, "delete all"))


def unbegun(new: Writer, number: int) -> None:
    """Only created."""


SITUATIONS: Sequence[Callable[[Writer, int], None]] = (
    failed, left_behind, canceled, unsure, retrying, asleep, calling, ready, queued, awaited, refused, stopped, planned,
    unbegun,
)  # fmt: skip


def new_deployment(name: str, place: int) -> NewDeployment:
    """A deployment whose instances have ids of their own."""
    found = a.deployment(name, hosts=HOSTS, apps=APPS)
    tail = f"{place:06x}"
    ids = [f"{id}{tail}" for id in found.topology.ids]
    return altered(found, topology=altered(found.topology, ids=ids))


def new_cluster(new: Writer, name: str) -> None:
    """Three resources: one has arrived, one has failed on its way, one is still on it."""
    empty = no_resources()
    number, _ = new.store.create_deployment(
        NewDeployment(name, empty.blueprint, {}, empty, CodeLocation(""), a.ANN, 5, kind="resources")
    )
    ids = [f"{name}-{place}" for place in range(COUNT)]
    kind = [type_node("Disk", ("Disk",))]
    new.store.grow(number, ResourceAddition(0, kind, ids, np.zeros(COUNT, np.int32), {0: {"Size": 3}}), a.ANN)
    new.store.name_states(number, ["Allocation", "Started"])
    steps = ("state:Allocation", "phase:Acme.Create", "exit:Allocation")
    told = [E.PASSED, E.PASSED, E.PASSED, E.COMPLETED, E.FAILED, E.WAITING, E.PASSED, E.SKIPPED, E.BLOCKED]
    run = new.execution(number, REACH_WORKFLOW, parameters={"target": "Started", "subjects": [[0, COUNT - 1]]})
    graph = new.round(run, told, graph=small_graph("Allocation", steps))
    new.note(graph, COUNT + 1, "no quota", attempts=1)
    new.states(number, NAMED, [1, 2])
    new.states(number, NAMED + 1, [0])
    new.end(run, X.RUNNING)


def new_on_path(new: Writer, name: str, place: int) -> None:
    """A blueprint whose apps go along a path of states."""
    found = new_deployment(name, place)
    told = altered(found.blueprint, on_path={"cloudify.nodes.Root": OnPath(("cloudify.nodes.Root",), "Started")})
    number, _ = new.store.create_deployment(
        altered(found, blueprint=told, topology=altered(found.topology, blueprint=told))
    )
    new.store.name_states(number, ["Allocation", "Started"])
    run = new.execution(number)
    steps = ("state:Allocation", "phase:Acme.Create")
    graph = new.round(run, [E.PASSED] * COUNT + [E.COMPLETED, E.SLEEPING, E.COMPLETED], graph=small_graph(steps=steps))
    new.note(graph, COUNT + 1, "soon", due=2**45)
    new.states(number, STARTED, [0])
    new.states(number, NAMED + 1, [1])
    new.states(number, NAMED, [2])
    new.end(run, X.RUNNING)


def fill(store: Store, count: int) -> None:
    """Add so many deployments, and a cluster and a deployment with state paths for each hundred of them."""
    special = 0
    with store.own("a test"):
        new = Writer(store)
        for first in range(0, count, TOGETHER):
            with store.as_one():
                numbers = [
                    store.create_deployment(new_deployment(f"shop-{place:05}", place))[0]
                    for place in range(first, min(first + TOGETHER, count))
                ]
                for place, number in enumerate(numbers, first):
                    if place % EVERY:
                        installed(new, number)
                    else:
                        SITUATIONS[special % len(SITUATIONS)](new, number)
                        special += 1
                for place in range(first, min(first + TOGETHER, count), 100):
                    new_cluster(new, f"cluster-{place:05}")
                    new_on_path(new, f"path-{place:05}", count + place)
            new.commit(10)
        store.ask(RequestKind.RELOAD, 0, {}, a.ANN)
        store.pause_phase("Acme.Create", a.ANN, "a test")
        store.stored_plans.all()
