"""Which failed executions still move resources that no later execution was requested to move."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.resources.resources import REMOVED
from phaseline.model.resources.state_graph_names import state_numbers
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.purging.room import READ_BYTES, Room, paged
from phaseline.store.sql.queries import states

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

_PATHS = """select number, json_extract(request, '$.parameters.subjects') from execution
    where deployment = ? and id = 'reach-' || number and number > ? and number > ? order by number limit ?"""
_TARGET = "select json_extract(request, '$.parameters.target') from execution where number = ?"


class NewestPaths:
    """The latest execution that moves each resource, of each deployment that was asked about during one purge."""

    def __init__(self) -> None:
        """Read nothing yet."""
        self._found: dict[int, _Newest] = {}

    def is_moving(self, db: Connection, room: Room, deployment: int, execution: int) -> bool | None:
        """Return whether an execution still moves an existing resource that is not at its target.

        Return None if the room is used up before that is known; the next call continues.
        """
        newest = self._found.get(deployment)
        if newest is None:
            newest = self._found[deployment] = _Newest(growing.count(db, deployment))
        if not newest.is_complete:
            newest.read_on(db, room, deployment)
            if not newest.is_complete:
                return None
        here = states(db, deployment)[: len(newest.found)]
        room.spend(READ_BYTES + len(here))
        target = db.execute(_TARGET, (execution,)).fetchone()[0]
        wanted = state_numbers(growing.state_names(db, deployment)).get(target, REMOVED)
        left = here[newest.found == execution]
        return bool(((left != REMOVED) & (left != wanted)).any())


class _Newest:
    """The latest execution that moves each resource of one deployment, as far as it was read."""

    def __init__(self, count: int) -> None:
        """Begin with no execution for ``count`` resources."""
        self.found = np.zeros(count, np.int64)
        self.is_complete = False
        self._after = 0

    def read_on(self, db: Connection, room: Room, deployment: int) -> None:
        """Read further executions, oldest first, until all are read or the room is used up; at least one."""
        for number, ranges in paged(db, _PATHS, (deployment, self._after)):
            subjects = numbers_of(json.loads(ranges))
            self.found[subjects[subjects < len(self.found)]] = number
            self._after = number
            room.spend(READ_BYTES + len(subjects) // 8)
            if not room.is_left:
                return
        self.is_complete = True
