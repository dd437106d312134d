"""Lines in columns: what comes out is what went in, by time, whatever the texts are."""

from __future__ import annotations

import errno
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import IO

import pytest
from tests.store.builders import blueprint, topology

from phaseline.use_cases.queries.events.event_columns import MOST_TEXTS, PAGE, EventColumns
from phaseline.views.views import Line

TOPOLOGY = topology(blueprint())
FIRST, SECOND = TOPOLOGY.ids[:2]


def told(columns: EventColumns, limit: int | None = None) -> list[Line]:
    pages = list(columns.pages(limit))
    assert all(len(page) <= PAGE for page in pages)
    return [line for page in pages for line in page]


def test_lines_come_back_by_time_and_rank_in_the_order_of_their_adding() -> None:
    ended = Line(2, "workflow_succeeded", "shop", "", "", "done")
    task = Line(2, "task", "shop", f"{FIRST}->{SECOND}", "establish", "Task started 'x'")
    asked = Line(2, "retried", "shop", "", "", "Retrying", "ann")
    again = Line(2, "task", "shop", FIRST, "create", "Task started 'x'")
    early = Line(1, "workflow_node_event", "shop", SECOND, "", "Creating")
    columns = EventColumns(TOPOLOGY, "shop")
    for line, number in ((ended, -1), (task, 0), (asked, -1), (again, 0), (early, 1)):
        columns.add(line, number)
    assert len(columns) == 5
    assert told(columns) == [early, asked, task, again, ended]
    assert told(columns, 2) == [again, ended]
    assert told(columns, 0) == []
    assert told(EventColumns(TOPOLOGY, "shop")) == []


def no_room() -> IO[bytes]:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("new_file", [TemporaryFile, no_room])
def test_texts_that_are_all_different_come_back_whether_there_is_room_for_a_file_or_not(
    new_file: Callable[[], IO[bytes]],
) -> None:
    columns = EventColumns(TOPOLOGY, "shop", new_file)
    lines = [Line(at, "task", "shop", FIRST, "", f"said\x00 {at} \udcff é") for at in range(MOST_TEXTS + 50)]
    lines += [Line(MOST_TEXTS + 100, "task", "shop", FIRST, "", "")]
    for line in lines:
        columns.add(line, 0)
    assert told(columns) == lines
