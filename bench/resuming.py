"""Rows of an install that is killed half-way and resumed, against runs that nothing disturbs."""

from __future__ import annotations

from bench import blueprints
from bench.figures import Spread, killed_and_resumed, runs
from bench.report import Row

LARGE = 100_000
BULK = "bench.bench_native.bulk"
PAIRS = 4
"""Pairs for each run of another figure: one of them says little on a machine that others use."""
MOST = 1.1
"""By how much a crash may raise the processor time of the whole."""


def rows(count: int) -> list[Row]:
    """Killed in its 25th of 90 calls over 100,000 instances, resumed, uninstalled; each time a whole run goes before it."""
    print("killed and resumed", flush=True)
    text = blueprints.scaled("flat", LARGE, BULK)
    wholes: list[dict[str, float]] = []
    both: list[dict[str, float]] = []
    for _ in range(1 if count == 1 else PAIRS * count):
        (whole,) = runs(text, store="store.db", count=1).results
        wholes.append(_figures(whole, "total"))
        resumed = killed_and_resumed(text, die_at=25)
        both.append(_figures(resumed, "both") | {"first": float(str(resumed["until_first_call"]))})
    first = _spread(both, "first")
    processor, clock = _times(both, wholes, "processor"), _times(both, wholes, "clock")
    return [
        Row("killed at call 25 of 90, resumed: until the first call", first.text("s"), "≤ 0.3 s", first.median <= 0.3),
        Row(
            "killed at call 25 of 90, resumed: processor time of both processes, their imports outside",
            _against(both, wholes, "processor", processor), f"≤ {MOST} × a whole run", processor.median <= MOST,
        ),
        Row("killed at call 25 of 90, resumed: the same by the clock", _against(both, wholes, "clock", clock)),
    ]  # fmt: skip


def _figures(result: object, clock: str) -> dict[str, float]:
    """Processor time (user and system, with what was started) and time by the clock, in seconds."""
    assert isinstance(result, dict)
    return {"processor": float(str(result["processor"])), "clock": float(str(result[clock]))}


def _spread(results: list[dict[str, float]], key: str) -> Spread:
    return Spread(tuple(result[key] for result in results))


def _times(both: list[dict[str, float]], wholes: list[dict[str, float]], key: str) -> Spread:
    """How many times the whole run of its pair each took."""
    return Spread(tuple(one[key] / whole[key] for one, whole in zip(both, wholes, strict=True)))


def _against(both: list[dict[str, float]], wholes: list[dict[str, float]], key: str, times: Spread) -> str:
    seconds = f"{_spread(both, key).text('s', 3)} against {_spread(wholes, key).text('s', 3)}"
    return f"{seconds}: {times.text('×')}, the median of {len(both)} pairs"
