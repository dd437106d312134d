"""A few engines killed at random moments; ``make kill`` kills a hundred."""

from pathlib import Path

import pytest
from tests.kill.rounds import live


@pytest.mark.kill
def test_three_killed_engines_break_no_promise(tmp_path: Path) -> None:
    assert live(tmp_path, seed=7, kills=3).kills == 3
