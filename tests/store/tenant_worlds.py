"""Tenants that have one of everything in a store, and what they see of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.blueprint.stored_blueprints import StoredBlueprint, StoredFile
from phaseline.model.deployment.stack_documents import SNAPSHOT, DocumentRow, NewDocument
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import Request
from phaseline.model.execution.pre_post import PinnedHookClass, PrePost
from phaseline.model.execution.stored_plans import StoredPlan
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.health.checks import CheckKind, NewCheckResults
from phaseline.model.packages.installed import PackageRow, PackageUse, StoredDefinition
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.causes import AwaitChanges, AwaitRow, CauseKey
from phaseline.model.rows.dependencies import Dependency
from phaseline.model.rows.details import BatchRange, Decoded, DetailQuery, Details
from phaseline.model.rows.groups import GroupRow, NewGroup, NewGroupRun, RunRow
from phaseline.model.rows.orders import NewOrder
from phaseline.model.rows.rows import (
    Actor,
    EntryRemark,
    EventRow,
    LogLine,
    PlannerWrites,
    RequestKind,
    TurnPayload,
)
from phaseline.model.rows.schedule_runs import Firing, NewRun
from phaseline.model.rows.schedules import NewSchedule, ScheduleRow
from phaseline.model.rows.secrets import SecretRow, WrappedKey
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.ports.store import Store
from phaseline.ports.tenant_store import TenantStore

BODY = b"#!/bin/sh\necho %s\n"


@dataclass(frozen=True)
class Things:
    """Names and numbers of what a tenant has; of what nobody has, with other names and numbers."""

    word: str
    deployment: int
    execution: int
    id: str
    graph: int
    request: int
    plan: int
    blueprint: int
    package: int
    digest: str
    document: DocumentRow
    schedule: ScheduleRow
    group: GroupRow
    run: RunRow

    def named(self, what: str) -> str:
        """The name of a thing."""
        return f"{self.word}-{what}"


NOBODYS = Things(
    word="phantom",
    deployment=9_001,
    execution=9_002,
    id="install-9002",
    graph=9_003,
    request=9_004,
    plan=9_005,
    blueprint=9_006,
    package=9_007,
    digest=hashlib.sha256(b"phantom").hexdigest(),
    document=DocumentRow(SNAPSHOT, "phantom-monday", 9_001, "phantom-shop", 10, "ann", 7),
    schedule=ScheduleRow(9_008, 9_001, "phantom-schedule", ScheduleSpec("install", "2026-01-01 00:00:00")),
    group=GroupRow(9_009, "phantom-group"),
    run=RunRow(9_010, 9_009, "phantom-group", "install", -1, -1, is_paused=False, created_at=0, created_by=""),
)


def schedule(deployment: int, name: str) -> NewSchedule:
    """A schedule of a deployment."""
    return NewSchedule(deployment, name, ScheduleSpec("install", "2026-01-01 00:00:00"))


def secret(name: str, version: int = 1) -> SecretRow:
    """A secret that nobody can decrypt."""
    return SecretRow(name, version, b"body", WrappedKey(b"key", "m1"), 5, "ann", 6, "bob")


def body_of(name: str) -> bytes:
    """The content of the only file of a blueprint or package."""
    return BODY % name.partition("-")[0].encode()


def file_of(body: bytes) -> StoredFile:
    """A file with this content."""
    return StoredFile("run.sh", hashlib.sha256(body).hexdigest(), len(body), is_executable=True)


def add_blueprint(
    store: TenantStore, id: str, imports: Sequence[int] = (), *, body: bytes = b""
) -> StoredBlueprint | None:
    """Upload a blueprint whose only file has the first word of its name as content, or ``body``."""
    body = body or body_of(id)
    row = StoredBlueprint(0, id, 0, "run.sh", f"whole-{id}", "", "cloudify_dsl_1_4", 1, len(body), 7, "ann")
    return store.stored_blueprints.add(row, [file_of(body)], {file_of(body).digest: body}, imports)


def add_package(
    store: TenantStore, name: str, version: str = "1.0.0", replaces: int = 0, *, body: bytes = b""
) -> PackageRow | None:
    """Install a package whose only file has the first word of its name as content, or ``body``."""
    body = body or body_of(name)
    row = PackageRow(0, name, version, "4.0.0", f"whole-{name}-{version}", "", "", 1, len(body), 5, "ann")
    return store.packages.add(row, [file_of(body)], {file_of(body).digest: body}, replaces=replaces, folders=["/p"])


def add_definition(store: TenantStore, name: str, version: str = "1.0", *, body: bytes = b"") -> None:
    """Store definitions whose only file has the first word of their name as content, or ``body``."""
    body = body or body_of(name)
    row = StoredDefinition(name, version, {"plugin.yaml": file_of(body).digest})
    store.definitions.add(row, {file_of(body).digest: body})


def plan_of(deployment: int) -> StoredPlan:
    """A plan that waits."""
    return StoredPlan(0, deployment, Request("update"), 1_000, "eve", {}, {"steps": [1]}, "~ web")


def order(store: TenantStore, id: str, digest: str = "d") -> NewOrder:
    """An order of a user of the tenant."""
    return NewOrder(id, digest, 100, Actor("ann", store.tenant))


def fill(whole: Store, tenant: str, word: str, graph: int = 1) -> Things:
    """Give a tenant one of everything; its graph gets the id ``graph``, its batch too."""
    store = whole.of(tenant)
    blueprint, package = add_blueprint(store, f"{word}-stored"), add_package(store, f"{word}-package")
    assert blueprint is not None
    assert package is not None
    add_blueprint(store, f"{word}-importing", [blueprint.number])
    use = PackageUse(0, package.number, folders=("/old",))
    made = CauseKey("program", graph, "deployment")
    new = altered(a.deployment(f"{word}-shop"), uses={"": blueprint.number}, packages=(use,), cause=made)
    group = store.groups.create(NewGroup(f"{word}-group"), a.ANN)
    assert group is not None
    run = store.group_runs.begin(NewGroupRun(group.number, group.name, "install"), a.ANN)
    around = PrePost((PinnedHookClass("quota", "house.hooks:Quota", "CREATE"),))
    number, row = store.create_deployment(
        new, altered(a.execution(), around=around, cause=CauseKey("group", run.number, "execution"))
    )
    assert row is not None
    store.name_states(number, [f"{word}-state"])
    store.labels.add(number, [Label(f"{word}-key", "value")])
    reads = Dependency("capability", "outputs.shop", "", f"{word}-shop")
    store.dependencies.replace(number, [reads])
    store.create_deployment(altered(a.deployment(f"{word}-reader"), dependencies=(reads,)))
    store.hook_switches.put_off(f"{word}-hook", number, "strict", a.ANN)
    scheduled = store.schedules.add(schedule(number, f"{word}-schedule"), a.ANN)
    assert scheduled is not None
    store.groups.join(group, [number])
    store.secrets.put(secret(f"{word}-secret"))
    add_definition(store, f"{word}-plugin")
    store.pause_phase(f"{word}.create", a.ANN, "because")
    plan = store.stored_plans.add(plan_of(number))
    with store.as_one(order(store, f"{word}-order")):
        request = store.ask(RequestKind.CANCEL, row.number, {"word": word}, a.ANN)
    carried = store.stored_plans.add(plan_of(number))
    store.stored_plans.apply(carried.number, row.number)
    _write(whole, number, row.number, f"{word}-monday", graph)
    scheduled = _miss(whole, scheduled)
    (document,) = store.stack_documents.all(SNAPSHOT)
    return Things(
        word=word,
        deployment=number,
        execution=row.number,
        id=row.id,
        graph=graph,
        request=request,
        plan=plan.number,
        blueprint=blueprint.number,
        package=package.number,
        digest=file_of(body_of(word)).digest,
        document=document,
        schedule=scheduled,
        group=group,
        run=run,
    )


def _miss(whole: Store, row: ScheduleRow) -> ScheduleRow:
    """Let a schedule miss a time; return its row then."""
    firing = Firing(row, [NewRun(5, 5, "missed")], next_at=10**12, last_at=5)
    with whole.own("an engine"):
        whole.firings.fire([firing], 20)
    return altered(row, next_at=10**12, last_at=5)


def _write(whole: Store, number: int, run: int, snapshot: str, graph: int) -> None:
    """What an engine writes of a deployment and its execution."""
    kept = NewDocument(SNAPSHOT, snapshot, number, "shop", run, {"n": graph})
    payload = TurnPayload(
        remarks=(EntryRemark(graph, 0, "said"),),
        logs=(LogLine(run, 20, "info", "a line"),),
        events=(EventRow(run, 20, "began", "it began"),),
        documents=(a.DocumentChange(number, 0, {("ip",): "10.0.0.1"}),),
        checks=(NewCheckResults(number, CheckKind.STATUS, a.numbers(0), np.array([1], np.uint8), 20, run, {0: "bad"}),),
        written=PlannerWrites(kept=(kept,)),
        awaits=AwaitChanges((AwaitRow(run, graph, 0, run, 20),)),
    )
    with whole.own("an engine"):
        whole.commit(
            a.turn(
                payload=payload,
                graphs=(a.added(graph, run, a.graph()),),
                opened=(a.batch(graph, run, a.numbers(0, 1), graph=graph, deployment=number),),
                pages=(a.page(graph, 0, 2, count=24),),
                states=(a.entered(number, (2,), 0),),
                executions=(a.status(run, ExecutionStatus.RUNNING),),
            )
        )


def outcome(call: Callable[[], object], word: str = "") -> str:
    """What a call returns or raises as text, so that outcomes can be compared.

    All numbers, digests and ``word`` are replaced by signs: two tenants have different ones.
    """
    try:
        found = call()
    except ProblemsError as error:
        text = f"{error.problems[0].code} {error.problems[0].message}"
    except LookupError as error:
        text = f"LookupError {error}"
    else:
        text = shown(found)
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    return re.sub(r"-?\d+", "#", text.replace(word, "WORD") if word else text)


def shown(found: object) -> str:
    """A value as text, whatever kind it is; sets and mappings sorted."""
    if isinstance(found, np.ndarray):
        return f"array {found.tolist()}"
    if isinstance(found, Mapping):
        return f"{{{', '.join(sorted(f'{key!r}: {shown(value)}' for key, value in found.items()))}}}"
    if hasattr(found, "_fields"):
        return f"{type(found).__name__}({', '.join(f'{name}={shown(getattr(found, name))}' for name in found._fields)})"
    if isinstance(found, list | tuple):
        return f"[{', '.join(map(shown, found))}]"
    if isinstance(found, frozenset | set):
        return f"{{{', '.join(sorted(map(shown, found)))}}}"
    if isinstance(found, AbstractContextManager):
        return "a context"
    text = repr(found)
    return re.sub(r" object at 0x[0-9a-f]+", "", text)


def detail_queries(x: Things) -> Sequence[DetailQuery]:
    """One query for each detail, of these things."""
    return [
        DetailQuery(graphs_of=[x.execution], with_columns=True),
        DetailQuery(events_of=[x.execution], event_types=["began"]),
        DetailQuery(requests_of=[x.execution]),
        DetailQuery(batches_of={x.execution: BatchRange(0, 0)}),
        DetailQuery(columns_of=[x.graph]),
        DetailQuery(notes_of=[x.graph]),
        DetailQuery(contexts_of=[x.graph]),
        DetailQuery(topologies_of=[x.deployment]),
        DetailQuery(inputs_of=[x.deployment]),
        DetailQuery(states_of=[x.deployment]),
        DetailQuery(executions_of=[x.deployment]),
        DetailQuery(executions_of=[x.deployment], only_open=True),
        DetailQuery(graphs_within=[x.deployment]),
        DetailQuery(rounds_of=[x.deployment]),
        DetailQuery(documents_of={x.deployment: [0]}),
        DetailQuery(lanes=[a.LANE.phase]),
        DetailQuery(open_batches=True),
        DetailQuery(open_requests=True),
    ]


def read_details(store: TenantStore, wanted: DetailQuery) -> object:
    """The details that a query finds, decoded."""
    details = store.listings.details(wanted)
    return {name: decoded(getattr(details, name)) for name in Details.__annotations__}


def decoded(value: object) -> object:
    if isinstance(value, Decoded):
        return decoded(value())
    if isinstance(value, Mapping):
        return {key: decoded(one) for key, one in value.items()}
    if isinstance(value, Topology | Graph):
        return type(value).__name__
    return [decoded(one) for one in value] if isinstance(value, list | tuple) else value


def phase_tables(store: TenantStore) -> object:
    """What of the tables of phases belongs to a tenant."""
    tables = store.listings.phase_tables()
    return [tables.paused, tables.packages]


def members(protocol: type) -> set[str]:
    """The public names of a protocol, with those of its bases."""
    return {
        name
        for base in protocol.__mro__
        if base.__module__.startswith("phaseline.")
        for name in vars(base)
        if not name.startswith("_")
    }
