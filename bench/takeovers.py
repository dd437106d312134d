"""Takeover of a store in PostgreSQL: an owner is killed, and the other engine makes the next call (BG13).

The engines and the store are those of ``make ha`` (``tests/ha``), which kills 1,000 owners and checks what each has written.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.ha.pairs import Pair
from tests.ha.test_takeovers import KILLED_AT_ONCE, LIMIT_S, lives

from bench.figures import Spread
from bench.report import Row

KILLS = 30


def rows(_count: int) -> list[Row]:
    """The row of the part ``takeovers``; one run has many kills."""
    print("takeovers", flush=True)
    with tempfile.TemporaryDirectory(prefix="phaseline-bench-") as folder:
        pairs = lives(Path(folder), KILLS, Pair.kill, at_once=KILLED_AT_ONCE)
    times = Spread(tuple(seconds for pair in pairs for seconds in pair.takeovers_s))
    slowest = max(times.values)
    return [
        Row(
            f"PostgreSQL, an owner killed, {KILLS} times: until the next owner's first call (BG13)",
            times.text("s"),
            f"each < {LIMIT_S:g} s",
            slowest < LIMIT_S,
        )
    ]
