"""``python -m phaseline.testing.simulation``: simulate many seeds in parallel, or print the events of one."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from multiprocessing import Pool

from phaseline.testing.simulation.world import Broken, simulate

CHUNK = 25
COLLECTED_EVERY = 50
"""Number of seeds between two garbage collections; leaving collection on would cost a fifth of the time."""


def say(*lines: str) -> None:
    """Print lines without buffering, because the rest of the run may take long."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def attempt(seed: int) -> tuple[int, str, int, int, int, int]:
    """Return (seed, broken promise or empty text, turns, calls, crashes, evictions)."""
    if not seed % COLLECTED_EVERY:
        gc.collect()
    try:
        story = simulate(seed)
    except Broken as broken:
        return seed, str(broken), 0, 0, 0, 0
    return seed, "", story.turns, story.calls, story.crashes, story.evictions


def tell_one(seed: int) -> int:
    """Print the events of one seed; return 1 if it breaks a promise, otherwise 0."""
    try:
        story = simulate(seed)
    except Broken as broken:
        say(*broken.lines, str(broken))
        return 1
    say(*story.lines)
    say(f"seed {seed}: {story.turns} turns, {story.calls} calls, {story.crashes} crashes")
    return 0


def try_many(first: int, count: int, processes: int) -> int:
    """Simulate ``count`` seeds, and print those that break a promise, and a summary; return 1 if there are any, otherwise 0."""
    began = time.monotonic()
    turns = calls = crashes = evictions = broken = 0
    gc.freeze()
    with Pool(processes, initializer=gc.disable) as pool:
        for _, reason, *numbers in pool.imap_unordered(attempt, range(first, first + count), CHUNK):
            turns, calls, crashes = turns + numbers[0], calls + numbers[1], crashes + numbers[2]
            evictions += numbers[3]
            if reason:
                broken += 1
                say(reason)
    took = time.monotonic() - began
    happened = f"{turns} turns, {calls} calls, {crashes} crashes, {evictions} evictions"
    say(f"{count} seeds, {happened} in {took:.0f} s: {broken} broken")
    return 1 if broken else 0


def main() -> int:
    """Run the simulation and return the exit code, which is 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m phaseline.testing.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="print the story of this seed")
    parser.add_argument("--seeds", type=int, default=1_000, help="how many seeds to try")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    wanted = parser.parse_args()
    if wanted.seed is not None:
        return tell_one(wanted.seed)
    return try_many(wanted.first, wanted.seeds, wanted.processes)


if __name__ == "__main__":
    sys.exit(main())
