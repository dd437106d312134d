"""A store in PostgreSQL: the same work as ``large``, beside the floor, one turn, and DBOS, all on one server.

The server is that of the tests (``tests/store/postgres_server.py``), with its settings as they come: full sync. The floor
is that of ``bench.floor`` with the driver that we use: a row of each instance rewritten at each transition, with one
statement and one transaction for each 10,000.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import psycopg
from tests.store import builders as a
from tests.store.postgres_server import new_schema, server

from bench import blueprints
from bench.figures import ROOT, Runs, Spread, run_one
from bench.floor import OPERATIONS, PER_TRANSACTION, Subject, no_operation
from bench.report import Row
from phaseline.model.graph.status import ExecutionStatus
from phaseline.store.postgres.store import PostgresStore

LARGE, PEER = 100_000, 300
BULK = "bench.bench_native.bulk"
TURNS, LARGE_TURNS = 400, 20
ENVIRONMENT = ROOT / ".venv-dbos"
REQUIREMENTS = ("dbos==3.4.0", "psycopg[binary]")


def rows(count: int) -> list[Row]:
    """The rows of the part ``postgres``."""
    print("PostgreSQL", flush=True)
    least = Spread(tuple(_floor() for _ in range(count)))
    ours = _ours(LARGE, count).spread("total")
    times = ours.median / least.median
    speed = LARGE * OPERATIONS / ours.median
    found = [
        Row(f"PostgreSQL, floor: narrow rows, {LARGE:,} × 9", least.text("s")),
        Row(
            f"PostgreSQL, flat, {LARGE:,} × 9 (BG1)",
            f"{ours.text('s')} = {speed:,.0f} operations/s: {times:.2f} × the floor",
            "≤ 2.5 × the floor",
            times <= 2.5,
        ),
    ]
    theirs = Spread(tuple(PEER * OPERATIONS / _peer() for _ in range(count)))
    same = Spread(tuple(PEER * OPERATIONS / value for value in _ours(PEER, count).spread("total").values))
    faster = speed / theirs.median
    found.append(
        Row(
            f"DBOS on the same server, a step for each operation, {PEER:,} × 9 (BG1)",
            f"{theirs.text('operations/s', 0)}; ours {faster:,.0f} × at {LARGE:,}, {same.median / theirs.median:,.0f} × at {PEER:,}",
            "≥ 200 ×",
            faster >= 200,
        )
    )
    return found + _turns(count)


def _ours(size: int, count: int) -> Runs:
    import tempfile
    from pathlib import Path

    results = []
    for _ in range(count):
        with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
            text = blueprints.scaled("flat", size, BULK)
            results.append(run_one(text, store=new_schema(), folder=Path(folder)))
    return Runs(tuple(results))


def _floor() -> float:
    with psycopg.connect(new_schema(), autocommit=True) as db:
        db.execute("create table instance (number bigint primary key, state integer, version integer)")
        db.execute("insert into instance select number, 0, 0 from generate_series(0, %s) as number", (LARGE - 1,))
        change = "update instance set state = %s, version = %s from unnest(%s) as done where number = done"
        properties: dict[str, object] = {}
        began = time.perf_counter()
        for operation in range(1, OPERATIONS + 1):
            for low in range(0, LARGE, PER_TRANSACTION):
                done = []
                for number in range(low, low + PER_TRANSACTION):
                    no_operation(Subject(number, "operation", properties))
                    done.append(number)
                with db.transaction():
                    db.execute(change, (operation, operation, done))
        return time.perf_counter() - began


def _peer() -> float:
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        (ENVIRONMENT / ".ready").touch()
    name = f"dbos_{os.urandom(4).hex()}"
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f"create database {name}")
    url = server().replace("/postgres?", f"/{name}?")
    script = str(ROOT / "bench" / "peers" / "dbos_steps.py")
    done = subprocess.run([str(python), script, str(PEER), url], check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1])["total"])


def _turns(count: int) -> list[Row]:
    """BG2: a turn of one entry beside a transaction without a fence. BG3: a turn of 10,000 entries."""
    laps = [_laps() for _ in range(count)]
    one, ten, none = (Spread(values) for values in zip(*laps, strict=True))
    times = one.median / none.median
    return [
        Row("PostgreSQL, a transaction of one row without a fence", none.text("ms")),
        Row(
            "PostgreSQL, a turn of one entry, fenced (BG2)",
            f"{one.text('ms')}: {times:.2f} ×",
            "≤ 1.5 × a transaction without a fence",
            times <= 1.5,
        ),
        Row("PostgreSQL, a turn of 10,000 entries (BG3)", ten.text("ms"), "≤ 10 ms", ten.median <= 10),
    ]


def _laps() -> tuple[float, float, float]:
    """Milliseconds of (a turn of one entry, a turn of 10,000 entries, a transaction of one row without a fence)."""
    store = PostgresStore.open(new_schema(), a.FakeClock())
    _, run = a.installed(store, hosts=10_000, apps=0)
    pages = tuple(a.page(1, number, 2) for number in range(30))
    with store.own("bench"):
        graphs = (a.added(1, run, a.graph(10_000)),)
        store.commit(a.turn(executions=(a.status(run, ExecutionStatus.RUNNING),), graphs=graphs))
        with psycopg.connect(new_schema(), autocommit=True) as db:
            db.execute("create table one (number bigint, body text)")
            db.execute("insert into one values (0, '')")
            # one after the other, so that a disk that is slow for a moment is slow for both
            small, bare = _each(
                TURNS,
                lambda number: store.commit(a.turn(at=number, pages=(a.page(1, 0, number % 5),))),
                lambda number: _bare(db, number),
            )
        (large,) = _each(LARGE_TURNS, lambda number: store.commit(a.turn(at=number, pages=pages)))
    store.close()
    return small, large, bare


def _bare(db: psycopg.Connection[tuple[object, ...]], number: int) -> None:
    db.execute("begin")
    db.execute("select body from one where number = 0").fetchone()
    db.execute("update one set body = %s where number = 0", (str(number),))
    db.execute("commit")


def _each(count: int, *works: Callable[[int], None]) -> tuple[float, ...]:
    """Milliseconds of one of ``count`` calls of each work, the medians; the works take turns."""
    taken: list[list[float]] = [[] for _ in works]
    for number in range(count):
        for work, times in zip(works, taken, strict=True):
            began = time.perf_counter()
            work(number)
            times.append((time.perf_counter() - began) * 1000)
    return tuple(sorted(times)[count // 2] for times in taken)
