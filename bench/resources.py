"""Rows of resources that phases move: calls, the floor, arrivals, phases that nobody is in, and records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import floor
from bench.figures import ROOT, Runs, Spread
from bench.report import Row

RESOURCES, PHASES, CAP = 100_000, 5, 1_000
WAVES, WAVE = 100, 1_000
DEFINED, ACTIVE = 1_000, 100
DEARER = 1.1
"""So much dearer a call may be beside phases that nobody is in, by the median of pairs: what two runs of the same differ by."""
MOST_OF_JSON = 2
"""Times as much CPU as JSON that formal text may take to be applied."""
MOST_US_A_ROW = 20
"""Microseconds of CPU that a row of a list may take after the first."""
PAIRS = 5
"""Times that both are measured beside one another, at least."""


def _script(name: str, folder: str, *numbers: int) -> dict[str, object]:
    """The line of JSON that a script of the bench prints."""
    command = [sys.executable, "-m", f"bench.{name}", folder, *map(str, numbers)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return told


def _in_a_folder(name: str, *numbers: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        return _script(name, folder, *numbers)


def _reached(cap: int) -> dict[str, object]:
    """What the engine says of ``RESOURCES``; ``applied``: seconds until they were in the store."""
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        applied = _script("reach", folder, RESOURCES, cap)["took"]
        return _script("reach", folder, RESOURCES, cap) | {"applied": applied}


def reaching(count: int) -> list[Row]:
    """A hundred thousand resources through five phases, as one call each and a thousand a call."""
    print(f"{RESOURCES:,} resources", flush=True)
    name = f"{RESOURCES:,} resources × {PHASES} phases"
    rows = []
    for cap, word in ((0, "uncapped"), (CAP, f"at most {CAP:,} a call")):
        with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
            least = Spread(tuple(floor.phases(Path(folder), RESOURCES, cap or RESOURCES) for _ in range(count)))
        told = Runs(tuple(_reached(cap) for _ in range(count)))
        wanted = PHASES * -(-RESOURCES // cap) if cap else PHASES
        calls = {int(call) for call in told.spread("calls").values}
        shown = " or ".join(f"{call:,}" for call in sorted(calls))
        took = told.spread("took")
        times = took.median / least.median
        rows += [
            Row(f"{name}, {word}: handler calls", shown, f"{wanted:,}", calls == {wanted}),
            Row(f"floor: {RESOURCES:,} × {PHASES} marks and rows, {word}", least.text("s")),
            Row(
                f"{name}, {word}, from the start of the engine",
                f"{took.text('s')}: {times:.2f} × the floor",
                *(("≤ 2 × the floor", times <= 2) if cap else ()),
            ),
        ]
    return [*rows, Row(f"putting {RESOURCES:,} resources into the store", told.spread("applied").text("s"))]


def arriving() -> list[Row]:
    """A hundred waves of arrivals while the engine works."""
    print("arrivals", flush=True)
    told = {name: int(str(value)) for name, value in _in_a_folder("arrivals", WAVES, WAVE).items()}
    name = f"{WAVES} waves of {WAVE:,} resources, {told['calls']:,} calls"
    at_once = max(told["running"], 1 + told["overlaps"])
    return [
        Row(f"{name}: most calls of a phase at once", f"{at_once}", "1", at_once == 1),
        Row(f"{name}: left waiting beside a call that began", f"{told['left']:,}", "0", told["left"] == 0),
    ]


def _numbers(told: object) -> dict[str, float]:
    """What a script has told of one of two."""
    assert isinstance(told, dict)
    return {str(name): float(value) for name, value in told.items()}


def defining(count: int) -> list[Row]:
    """A turn of a hundred phases, alone and beside nine hundred that nobody is in: both in one process, turn about."""
    print("many phases", flush=True)
    told = [_in_a_folder("turns", DEFINED, ACTIVE) for _ in range(max(PAIRS, count))]
    alone, beside = ([_numbers(one[side]) for one in told] for side in ("alone", "beside"))
    times = Spread(tuple(much["call"] / little["call"] for much, little in zip(beside, alone, strict=True)))
    in_ms = [Spread(tuple(one["turn"] for one in side)).text("ms", 1) for side in (alone, beside)]
    return [
        Row(f"a turn of {ACTIVE} phases that are called", in_ms[0]),
        Row(
            f"the same with {DEFINED:,} phases defined",
            f"{in_ms[1]}: a call {times.text('×')} as much",
            f"≤ {DEARER} ×",
            times.median <= DEARER,
        ),
    ]


def recorded(count: int) -> list[Row]:
    """A hundred thousand records applied in both forms, and listed."""
    print("records", flush=True)
    told = [_in_a_folder("records", RESOURCES) for _ in range(count)]
    seconds = {form: Spread(tuple(float(str(one[form])) for one in told)) for form in ("rec", "json")}
    times = Spread(tuple(float(str(one["rec"])) / float(str(one["json"])) for one in told))
    each = Spread(tuple(float(str(one["row_us"])) for one in told))
    return [
        Row(f"resources apply of {RESOURCES:,} records in JSON, CPU", seconds["json"].text("s")),
        Row(
            "the same as formal text (.rec), CPU",
            f"{seconds['rec'].text('s')}: {times.median:.2f} × JSON",
            f"≤ {MOST_OF_JSON} × JSON",
            times.median <= MOST_OF_JSON,
        ),
        Row(
            f"resources list of {RESOURCES:,} that failed: a row after the first, CPU",
            each.text("µs", 0),
            f"≤ {MOST_US_A_ROW} µs",
            each.median <= MOST_US_A_ROW,
        ),
    ]


def rows(count: int) -> list[Row]:
    """All of them."""
    return [*reaching(count), *arriving(), *defining(count), *recorded(count)]
