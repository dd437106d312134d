"""Owners killed or stopped at random moments on one database: another engine takes over, nothing is called twice (HA2–HA5).

``make ha`` does this 1,000 and 500 times, with pauses of 20 s; its variables KILLS, PAUSES and PAUSE_S set other numbers.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.ha.pairs import Pair
from tests.ha.server import server

KILLS = int(os.environ.get("HA_KILLS", "1000"))
PAUSES = int(os.environ.get("HA_PAUSES", "500"))
PAUSE_S = float(os.environ.get("HA_PAUSE_S", "20"))
"""Length of a pause in seconds. It must be longer than a lease, which is 4 s."""
AT_ONCE = int(os.environ.get("HA_AT_ONCE", "25"))
"""Number of stores whose owners are stopped at the same time, each with three engines."""
KILLED_AT_ONCE = int(os.environ.get("HA_AT_ONCE", str(3 * (os.cpu_count() or 1) // 2)))
"""Number of stores whose owners are killed at the same time: few, because with more the machine's speed is measured."""
CUTS = 10
"""Number of times that all connections of an owner are cut; the tests of the store cut them at each statement."""
LIMIT_S = float(os.environ.get("HA_LIMIT_S", "6"))
"""A takeover must take less than this, in seconds (BG13); a machine that is too slow for its engines needs more."""


def live(folder: Path, seed: int, count: int, takeover: Callable[[Pair], None], done: Callable[[Pair], int]) -> Pair:
    """One store and its engines, until there were so many takeovers, or what ``done`` counts."""
    pair = Pair(folder, random.Random(seed))
    try:
        while done(pair) < count:
            takeover(pair)
        pair.finish()
    except (AssertionError, OSError) as error:
        told = "\n".join([*pair.story, *(f"{path.name}: {path.read_text()}" for path in folder.glob("output-*"))])
        raise AssertionError(f"seed {seed} in {folder}: {error}\n{told}") from error
    finally:
        pair.close()
    return pair


def lives(
    folder: Path,
    count: int,
    takeover: Callable[[Pair], None],
    *,
    at_once: int = AT_ONCE,
    done: Callable[[Pair], int] = lambda pair: len(pair.takeovers_s),
) -> list[Pair]:
    """Takeovers on several stores at once, ``count`` in all."""
    server()  # before there are threads, which would each start one
    at_once = min(at_once, count)
    counts = [count // at_once + (number < count % at_once) for number in range(at_once)]
    with ThreadPoolExecutor(at_once) as pool:
        made = pool.map(lambda seed: live(folder / str(seed), seed, counts[seed], takeover, done), range(at_once))
        return list(made)


def summary(what: str, pairs: list[Pair]) -> str:
    """The figures of all takeovers as a line."""
    times = sorted(seconds for pair in pairs for seconds in pair.takeovers_s)

    def share(of: float) -> float:
        return times[min(len(times) - 1, int(of * len(times)))]

    spread = f"min {times[0]:.2f}, p50 {share(0.5):.2f}, p99 {share(0.99):.2f}, max {times[-1]:.2f} s"
    late, more = sum(pair.late_calls for pair in pairs), sum(pair.unplanned for pair in pairs)
    blind = sum(pair.late_looks for pair in pairs)
    return (
        f"{len(times)} owners {what}: {spread}; {late} calls begun just before the pause; {more} owners lost otherwise; "
        f"{blind} takeovers came before the test had read what was completed"
    )


def report(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        print(f"\n{line}", flush=True)


@pytest.mark.ha
def test_ha2_killed_owners_are_replaced_and_nothing_completed_is_called_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = lives(tmp_path, KILLS, Pair.kill, at_once=KILLED_AT_ONCE)
    report(capsys, summary("killed", pairs))
    slowest = max(seconds for pair in pairs for seconds in pair.takeovers_s)
    assert sum(len(pair.takeovers_s) for pair in pairs) == KILLS
    assert slowest < LIMIT_S


@pytest.mark.ha
def test_ha3_owners_that_were_stopped_write_nothing_and_end_when_they_continue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = lives(tmp_path, PAUSES, lambda pair: pair.pause(PAUSE_S))
    report(capsys, summary(f"stopped for {PAUSE_S:g} s", pairs))
    assert sum(len(pair.takeovers_s) for pair in pairs) == PAUSES


@pytest.mark.ha
def test_ha2_an_owner_whose_connections_are_cut_goes_on_as_the_owner(tmp_path: Path) -> None:
    (pair,) = lives(tmp_path, CUTS, Pair.cut, at_once=1, done=lambda pair: pair.cuts)
    assert not pair.takeovers_s
    begun = [line.key for line in pair.journal.read()[pair.first :] if line.what == "begin"]
    assert len(begun) == len(set(begun)), "a call was made twice"
