"""Conditions over 100,000 records, read once and asked of all of them, in one process on one core."""

from __future__ import annotations

import time

from bench.figures import Spread
from bench.report import Row

RECORDS = 100_000
CONSTRAINT = "FixedPublicIp isnt undefined"
FILTER = 'FixedPublicIp isnt undefined && Cores >= 4 && Provider == "acme" && regexp("^n[0-9]+$", Name)'


def rows(count: int) -> list[Row]:
    """The source document's constraint, and one with a pattern; reading the text and making the records not counted."""
    from phaseline.records.expression import Expression
    from phaseline.records.record import Record

    print("conditions over 100,000 records", flush=True)
    nodes = [
        Record({"Name": f"n{number}", "Cores": number % 64, "Provider": "acme"} | _address(number))
        for number in range(RECORDS)
    ]
    measured: dict[str, Spread] = {}
    for text in (CONSTRAINT, FILTER):
        condition = Expression(text)
        laps = []
        for _ in range(count):
            began = time.perf_counter()
            condition.judge_all(nodes)
            laps.append(RECORDS / (time.perf_counter() - began))
        measured[text] = Spread(tuple(laps))
    least = measured[CONSTRAINT]
    return [
        Row(f"`{CONSTRAINT}`", least.text("evaluations/s", 0), "≥ 500,000", least.median >= 500_000),
        Row("the same, two comparisons and a pattern", measured[FILTER].text("evaluations/s", 0)),
    ]


def _address(number: int) -> dict[str, str]:
    """Every second node has an address."""
    return {"FixedPublicIp": "10.0.0.1"} if number % 2 else {}
