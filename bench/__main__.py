"""Measures everything and writes it down: ``python -m bench`` (about ten minutes on a slow machine), ``--quick`` for one run of each, ``--only`` for some parts."""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import (
    asking,
    blueprints,
    calls,
    checks,
    estate,
    expressions,
    floor,
    hooks,
    lifetime,
    lists,
    many_lanes,
    peer,
    postgres,
    reading,
    resources,
    resuming,
    retention,
    scales,
    small_work,
    stages,
    takeovers,
    updates,
)
from bench.figures import Runs, Spread, runs
from bench.report import Row, table, write

OPERATIONS = 9
BULK, CTX = "bench.bench_native.bulk", "bench.bench_ctx.with_ctx"
SMALL, LARGE, TEMPLATES = 3_000, 100_000, 10_000


def against_peer(count: int) -> list[Row]:
    """Flat, 3,000 instances: bulk and per-instance functions against cloudify-common in local mode."""
    print("the peer, and ours beside it", flush=True)
    parts = {storage: [peer.run(SMALL, storage) for _ in range(count)] for storage in ("memory", "files")}
    theirs = {storage: Spread(tuple(sum(lap.values()) for lap in laps)) for storage, laps in parts.items()}
    rows = [
        Row(f"cloudify-common 7.0.5 local, {storage}, {SMALL:,} × 9", spread.text("s") + rate(spread, SMALL))
        for storage, spread in theirs.items()
    ]
    for mapping, store, storage, least in (
        (BULK, "memory:", "memory", 100), (BULK, "store.db", "files", 200), (CTX, "memory:", "memory", 20),
    ):  # fmt: skip
        ours = runs(blueprints.scaled("flat", SMALL, mapping), store=store, count=count).spread("total")
        times = theirs[storage].median / ours.median
        form = "bulk functions" if mapping == BULK else "per-instance functions with ctx"
        kept = "in memory" if store == "memory:" else "SQLite, full sync"
        measured = f"{ours.text('s', 3)}{rate(ours, SMALL)}: {times:.0f} × the peer ({storage})"
        rows.append(Row(f"{form}, {kept}, {SMALL:,} × 9", measured, f"≥ {least} ×", times >= least))
    return rows


def rate(spread: Spread, count: int) -> str:
    """Operations a second, in brackets."""
    return f" = {count * OPERATIONS / spread.median:,.0f} operations/s"


def large(count: int) -> list[Row]:
    """100,000 instances: against the floor, by shape, growth, and memory."""
    print("100,000 instances", flush=True)
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        least = Spread(tuple(floor.narrow(Path(folder), LARGE) for _ in range(count)))
    rows = [Row(f"floor: narrow rows, {LARGE:,} × 9", least.text("s") + rate(least, LARGE))]
    measured: dict[str, Runs] = {}
    for shape in ("flat", "chain", "tier"):
        measured[shape] = runs(blueprints.scaled(shape, LARGE, BULK), store="store.db", count=count)
        total = measured[shape].spread("total")
        small = runs(blueprints.scaled(shape, LARGE // 100, BULK), store="store.db", count=count).spread("total")
        if shape == "flat":
            times = total.median / least.median
            what = f"{total.text('s')}{rate(total, LARGE)}: {times:.2f} × the floor"
            rows.append(Row(f"flat, {LARGE:,} × 9", what, "≤ 2 × the floor", times <= 2))
        else:
            times = total.median / measured["flat"].spread("total").median
            what = f"{total.text('s')}: {times:.2f} × flat"
            rows.append(Row(f"{shape}, {LARGE:,} × 9", what, "≤ 1.3 × flat", times <= 1.3))
        exponent = math.log(total.median / small.median) / math.log(100)
        what = f"{exponent:.2f} ({small.median:.3f} s at {LARGE // 100:,})"
        rows.append(Row(f"growth of {shape}, {LARGE // 100:,} → {LARGE:,}", what, "exponent ≤ 1.05", exponent <= 1.05))
        memory = Spread(tuple(value / LARGE for value in measured[shape].spread("bytes").values))
        what = memory.text("bytes an instance", 0)
        rows.append(Row(f"peak memory above the empty process, {shape}", what, "≤ 1,024", memory.median <= 1024))
    return rows


def many_templates(count: int) -> list[Row]:
    """10,000 templates with mappings of their own through the whole command."""
    print("10,000 templates", flush=True)
    text = blueprints.templates(TEMPLATES, BULK)
    reading_alone = reading.measured(text, "yaml", count)
    ours = runs(text, store="store.db", count=count)
    before = ours.spread("until_first_call")
    engine = Spread(tuple(
        TEMPLATES * OPERATIONS / (float(str(one["total"])) - float(str(one["until_first_call"])))
        for one in ours.results
    ))  # fmt: skip
    times = before.median / reading_alone.median
    return [
        Row(f"CSafeLoader alone, fresh process, no cycle collector: {TEMPLATES:,} templates, {len(text) / 1e6:.1f} MB", reading_alone.text("s")),
        Row(
            "reading, validating, planning, storing them, until the first call",
            f"{before.text('s')}: {times:.2f} × the loader", "≤ 2 ×", times <= 2,
        ),
        Row("their operations in the engine", engine.text("operations/s", 0), "≥ 40,000", engine.median >= 40_000),
    ]  # fmt: skip


PARTS: dict[str, Callable[[int], list[Row]]] = {
    "large": large,
    "postgres": postgres.rows,
    "resuming": resuming.rows,
    "templates": many_templates,
    "reading": reading.rows,
    "small": small_work.rows,
    "calls": calls.rows,
    "lanes": many_lanes.rows,
    "lists": lists.rows,
    "takeovers": takeovers.rows,
    "lifetime": lifetime.rows,
    "retention": retention.rows,
    "asking": asking.rows,
    "checks": checks.rows,
    "estate": estate.rows,
    "updates": updates.rows,
    "hooks": hooks.rows,
    "stages": stages.rows,
    "scales": scales.rows,
    "resources": resources.rows,
    "expressions": expressions.rows,
    "peer": against_peer,
}
"""{name: what measures its rows}, in the order of the table."""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run of each; nothing is written")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=[], help="these parts; the other rows stay as they were"
    )
    given = parser.parse_args()
    count = 1 if given.quick else 3
    rows = [row for name, part in PARTS.items() if name in (given.only or PARTS) for row in part(count)]
    if given.quick:
        print(table(rows))
    else:
        print(write(rows, given.only))


main()
