"""Stores with everything that a purge has to remove, and purges in slices of any size."""

from dataclasses import replace

from tests.store import builders as a

from phaseline.model.rows.maintenance import PurgeRules
from phaseline.model.rows.rows import Actor, DocumentChange, EntryRemark, EventRow, LogLine, RequestAnswer, TurnPayload
from phaseline.ports.store import Store
from phaseline.store.relational.whole_store import SqlStore
from phaseline.store.sql.purging.rounds import SqlPurge

OLD = PurgeRules(executions_before=10**9)
LINES = 5


def purging(store: SqlStore, rules: PurgeRules = OLD, slice_bytes: int = 1) -> SqlPurge:
    """A purge whose slices do the least that a slice can do."""
    return SqlPurge(store._writing, rules, slice_bytes=slice_bytes)


def answer(store: Store) -> None:
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(answers=[RequestAnswer(row.number) for row in store.requests()])))


def filled(store: Store, name: str = "shop", executions: int = 2) -> int:
    """A deleted deployment whose executions have everything that an execution can have, and share their batches."""
    number, run = a.installed(store, name)
    runs = [run]
    runs += [store.create_execution(a.execution(number), beside=lambda _: True).number for _ in range(executions - 1)]
    answer(store)
    with store.own("test"):
        graph, batch = store.counters()
        graphs = range(graph, graph + executions)
        members = [a.batch(batch, run, a.numbers(0, 1), at, number) for run, at in zip(runs, graphs, strict=True)]
        payload = TurnPayload(
            documents=[DocumentChange(number, 1, {("x",): "y"})],
            remarks=[EntryRemark(at, place, "slow") for at in graphs for place in range(3)],
            logs=[LogLine(run, 1, "info", "x") for run in runs] * LINES,
            events=[EventRow(run, 1, "told", "y") for run in runs] * LINES,
        )
        added = tuple(a.added(at, run, a.graph()) for run, at in zip(runs, graphs, strict=True))
        pages = tuple(a.page(at, 0, 6, 24) for at in graphs)
        states = (a.entered(number, (3,), 1),)
        opened = (a.joined(batch, *members), *(replace(one, id=batch + 1 + at) for at, one in enumerate(members)))
        store.commit(a.turn(graphs=added, pages=pages, opened=opened, states=states, payload=payload))
        kinds = [1] * (2 * executions)
        closed = (a.closed(batch, *kinds), *(a.closed(batch + 1 + at, 1, 1) for at in range(executions)))
        store.commit(a.turn(closed=closed))
    for each in runs:
        a.end(store, each)
    store.delete_deployment(number, Actor("bob"))
    return number


def is_empty(store: SqlStore) -> bool:
    tables = (
        "execution", "graph", "page", "note", "batch", "log", "event", "request", "remains", "deployment", "blueprint",
        "topology", "state_page", "document", "around", "plan", "label",
    )  # fmt: skip
    with store._reading() as db:
        return not any(db.execute(f"select count(*) from {table}").fetchone()[0] for table in tables)
