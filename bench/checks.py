"""Rows of day 2: what checks and heal cost."""

from __future__ import annotations

from bench import blueprints
from bench.figures import Spread
from bench.report import Row
from bench.small_work import on_a_store

MANY = 100_000
BULK = "bench.bench_native.bulk"


def rows(count: int) -> list[Row]:
    """Heal over 100,000 healthy instances with a bulk check, against one phase over them (issue 6)."""
    print("heal", flush=True)
    phases: list[float] = []
    heals: list[float] = []
    for _ in range(count):
        told = on_a_store("healing", blueprints.checked(MANY, BULK))
        phases += [float(value) for value in told["execute_operation"]]  # type: ignore[attr-defined]  # a list
        heals += [float(value) for value in told["heal"]]  # type: ignore[attr-defined]  # a list
    phase, heal = Spread(tuple(phases)), Spread(tuple(heals))
    times = heal.median / phase.median
    return [
        Row(f"one phase over {MANY:,}: execute_operation, bulk, SQLite, full sync", phase.text("s")),
        Row(
            f"heal over {MANY:,} healthy instances, bulk check, SQLite, full sync",
            f"{heal.text('s')}: {times:.2f} × one phase", "≤ 1.5 ×", times <= 1.5,
        ),
    ]  # fmt: skip
