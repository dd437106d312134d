"""``python -m phaseline.testing.simulation``: simulate many seeds in parallel, or print the events of one."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from functools import partial
from multiprocessing import Pool
from typing import TYPE_CHECKING

from phaseline.testing.simulation.compositions import simulate_composition
from phaseline.testing.simulation.firings import simulate_schedules
from phaseline.testing.simulation.world import Broken, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.testing.simulation.world import Story

CHUNK = 25
COUNTED = ("turns", "calls", "crashes", "evictions", "waits", "refused circles", "firings", "missed times")
COLLECTED_EVERY = 50
"""Number of seeds between two garbage collections; leaving collection on would cost a fifth of the time."""


def say(*lines: str) -> None:
    """Print lines without buffering, because the rest of the run may take long."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def attempt(seed: int, live: Callable[[int], Story] = simulate) -> tuple[int, str, list[int]]:
    """Return (seed, broken promise or empty text, how often each of ``COUNTED`` has happened)."""
    if not seed % COLLECTED_EVERY:
        gc.collect()
    try:
        story = live(seed)
    except Broken as broken:
        return seed, str(broken), [0] * len(COUNTED)
    happened = [story.turns, story.calls, story.crashes, story.evictions, story.waits, story.circles]
    return seed, "", [*happened, story.firings, story.missed]


def tell_one(seed: int, live: Callable[[int], Story]) -> int:
    """Print the events of one seed; return 1 if it breaks a promise, otherwise 0."""
    try:
        story = live(seed)
    except Broken as broken:
        say(*broken.lines, str(broken))
        return 1
    say(*story.lines)
    say(f"seed {seed}: {story.turns} turns, {story.calls} calls, {story.crashes} crashes")
    return 0


def try_many(first: int, count: int, processes: int, live: Callable[[int], Story]) -> int:
    """Simulate ``count`` seeds, and print those that break a promise, and a summary; return 1 if there are any, otherwise 0."""
    began = time.monotonic()
    totals, broken = [0] * len(COUNTED), 0
    gc.freeze()
    with Pool(processes, initializer=gc.disable) as pool:
        for _, reason, numbers in pool.imap_unordered(partial(attempt, live=live), range(first, first + count), CHUNK):
            totals = [total + number for total, number in zip(totals, numbers, strict=True)]
            if reason:
                broken += 1
                say(reason)
    took = time.monotonic() - began
    happened = ", ".join(f"{total} {what}" for total, what in zip(totals, COUNTED, strict=True) if total)
    say(f"{count} seeds, {happened} in {took:.0f} s: {broken} broken")
    return 1 if broken else 0


def main() -> int:
    """Run the simulation and return the exit code, which is 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m phaseline.testing.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="print the story of this seed")
    parser.add_argument("--seeds", type=int, default=1_000, help="how many seeds to try")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--compositions", action="store_true", help="let calls make executions and wait for them")
    parser.add_argument("--schedules", action="store_true", help="let schedules start what runs")
    wanted = parser.parse_args()
    live = simulate_composition if wanted.compositions else simulate_schedules if wanted.schedules else simulate
    if wanted.seed is not None:
        return tell_one(wanted.seed, live)
    return try_many(wanted.first, wanted.seeds, wanted.processes, live)


if __name__ == "__main__":
    sys.exit(main())
