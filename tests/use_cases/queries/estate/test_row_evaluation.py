"""The rest of a condition is evaluated on rows, and a filter never guesses (LB4)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError
from phaseline.records.filters.row_condition import RowCondition
from phaseline.use_cases.queries.estate.row_evaluation import chosen, time_value


def test_lb4_a_row_for_which_it_makes_no_sense_is_named(tmp_path: Path) -> None:
    condition = RowCondition('attempt > "x"', "executions")
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as client:
        assert chosen(client.ctx, condition, [], [], "execution") == []  # type: ignore[attr-defined]  # an embedded client
        with pytest.raises(ProblemsError, match=r"execution 'heal-1'") as caught:
            chosen(client.ctx, condition, [{"id": "heal-1", "attempt": 1}], [7], "execution")  # type: ignore[attr-defined]  # as above
        assert caught.value.problems[0].code == "PL-C154"


def test_lb4_a_time_that_is_not_yet_is_undefined() -> None:
    assert (time_value(0), time_value(1_500)) == (None, datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC))
