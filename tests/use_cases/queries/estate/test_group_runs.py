"""The status of a run from those of its executions (GR6); its progress: tests/use_cases/commands/estate/test_group_runs.py."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from phaseline.model.rows.groups import RunRow
from phaseline.use_cases.queries.estate.group_runs import status_of


@pytest.mark.parametrize(
    ("counts", "is_paused", "status"),
    [
        ({"completed": 3}, False, "completed"),
        ({"completed": 2, "failed": 1, "canceled": 1}, False, "failed"),
        ({"completed": 2, "canceled": 1}, True, "canceled"),
        ({"completed": 2, "running": 1, "attention": 1}, False, "running"),
        ({"completed": 2, "attention": 1}, False, "attention"),
        ({"completed": 2, "queued": 1}, True, "paused"),
        ({"completed": 2, "queued": 1}, False, "running"),
        ({"failed": 2, "canceling": 1}, False, "running"),
    ],
)
def test_gr6_the_status_of_a_run(counts: Mapping[str, int], is_paused: bool, status: str) -> None:
    row = RunRow(1, 1, "shops", "install", -1, -1, is_paused, 0, "ann")
    assert status_of(row, counts, has_begun=True) == status


def test_gr6_a_run_of_which_nothing_has_begun_is_queued() -> None:
    assert status_of(RunRow(1, 1, "shops", "heal", -1, -1, False, 0, "ann"), {"queued": 1}, has_begun=False) == "queued"
