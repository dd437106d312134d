"""A hundred engines killed at random moments: nothing is done twice that must not be, nothing is forgotten, nothing is left."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.kill.rounds import live

SEEDS = 10
KILLS_EACH = 10
AT_ONCE = 2
"""Lives at a time, each with a store of its own."""


@pytest.mark.kill
@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_a_hundred_killed_engines_break_no_promise(tmp_path: Path, first: int) -> None:
    def one(seed: int) -> int:
        return live(tmp_path / str(seed), seed, KILLS_EACH).kills

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert sum(pool.map(one, range(first, first + AT_ONCE))) >= AT_ONCE * KILLS_EACH
