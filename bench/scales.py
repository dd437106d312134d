"""Rows of day 2: what the plan of a scale out costs."""

from __future__ import annotations

from bench import blueprints
from bench.figures import Spread
from bench.report import Row
from bench.small_work import on_a_store

MORE = 10_000
BULK = "bench.bench_native.bulk"


def rows(count: int) -> list[Row]:
    """Scale out of a tier by 10,000 instances that depend on others (issue 6): the whole plan, as a user is shown it."""
    print("scale", flush=True)
    plans: list[float] = []
    for _ in range(count):
        told = on_a_store("scaling", blueprints.scaled("tier", 9, BULK), str(MORE))
        plans += [float(value) for value in told["plan"]]  # type: ignore[attr-defined]  # a list
    plan = Spread(tuple(plans))
    return [
        Row(f"scale out by {MORE:,}, 9 operations each: the plan", plan.text("s", 3), "≤ 0.3 s", plan.median <= 0.3)
    ]
