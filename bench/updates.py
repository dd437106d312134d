"""Rows of day 2: what the plan of an update costs."""

from __future__ import annotations

from bench import blueprints
from bench.figures import Spread
from bench.report import Row
from bench.small_work import on_a_store

MANY = 10_000
BULK = "bench.bench_native.bulk"


def rows(count: int) -> list[Row]:
    """An update with one changed node in 10,000 templates (issue 6): with reading the new file, and what the plan adds to it."""
    print("update", flush=True)
    reads: list[float] = []
    plans: list[float] = []
    for _ in range(count):
        told = on_a_store("updating", blueprints.related(MANY, BULK))
        reads += [float(value) for value in told["read"]]  # type: ignore[attr-defined]  # a list
        plans += [float(value) for value in told["plan"]]  # type: ignore[attr-defined]  # a list
    read, plan = Spread(tuple(reads)), Spread(tuple(plans))
    more = plan.median - read.median
    return [
        Row(f"update, one changed node in {MANY:,} templates: read the new blueprint alone", read.text("s")),
        Row(f"update, one changed node in {MANY:,} templates: the plan, reading included", plan.text("s")),
        Row(
            f"update, one changed node in {MANY:,} templates: what planning takes besides reading",
            f"{more:.2f} s", "≤ 1 s", more <= 1.0,
        ),
    ]  # fmt: skip
