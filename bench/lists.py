"""Pages of lists of a store with 10,000 deployments and 1,000,000 executions (BG6), in SQLite and in PostgreSQL."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
from tests.store.builders import FakeClock, installed
from tests.store.postgres_server import new_schema
from tests.use_cases.many_deployments import fill

import phaseline
from bench.figures import Spread
from bench.report import Row
from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.store import open_store

DEPLOYMENTS, EXECUTIONS, PAGE = 10_000, 1_000_000, 50
LAPS = 100
MOST_MS = 10
MORE = f"""with recursive more(place) as (select 1 union all select place + 1 from more where place < {EXECUTIONS})
    insert into execution (id, tenant, deployment, request, status, reason, attempt, created_at, started_at, ended_at, created_by)
    select 'heal-' || (100000 + place), tenant, 1 + place % {DEPLOYMENTS}, request, 'completed', '', 0, 7, 8, 9, created_by
    from more join execution on number = (select min(number) from execution where status = 'completed')"""
"""Statement that adds ended executions to the deployments in turn."""
COUNTED = """update tenant set execution_count =
    (select count(*) from execution where execution.tenant = tenant.name)"""
OTHER = "acme"
"""Tenant that has few executions in a store where another one has very many."""
FEW = PAGE + 10


def rows(count: int) -> list[Row]:
    """The rows of the part ``lists``; each figure is the median of a hundred pages, read by one client."""
    print("lists", flush=True)
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        file = Path(folder) / "store.db"
        for name, url in (("SQLite", f"sqlite:///{file}"), ("PostgreSQL", new_schema())):
            store = open_store(url, FakeClock())
            fill(store, DEPLOYMENTS)
            store.close()
            if name == "SQLite":
                with closing(sqlite3.connect(file)) as db, db:
                    db.execute(MORE)
                    db.execute(COUNTED)
            else:
                with psycopg.connect(url, autocommit=True) as server:
                    server.execute(MORE)
                    server.execute(COUNTED)
                    server.execute("analyze")
            found += _pages(name, url, count)
            alone = f"sqlite:///{folder}/alone.db" if name == "SQLite" else new_schema()
            found.append(_of_another_tenant(name, url, alone, count))
    return found


def _of_another_tenant(name: str, crowded: str, alone: str, count: int) -> Row:
    """RF4: what a tenant's list costs in a store where others have a million rows, beside a store of its own."""
    laps: dict[str, list[float]] = {}
    for url in (crowded, alone):
        with closing(open_store(url, FakeClock())) as store:
            for number in range(FEW):
                installed(store.of(OTHER), f"few-{number}")
    for _ in range(count):
        for url in (crowded, alone):
            with closing(open_store(url, FakeClock())) as store:
                ask = partial(store.of(OTHER).listings.page, ExecutionQuery(is_latest_first=True, limit=PAGE))
                laps.setdefault(url, []).append(_median_ms(ask))
    beside, by_itself = (Spread(tuple(laps[url])) for url in (crowded, alone))
    times = beside.median / by_itself.median
    what = f"{beside.text('ms', 2)}: {times:.2f} × that of a store of its own"
    return Row(
        f"{name}, page of {PAGE} executions of a tenant beside {EXECUTIONS:,} of another (RF4)",
        what,
        "≤ 1.1 ×",
        times <= 1.1,
    )


def _pages(name: str, url: str, count: int) -> list[Row]:
    with phaseline.open(url) as opened:
        asked: dict[str, Callable[[], object]] = {
            f"deployments of {DEPLOYMENTS:,}": lambda: opened.deployments.list(limit=PAGE),
            f"executions of {EXECUTIONS:,}": lambda: opened.executions.list(limit=PAGE),
        }
        found = []
        for what, ask in asked.items():
            ask()  # imports are not measured
            ms = Spread(tuple(_median_ms(ask) for _ in range(count)))
            goal = f"≤ {MOST_MS} ms"
            found.append(Row(f"{name}, page of {PAGE} {what} (BG6)", ms.text("ms", 1), goal, ms.median <= MOST_MS))
    return found


def _median_ms(ask: Callable[[], object]) -> float:
    laps = []
    for _ in range(LAPS):
        began = time.perf_counter()
        ask()
        laps.append((time.perf_counter() - began) * 1_000)
    return Spread(tuple(laps)).median
