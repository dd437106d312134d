"""Two tenants that do the same, in any order, in one store: each sees exactly what it would see alone (rule RF4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store import builders as a
from tests.store.postgres_server import new_schema
from tests.store.tenant_worlds import add_blueprint, add_package, order, outcome, plan_of, schedule, secret, shown

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.deployment.stack_documents import SNAPSHOT, NewDocument
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.packages.installed import PackageUse
from phaseline.model.rows.maintenance import PurgeRules
from phaseline.model.rows.orders import GivenBeforeError
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.model.rows.rows import BatchRow, PlannerWrites, RequestAnswer, RequestKind, TurnPayload
from phaseline.ports.store import Store
from phaseline.ports.tenant_store import TenantStore
from phaseline.store.memory.store import MemoryStore
from phaseline.store.postgres.store import PostgresStore
from phaseline.store.sqlite.store import SqliteStore
from phaseline.use_cases.commands.maintenance import purge_all

NAMES = ("shop", "farm")
COMPLETED = ExecutionStatus.COMPLETED


class Tenant:
    """A tenant and the engine of its store, which does for it what it is told."""

    def __init__(self, whole: Store, name: str) -> None:
        self.whole, self.store = whole, whole.of(name)
        self.graphs: list[int] = []

    def numbers(self) -> Sequence[int]:
        """The numbers of its deployments."""
        return [row.number for row in self.store.deployments()]

    def act(self, what: str, name: str, at: int) -> str:
        """Do one thing; return its outcome."""
        return outcome(lambda: ACTIONS[what](self, name, at))

    def number(self, name: str) -> int:
        """The number of the deployment of a name; 0 if there is none."""
        row = self.store.deployment(name)
        return 0 if row is None else row.number

    def run(self, name: str) -> int:
        """The number of the last execution of a deployment."""
        rows = self.store.executions(self.number(name))
        return rows[-1].number if rows else 0

    def commit(self, **changes: object) -> None:
        """One turn of the engine."""
        payload = changes.pop("payload", None)
        with self.whole.own("an engine"):
            self.whole.commit(a.turn(20, payload, **changes))

    def plan(self, name: str, at: int) -> int:
        """The number of one of the plans of a deployment; 0 if there is none."""
        rows = self.store.stored_plans.all(self.number(name))
        return rows[at % len(rows)].number if rows else 0


Action = Callable[[Tenant, str, int], object]


def create(one: Tenant, name: str, _: int) -> object:
    store = one.store
    stored, package = store.stored_blueprints.find(name), next(iter(store.packages.all()), None)
    new = altered(
        a.deployment(name, hosts=1, apps=1),
        uses={} if stored is None else {"": stored.number},
        packages=() if package is None else (PackageUse(0, package.number),),
    )
    return store.create_deployment(new, a.execution())


def play(one: Tenant, name: str, _: int) -> object:
    """A round of the last execution, whose first call fails and whose second one stays open."""
    run, number = one.run(name), one.number(name)
    if not run:
        return None
    graph, batch = one.whole.counters()
    kept = NewDocument(SNAPSHOT, "monday", number, name, run, {"n": 1})
    one.commit(
        payload=TurnPayload(written=PlannerWrites(kept=(kept,))),
        graphs=(a.added(graph, run, a.graph(2)),),
        opened=tuple(a.batch(batch + at, run, a.numbers(at), graph=graph, deployment=number) for at in range(2)),
        closed=(a.closed(batch, OutcomeKind.FAILED),),
        pages=(a.page(graph, 0, 2, count=6),),
        states=(a.entered(number, (2,), 0),),
        executions=(a.status(run, ExecutionStatus.RUNNING),),
    )
    return None


def end(one: Tenant, name: str, at: int) -> object:
    run = one.run(name)
    if run:
        answers = tuple(RequestAnswer(row.number, {"done": True}) for row in one.store.requests_of(run))
        batches = list(one.store.batches(execution=run, only_open=True))
        one.commit(
            payload=TurnPayload(answers=answers),
            closed=tuple(a.closed(row.id, 3) for row in batches),
            executions=(a.status(run, ExecutionStatus.FAILED if at % 3 == 0 else COMPLETED),),
        )
    return None


def give(one: Tenant, name: str, at: int) -> object:
    try:
        with one.store.as_one(order(one.store, f"o-{at % 4}")) as answer:
            answer["number"] = name
            return one.store.create_execution(a.execution(one.number(name), Request("heal")))
    except GivenBeforeError as error:
        return error.given


def install(one: Tenant, name: str, at: int) -> object:
    present = next((row.number for row in one.store.packages.all() if row.name == name), 0)
    return add_package(one.store, name, f"1.0.{at % 3}", replaces=present if at % 2 else 0)


def ask(one: Tenant, name: str, at: int) -> object:
    run = one.run(name)
    kind = [*RequestKind][at % len(RequestKind)] if run else RequestKind.RELOAD
    return one.store.ask(kind, run, {}, a.ANN)


def package_of(one: Tenant, name: str) -> int:
    return next((row.number for row in one.store.packages.all() if row.name == name), 0)


ACTIONS: Mapping[str, Action] = {
    "create": create,
    "play": play,
    "end": end,
    "give": give,
    "install": install,
    "execute": lambda one, name, _: one.store.create_execution(a.execution(one.number(name), Request("heal"))),
    "ask": ask,
    "delete": lambda one, name, _: one.store.delete_deployment(one.number(name), a.ANN),
    "upload": lambda one, name, at: add_blueprint(one.store, name, body=b"v%d" % at),
    "unstore": lambda one, name, _: one.store.stored_blueprints.delete(
        [row.number for row in one.store.stored_blueprints.all(name)]
    ),
    "plan": lambda one, name, _: one.store.stored_plans.add(plan_of(one.number(name))) if one.number(name) else None,
    "apply": lambda one, name, at: one.store.stored_plans.apply(one.plan(name, at), one.run(name)),
    "drop": lambda one, name, at: one.store.stored_plans.delete(one.plan(name, at)),
    "label": lambda one, name, at: one.number(name) and one.store.labels.add(one.number(name), [Label("k", f"v{at}")]),
    "unlabel": lambda one, name, _: one.store.labels.remove(one.number(name), [Label("k", "")]),
    "pause": lambda one, name, _: one.store.pause_phase(f"{name}.Create", a.ANN, "why"),
    "unpause": lambda one, name, _: one.store.unpause_phase(f"{name}.create"),
    "put_off": lambda one, name, at: one.store.hook_switches.put_off(name, one.number(name), f"r{at}", a.ANN),
    "put_on": lambda one, name, _: one.store.hook_switches.put_on(name, one.number(name)),
    "schedule": lambda one, name, _: (
        one.number(name) and one.store.schedules.add(schedule(one.number(name), name), a.ANN)
    ),
    "unschedule": lambda one, name, _: [
        one.store.schedules.remove(row) for row in one.store.schedules.all(one.number(name))
    ],
    "secret": lambda one, name, at: one.store.secrets.put(secret(name, 1 + at % 3)),
    "unsecret": lambda one, name, _: one.store.secrets.delete(name),
    "use": lambda one, name, _: one.store.packages.use(PackageUse(one.number(name), package_of(one, name))),
    "leave": lambda one, name, _: one.store.packages.leave(one.number(name), package_of(one, name)),
    "remove": lambda one, name, _: one.store.packages.remove(package_of(one, name)),
    "collect": lambda one, _, __: one.store.packages.collect(),
    "purge": lambda one, name, at: purge_all(one.store, PurgeRules(100, 100, one.number(name) if at % 2 else None)),
}


def calls(rows: Sequence[BatchRow]) -> object:
    """Batches without their numbers."""
    return [(row.places.positions, row.kinds, row.closed_at) for row in rows]


LISTS: Mapping[str, Callable[[TenantStore], object]] = {
    "deployments": lambda store: store.deployments(),
    "executions": lambda store: store.executions(),
    "requests": lambda store: store.requests(),
    "paused": lambda store: store.paused_phases(),
    "batches": lambda store: [calls(store.batches()), calls(store.batches(only_open=True))],
    "runs": lambda store: [store.runs_of(a.LANE.phase).count, calls(store.runs_of(a.LANE.phase).last)],
    "pages": lambda store: store.listings.deployments(DeploymentQuery(limit=1, labels=(Label("k", ""),))),
    "latest": lambda store: store.listings.executions(ExecutionQuery(is_latest_first=True, limit=3)),
    "counts": lambda store: [
        store.listings.count(query) for query in (DeploymentQuery(), ExecutionQuery(workflow="heal"))
    ],
    "unsettled": lambda store: store.listings.unsettled(),
    "secrets": lambda store: store.secrets.all(),
    "switches": lambda store: store.hook_switches.all(),
    "schedules": lambda store: [(row.name, row.spec, row.is_enabled, row.tenant) for row in store.schedules.all()],
    "blueprints": lambda store: [store.stored_blueprints.all(), store.stored_blueprints.users_by_id()],
    "plans": lambda store: store.stored_plans.all(),
    "orders": lambda store: store.orders.count(),
    "documents": lambda store: store.stack_documents.all(SNAPSHOT),
    "packages": lambda store: [store.packages.all(), [*store.packages.kept()], store.has_packages],
    "labelled": lambda store: [
        row.name for row in store.deployments() if row.number in store.labels.having([Label("k", "")])
    ],
    "of each": lambda store: [
        [
            store.states(row.number),
            store.labels.of(row.number),
            store.packages.uses(row.number),
            store.stored_blueprints.of_deployment(row.number),
        ]
        for row in store.deployments()
    ],
    "of runs": lambda store: [
        [
            store.requests_of(row.number),
            [(each.name, store.entry_statuses(each.id).now) for each in store.graphs(row.number)],
        ]
        for row in store.executions()
    ],
}


def seen(store: TenantStore) -> dict[str, str]:
    """All that a tenant finds, with numbers in the order in which they were given.

    Other tenants take numbers, too, so those of a tenant have gaps.
    """
    return {name: renumbered(shown(read(store))) for name, read in LISTS.items()}


def renumbered(text: str) -> str:
    ranks: dict[tuple[str, str], int] = {}

    def rank(found: re.Match[str]) -> str:
        return f"{found[1]}{ranks.setdefault((found[1], found[2]), len(ranks))}"

    return re.sub(r"(\b(?:number|deployment|package|blueprint|execution|id)=(?:'[a-z]+-)?)(\d+)", rank, text)


Step = tuple[str, str, int]
Made = Callable[[], AbstractContextManager[Store]]
STEPS = st.lists(st.tuples(st.sampled_from(sorted(ACTIONS)), st.sampled_from(NAMES), st.integers(0, 5)), max_size=40)
TURNS = st.lists(st.booleans(), max_size=80)


@contextmanager
def memory() -> Iterator[Store]:
    yield MemoryStore(a.FakeClock())


@contextmanager
def sqlite() -> Iterator[Store]:
    with TemporaryDirectory() as folder, closing(SqliteStore.open(Path(folder) / "store.db", a.FakeClock())) as store:
        yield store


@contextmanager
def postgresql() -> Iterator[Store]:
    with closing(PostgresStore.open(new_schema(), a.FakeClock())) as store:
        yield store


def check(made: Made, steps: Sequence[Step], turns: Sequence[bool]) -> None:
    """Let two tenants take the steps, in turns, and one alone; compare what they were told and what they find."""
    with made() as whole:
        tenants = [Tenant(whole, name) for name in ("acme", "other")]
        done: list[list[str]] = [[], []]
        for is_second in [*turns, *(False for _ in steps), *(True for _ in steps)]:
            if len(done[is_second]) < len(steps):
                done[is_second].append(tenants[is_second].act(*steps[len(done[is_second])]))
        found = [(outcomes, seen(one.store)) for outcomes, one in zip(done, tenants, strict=True)]
        assert not list(whole.check())
    with made() as whole:
        alone = Tenant(whole, "acme")
        expected = [alone.act(*step) for step in steps], seen(alone.store)
    assert [tidied(one) for one in found] == [tidied(expected)] * 2


@pytest.mark.parametrize("made", [memory, sqlite])
@given(steps=STEPS, turns=TURNS)
def test_rf4_each_tenant_sees_what_it_would_see_alone(made: Made, steps: Sequence[Step], turns: Sequence[bool]) -> None:
    check(made, steps, turns)


@pytest.mark.parametrize("seed", range(3))
def test_rf4_so_does_each_tenant_of_a_database(seed: int) -> None:
    dice = Random(seed)
    steps = [(dice.choice(sorted(ACTIONS)), dice.choice(NAMES), dice.randrange(6)) for _ in range(150)]
    check(postgresql, steps, [dice.random() < 0.5 for _ in range(300)])


def tidied(found: tuple[list[str], dict[str, str]]) -> tuple[list[str], dict[str, str]]:
    """What was found, without the names of tenants."""
    return [text.replace("other", "acme") for text in found[0]], {
        name: text.replace("other", "acme") for name, text in found[1].items()
    }
