"""What every store promises of tenants (rules RF4, TN1, TN4, K2): another tenant's rows are as if they did not exist.

Each method of the port has an entry here, with the numbers and names of things in it; a method without one fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from tests.store import builders as a
from tests.store.tenant_worlds import (
    NOBODYS,
    Things,
    add_blueprint,
    add_definition,
    add_package,
    detail_queries,
    fill,
    members,
    order,
    outcome,
    phase_tables,
    plan_of,
    read_details,
    schedule,
    secret,
)

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label, LabelShelf
from phaseline.model.blueprint.stored_blueprints import BlueprintShelf, StoredBlueprint, StoredFile
from phaseline.model.deployment.stack_documents import SNAPSHOT, DocumentShelf
from phaseline.model.execution.stored_plans import PlanShelf
from phaseline.model.packages.installed import DefinitionShelf, PackageRow, PackageShelf, PackageUse, StoredDefinition
from phaseline.model.resources.resources import ResourceAddition
from phaseline.model.rows.causes import CauseKey, CauseShelf
from phaseline.model.rows.dependencies import Dependency, DependencyShelf
from phaseline.model.rows.details import BatchRange, DetailQuery
from phaseline.model.rows.hook_switches import SwitchShelf
from phaseline.model.rows.listings import Listings
from phaseline.model.rows.maintenance import PurgeRules
from phaseline.model.rows.orders import GivenBeforeError, NewOrder, OrderShelf
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery, InstanceQuery
from phaseline.model.rows.rows import Actor, RequestKind
from phaseline.model.rows.schedules import ScheduleShelf
from phaseline.model.rows.secrets import SecretShelf, WrappedKey
from phaseline.ports.store import Store
from phaseline.ports.tenant_store import Incarnations, TenantStore
from phaseline.use_cases.commands.maintenance import purge_all

Call = Callable[[TenantStore, Things], object]


SHELVES: Mapping[str, type] = {
    "secrets": SecretShelf,
    "listings": Listings,
    "stored_blueprints": BlueprintShelf,
    "definitions": DefinitionShelf,
    "stored_plans": PlanShelf,
    "orders": OrderShelf,
    "stack_documents": DocumentShelf,
    "labels": LabelShelf,
    "dependencies": DependencyShelf,
    "packages": PackageShelf,
    "hook_switches": SwitchShelf,
    "causes": CauseShelf,
    "schedules": ScheduleShelf,
    "incarnations": Incarnations,
}

READS: Mapping[str, Call] = {
    "has_dependencies": lambda store, _: store.has_dependencies,
    "has_schedules": lambda store, _: store.has_schedules,
    "has_packages": lambda store, _: store.has_packages,
    "deployments": lambda store, _: store.deployments(),
    "deployment": lambda store, x: store.deployment(x.named("shop")),
    "blueprint": lambda store, x: store.blueprint(x.deployment).description,
    "inputs": lambda store, x: store.inputs(x.deployment),
    "topology": lambda store, x: store.topology(x.deployment).ids,
    "states": lambda store, x: store.states(x.deployment),
    "state_names": lambda store, x: store.state_names(x.deployment),
    "checks": lambda store, x: [*store.checks(x.deployment).columns],
    "documents": lambda store, x: store.documents(x.deployment),
    "executions": lambda store, x: [
        store.executions(),
        store.executions(only_open=True),
        store.executions(x.deployment),
    ],
    "execution": lambda store, x: store.execution(x.id),
    "around": lambda store, x: store.around(x.execution),
    "graphs": lambda store, x: store.graphs(x.execution),
    "graph": lambda store, x: store.graph(x.graph).name,
    "statuses": lambda store, x: store.statuses(x.graph),
    "entry_statuses": lambda store, x: store.entry_statuses(x.graph).now,
    "step_counts": lambda store, x: store.step_counts(x.graph),
    "notes": lambda store, x: [store.notes(x.graph), store.notes(x.graph, among=[0])],
    "messages": lambda store, x: store.messages(x.graph),
    "batches": lambda store, x: [
        [(row.id, row.places.graphs) for row in rows]
        for rows in (store.batches(), store.batches(only_open=True), store.batches(execution=x.execution))
    ],
    "runs_of": lambda store, _: [row.places.graphs for row in store.runs_of(a.LANE.phase).last],
    "logs": lambda store, x: store.logs(x.execution),
    "events": lambda store, x: store.events(x.execution),
    "requests": lambda store, _: store.requests(),
    "answer_of": lambda store, x: store.answer_of(x.request),
    "requests_of": lambda store, x: store.requests_of(x.execution),
    "paused_phases": lambda store, _: store.paused_phases(),
    "secrets.all": lambda store, _: store.secrets.all(),
    "secrets.find": lambda store, x: store.secrets.find(x.named("secret")),
    "listings.deployments": lambda store, x: [
        store.listings.deployments(query)
        for query in (
            DeploymentQuery(),
            DeploymentQuery(numbers=(x.deployment,)),
            DeploymentQuery(begins=x.word),
            DeploymentQuery(labels=(Label(x.named("key"), "value"),)),
            DeploymentQuery(text=x.word),
            DeploymentQuery(limit=5),
        )
    ],
    "listings.executions": lambda store, x: [
        store.listings.executions(query)
        for query in (
            ExecutionQuery(),
            ExecutionQuery(numbers=(x.execution,)),
            ExecutionQuery(deployments=(x.deployment,)),
            ExecutionQuery(begins=x.id),
            ExecutionQuery(workflow="install"),
            ExecutionQuery(is_latest_first=True, limit=5),
        )
    ],
    "listings.count": lambda store, x: [
        store.listings.count(DeploymentQuery()) > 0,
        store.listings.count(ExecutionQuery(numbers=(x.execution,))) > 0,
    ],
    "listings.page": lambda store, x: [
        store.listings.page(query)
        for query in (
            DeploymentQuery(limit=1),
            DeploymentQuery(status="attention"),
            DeploymentQuery(has_states=True),
            ExecutionQuery(),
            ExecutionQuery(limit=1),
            ExecutionQuery(deployments=(x.deployment,), limit=1),
        )
    ],
    "listings.instances": lambda store, x: [
        store.listings.instances(query)
        for query in (
            InstanceQuery(),
            InstanceQuery(limit=1),
            InstanceQuery(deployment=x.deployment),
            InstanceQuery(node="host"),
            InstanceQuery(node="host", state="uninitialized"),
            InstanceQuery(state=x.named("state")),
        )
    ],
    "listings.summaries": lambda store, x: store.listings.summaries([x.deployment]),
    "listings.with_ids": lambda store, _: [
        store.listings.with_ids(""),
        store.listings.with_ids("host_", limit=1),
        store.listings.with_ids("ho", kind="blueprint"),
    ],
    "listings.node_names": lambda store, x: [store.listings.node_names(), store.listings.node_names(x.deployment)],
    "listings.state_names": lambda store, x: [store.listings.state_names(), store.listings.state_names(x.deployment)],
    "listings.details": lambda store, x: [read_details(store, query) for query in detail_queries(x)],
    "listings.phase_tables": lambda store, _: phase_tables(store),
    "listings.rosters": lambda store, x: [one.ids for one in store.listings.rosters([x.deployment]).values()],
    "listings.unsettled": lambda store, x: [store.listings.unsettled(), store.listings.unsettled(x.deployment)],
    "stored_blueprints.all": lambda store, x: [
        store.stored_blueprints.all(),
        store.stored_blueprints.all(x.named("stored")),
    ],
    "stored_blueprints.find": lambda store, x: [
        store.stored_blueprints.find(x.named("stored")),
        store.stored_blueprints.find(x.named("stored"), 1),
    ],
    "stored_blueprints.lacking": lambda store, x: len(store.stored_blueprints.lacking([x.digest])) > 0,
    "stored_blueprints.files": lambda store, x: store.stored_blueprints.files(x.blueprint),
    "stored_blueprints.content": lambda store, x: store.stored_blueprints.content(x.digest),
    "stored_blueprints.imports": lambda store, x: store.stored_blueprints.imports(x.blueprint + 1),
    "stored_blueprints.users": lambda store, x: store.stored_blueprints.users([x.blueprint]),
    "stored_blueprints.users_by_id": lambda store, _: store.stored_blueprints.users_by_id(),
    "stored_blueprints.of_deployment": lambda store, x: store.stored_blueprints.of_deployment(x.deployment),
    "definitions.all": lambda store, _: store.definitions.all(),
    "definitions.content": lambda store, x: store.definitions.content(x.digest),
    "stored_plans.find": lambda store, x: store.stored_plans.find(x.plan),
    "stored_plans.all": lambda store, x: [store.stored_plans.all(), store.stored_plans.all(x.deployment)],
    "stored_plans.of_execution": lambda store, x: store.stored_plans.of_execution(x.execution),
    "orders.find": lambda store, x: [
        store.orders.find(Actor("ann", tenant), x.named("order")) for tenant in (store.tenant, "other")
    ],
    "orders.count": lambda store, _: store.orders.count() > 0,
    "stack_documents.all": lambda store, x: [
        store.stack_documents.all(SNAPSHOT),
        store.stack_documents.all(SNAPSHOT, x.deployment),
    ],
    "stack_documents.body": lambda store, x: store.stack_documents.body(x.document),
    "labels.of": lambda store, x: store.labels.of(x.deployment),
    "labels.with_key": lambda store, x: store.labels.with_key(x.named("key")),
    "labels.having": lambda store, x: store.labels.having([Label(x.named("key"), "")]),
    "dependencies.of": lambda store, x: store.dependencies.of(x.deployment),
    "dependencies.on": lambda store, x: store.dependencies.on(x.deployment),
    "dependencies.count_on": lambda store, x: store.dependencies.count_on(x.deployment) > 0,
    "packages.all": lambda store, _: store.packages.all(),
    "packages.lacking": lambda store, x: len(store.packages.lacking([x.digest])) > 0,
    "packages.files": lambda store, x: store.packages.files(x.package),
    "packages.content": lambda store, x: store.packages.content(x.digest),
    "packages.users": lambda store, x: store.packages.users(x.package),
    "packages.uses": lambda store, x: store.packages.uses(x.deployment),
    "packages.documents": lambda store, x: [*store.packages.documents([x.package]).values()],
    "packages.all_users": lambda store, _: store.packages.all_users(),
    "packages.all_uses": lambda store, _: store.packages.all_uses(),
    "packages.kept": lambda store, _: store.packages.kept(),
    "causes.caused": lambda store, x: store.causes.caused("program", x.graph),
    "causes.of_executions": lambda store, x: store.causes.of_executions([x.execution]),
    "causes.of_deployments": lambda store, x: store.causes.of_deployments([x.deployment]),
    "causes.of_blueprints": lambda store, x: [*store.causes.of_blueprints([x.blueprint, x.blueprint + 1]).values()],
    "causes.awaiting": lambda store, _: store.causes.awaiting(),
    "hook_switches.all": lambda store, _: store.hook_switches.all(),
    "schedules.all": lambda store, x: [store.schedules.all(), store.schedules.all(x.deployment)],
    "schedules.find": lambda store, x: store.schedules.find(x.deployment, x.named("schedule")),
    "schedules.soonest": lambda store, _: store.schedules.soonest(9),
    "schedules.history": lambda store, x: store.schedules.history(x.schedule),
    "schedules.missed": lambda store, _: store.schedules.missed() > 0,
}
"""What a tenant reads; of its own things it sees something, of another tenant's nothing."""

WRITES: Mapping[str, Call] = {
    "create_deployment": lambda store, x: [
        outcome(lambda: store.create_deployment(altered(a.deployment(x.named("a")), uses={"": x.blueprint}))),
        outcome(
            lambda: store.create_deployment(altered(a.deployment(x.named("b")), packages=(PackageUse(0, x.package),)))
        ),
        outcome(lambda: store.create_deployment(a.deployment(x.named("new")), replaces=x.deployment)),
    ],
    "create_execution": lambda store, x: store.create_execution(a.execution(x.deployment)),
    "grow": lambda store, x: store.grow(x.deployment, GROWTH, a.ANN),
    "ask": lambda store, x: [
        outcome(lambda kind=kind: store.ask(kind, x.execution, {}, a.ANN)) for kind in RequestKind
    ],
    "name_states": lambda store, x: store.name_states(x.deployment, ["new"]),
    "pause_phase": lambda store, x: store.pause_phase(f"{x.word}.create", a.ANN, "mine"),
    "unpause_phase": lambda store, x: [
        store.unpause_phase(f"{x.word}.create"),
        store.unpause_phase(f"{x.word}.create"),
    ],
    "secrets.put": lambda store, x: [store.secrets.put(secret(x.named("secret"), version)) for version in (2, 1)],
    "secrets.delete": lambda store, x: [
        store.secrets.delete(x.named("secret")),
        store.secrets.delete(x.named("secret")),
    ],
    "stored_blueprints.add": lambda store, x: [
        outcome(lambda: add_blueprint(store, "importing", [x.blueprint], body=b"mine")),
        outcome(lambda: claim_blueprint(store, x)),
        outcome(lambda: add_blueprint(store, x.named("stored"), body=b"mine")),
    ],
    "stored_blueprints.delete": lambda store, x: store.stored_blueprints.delete([x.blueprint + 1]),
    "causes.add_blueprint": lambda store, x: store.causes.add_blueprint(
        x.blueprint + 1, CauseKey("component", 77, x.named("cause"))
    ),
    "definitions.add": lambda store, x: [
        outcome(lambda: store.definitions.add(StoredDefinition("claim", "1.0", {"plugin.yaml": x.digest}), {})),
        outcome(lambda: add_definition(store, x.named("plugin"), body=b"mine")),
    ],
    "definitions.remove": lambda store, x: store.definitions.remove(x.named("plugin"), "1.0"),
    "stored_plans.add": lambda store, x: store.stored_plans.add(plan_of(x.deployment)),
    "stored_plans.apply": lambda store, x: store.stored_plans.apply(x.plan, x.execution),
    "stored_plans.delete": lambda store, x: store.stored_plans.delete(x.plan),
    "labels.add": lambda store, x: store.labels.add(x.deployment, [Label("new", "label")]),
    "labels.remove": lambda store, x: store.labels.remove(x.deployment, [Label(x.named("key"), "")]),
    "dependencies.replace": lambda store, x: store.dependencies.replace(
        x.deployment, [Dependency("capability", "outputs.stolen", "", x.named("shop"))]
    ),
    "packages.add": lambda store, x: [
        outcome(lambda: add_package(store, x.named("package"), "2.0.0", replaces=x.package, body=b"mine")),
        outcome(lambda: claim_package(store, x)),
        outcome(lambda: add_package(store, x.named("package"), body=b"mine")),
    ],
    "packages.rename": lambda store, x: store.packages.rename(x.package, "/stolen"),
    "packages.remove": lambda store, x: store.packages.remove(x.package),
    "packages.use": lambda store, x: store.packages.use(PackageUse(x.deployment, x.package)),
    "packages.leave": lambda store, x: store.packages.leave(x.deployment, x.package),
    "packages.find_again": lambda store, _: store.packages.find_again({"/old": "/stolen"}),
    "packages.collect": lambda store, _: store.packages.collect(),
    "hook_switches.put_off": lambda store, x: store.hook_switches.put_off(x.named("hook"), x.deployment, "mine", a.ANN),
    "hook_switches.put_on": lambda store, x: store.hook_switches.put_on(x.named("hook"), x.deployment),
    "schedules.add": lambda store, x: [
        outcome(lambda name=name: store.schedules.add(schedule(x.deployment, x.named(name)), a.ANN))
        for name in ("new", "schedule")
    ],
    "schedules.change": lambda store, x: store.schedules.change(
        x.schedule, altered(x.schedule.spec, slip_min=5), 9, a.ANN
    ),
    "schedules.switch": lambda store, x: store.schedules.switch(x.schedule, is_enabled=False, next_at=9, actor=a.ANN),
    "schedules.remove": lambda store, x: [store.schedules.remove(x.schedule), store.schedules.remove(x.schedule)],
    "as_one": lambda store, x: [given(store, x), given(store, x)],
    "delete_deployment": lambda store, x: store.delete_deployment(x.deployment, a.ANN),
    "purging": lambda store, x: [
        purge_all(store, rules) for rules in (PurgeRules(10_000, 10_000), PurgeRules(10_000, 10_000, x.deployment))
    ],
}
"""What a tenant changes; nothing of another tenant's is changed by it, and its outcome tells nothing of these."""

OF_THE_STORE: Mapping[str, Call] = {
    "owner": lambda store, _: store.owner(),
    "somebody_waits": lambda store, _: store.somebody_waits(),
    "identity": lambda store, _: store.identity(),
    "at_once": lambda store, _: store.at_once().__enter__ is not None,
    "changed": lambda store, _: store.changed() > 0,
    "listen_for_answers": lambda store, _: store.listen_for_answers(lambda: None).__enter__ is not None,
    "known_phases": lambda store, _: store.known_phases(),
    "measures": lambda store, _: store.measures(),
    "incarnations.all": lambda store, _: store.incarnations.all(),
    "incarnations.held": lambda store, _: store.incarnations.held(),
    "secrets.data_keys": lambda store, _: store.secrets.data_keys(),
    "secrets.add_key": lambda store, _: store.secrets.add_key("seals", WrappedKey(b"s", "m1")),
}
"""What is of the whole store, and names no row that a person can name (ADR 0050)."""

GROWTH = ResourceAddition(8, [], ["new_1"], np.zeros(1, np.int32))


def given(store: TenantStore, x: Things) -> object:
    """Give an order; return it if it was given before."""
    try:
        with store.as_one(order(store, x.named("order"), "mine")) as answer:
            answer["made"] = "now"
    except GivenBeforeError as error:
        return error.given.digest
    return None


def claim_blueprint(store: TenantStore, x: Things) -> object:
    """Upload a blueprint with a content that is not given."""
    row = StoredBlueprint(0, "claim", 0, "run.sh", "claimed", "", "cloudify_dsl_1_4", 1, 7, 7, "ann")
    return store.stored_blueprints.add(row, [StoredFile("run.sh", x.digest, 7)], {})


def claim_package(store: TenantStore, x: Things) -> object:
    """Install a package with a content that is not given."""
    row = PackageRow(0, "claim", "1.0.0", "4.0.0", "claimed", "", "", 1, 7, 5, "ann")
    return store.packages.add(row, [StoredFile("run.sh", x.digest, 7)], {})


def test_k2_every_method_of_a_tenants_store_has_an_entry() -> None:
    own = members(TenantStore)
    assert own >= SHELVES.keys()
    wanted = own - SHELVES.keys() - {"tenant"}
    wanted |= {f"{shelf}.{name}" for shelf, protocol in SHELVES.items() for name in members(protocol)}
    assert {*READS, *WRITES, *OF_THE_STORE} == wanted


@pytest.fixture
def foreign(store: Store) -> Things:
    """What the tenant ``other`` has in the store."""
    return fill(store, "other", "foreign", graph=1)


def seen(store: TenantStore, x: Things) -> dict[str, str]:
    """What a tenant reads of the things in ``x``."""
    return {name: outcome(lambda call=call: call(store, x), x.word) for name, call in READS.items()}


def test_rf4_a_tenant_reads_nothing_of_another_and_all_of_its_own(store: Store, foreign: Things) -> None:
    stranger, nobody = seen(store.of("acme"), foreign), seen(store.of("empty"), NOBODYS)
    assert stranger == nobody
    owner = seen(store.of("other"), foreign)
    assert [name for name in READS if owner[name] == stranger[name]] == []


def test_rf4_what_a_tenant_changes_tells_and_touches_nothing_of_another(store: Store, foreign: Things) -> None:
    mine, empty, other = store.of("acme"), store.of("empty"), store.of("other")
    before = seen(other, foreign)
    for name, call in WRITES.items():
        told = outcome(lambda call=call: call(mine, foreign), foreign.word)
        assert told == outcome(lambda call=call: call(empty, NOBODYS), NOBODYS.word), name
        assert seen(other, foreign) == before, name
    assert list(store.check()) == []


def test_rf4_what_is_of_the_whole_store_is_the_same_for_all(store: Store, foreign: Things) -> None:
    mine, other = store.of("acme"), store.of("other")
    for name, call in OF_THE_STORE.items():
        assert outcome(lambda call=call: call(mine, foreign)) == outcome(lambda call=call: call(other, foreign)), name


def test_rf4_the_engine_sees_all_rows(store: Store, foreign: Things) -> None:
    mine = fill(store, "acme", "mine", graph=2)
    assert [row.name for row in store.deployments()] == ["foreign-reader", "foreign-shop", "mine-reader", "mine-shop"]
    assert [row.tenant for row in store.executions(only_open=True)] == ["other", "acme"]
    assert [row.number for row in store.requests()] == sorted([*start_of(store, foreign), *start_of(store, mine)])
    assert [row.id for row in store.batches(only_open=True)] == [1, 2]
    assert store.graph(1).name == store.graph(2).name
    assert store.deployment("mine-shop") is None, "a name is one of the default tenant"


def start_of(store: Store, x: Things) -> list[int]:
    return [row.number for row in store.requests_of(x.execution)]


def test_tn1_a_name_is_each_tenants_own(store: Store) -> None:
    for tenant, graph in (("acme", 1), ("other", 2)):
        fill(store, tenant, "same", graph=graph)
    found = [store.of(tenant).deployment("same-shop") for tenant in ("acme", "other")]
    assert [row and row.tenant for row in found] == ["acme", "other"]
    store.of("acme").secrets.delete("same-secret")
    store.of("acme").unpause_phase("same.create")
    store.of("acme").hook_switches.put_on("same-hook", found[0].number)
    other = store.of("other")
    assert other.secrets.find("same-secret") is not None
    assert [*other.paused_phases()] == ["same.create"]
    assert [one.name for one in other.hook_switches.all()] == ["same-hook"]
    assert [str(one) for one in other.stored_blueprints.all()] == ["same-importing@1", "same-stored@1"]


def test_rf4_what_is_written_belongs_to_the_tenant_whatever_its_user_is_said_to_be(store: Store) -> None:
    liar, mine = Actor("eve", "other"), store.of("acme")
    number, row = mine.create_deployment(altered(a.deployment(), actor=liar), altered(a.execution(), actor=liar))
    mine.ask(RequestKind.CANCEL, row.number, {}, liar)
    mine.pause_phase("create", liar, "why")
    mine.hook_switches.put_off("hook", 0, "why", liar)
    mine.schedules.add(schedule(number, "liars"), liar)
    with mine.as_one(altered_order(liar)):
        mine.labels.add(number, [Label("a", "b")])
    other = store.of("other")
    assert not any([other.deployments(), other.executions(), other.requests(), other.paused_phases()])
    assert ([*other.schedules.all()], [one.tenant for one in mine.schedules.all()]) == ([], ["acme"])
    assert (other.hook_switches.all(), other.orders.count(), mine.orders.count()) == ([], 0, 1)
    assert [one.actor.tenant for one in mine.requests()] == ["acme", "acme"]


def altered_order(actor: Actor) -> NewOrder:
    return NewOrder("o-1", "d", 100, actor)


def test_rf4_of_a_call_with_members_of_two_tenants_each_sees_its_own(store: Store) -> None:
    runs = [fill(store, tenant, "same", graph=number) for number, tenant in ((1, "acme"), (2, "other"))]
    parts = [
        a.batch(3, x.execution, a.numbers(4, 5 + at), graph=x.graph, deployment=x.deployment)
        for at, x in enumerate(runs)
    ]
    with store.own("an engine"):
        store.commit(a.turn(opened=(a.joined(3, *parts),)))
        store.commit(a.turn(closed=(altered(a.closed(3, 1, 2, 3, 4), closed_at=0),)))
    for tenant, x, kinds in (("acme", runs[0], [1, 2]), ("other", runs[1], [3, 4])):
        own = store.of(tenant)
        for rows in (own.batches(only_open=True), own.batches(execution=x.execution), own.batches()):
            assert [row.id for row in rows] == [x.graph, 3]
            assert rows[1].places.graphs == (x.graph,)
            assert rows[1].kinds.tolist() == kinds
        everything = DetailQuery(
            open_batches=True, lanes=[a.LANE.phase], batches_of={run.execution: BatchRange(0, 0) for run in runs}
        )
        details = own.listings.details(everything)
        for by_graph in (details.open_batches, details.batches):
            assert by_graph is not None
            assert [*by_graph] == [x.graph]
            assert by_graph[x.graph][1]().kinds.tolist() == kinds
        for lane in (
            details.lanes[a.LANE.phase],
            own.runs_of(a.LANE.phase),
        ):  # it counts for the tenant of its first member
            assert [row.places.graphs for row in lane.last] == [(x.graph,)] * (2 if tenant == "acme" else 1)


def test_rf4_a_number_that_was_taken_back_is_not_remembered(store: Store) -> None:
    mine, other = store.of("acme"), store.of("other")
    made: list[int] = []

    def fail() -> None:
        with mine.as_one():
            made.append(mine.create_deployment(a.deployment())[0])
            mine.labels.add(made[0], [Label("a", "b")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    (number,) = made
    theirs, _ = other.create_deployment(a.deployment())
    assert [*mine.labels.of(number), *mine.labels.of(theirs)] == []
    with pytest.raises(LookupError):
        mine.topology(theirs)
