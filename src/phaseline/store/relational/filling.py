"""What an upgrade has left to do, in steps that hold the store's lock for a short time (UP3, ADR 0051).

Each filling has a row in the table ``filling``. A step is a transaction: it fills some rows, and stores in the row of the
filling how far it has come. So a process that dies loses one step, and several processes do different steps. The last step
of a filling deletes its row.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from phaseline.model.rows.maintenance import Filling
from phaseline.store.sql.read_model.filling import count_executions, fill_deployments

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

SINCE = 10
"""First version of the tables that can have fillings."""
STEP_S = 0.05
"""How long, in seconds, a step should hold the store's lock: the owner's turns wait as long."""
MOST_GROWTH = 2.0
"""By how much a step may be larger than the one before it."""
OPENING_S = 0.5
"""How long, in seconds, the process that has upgraded a store does steps before it uses the store. Small stores are filled then."""
WORKER_LENGTH = 120
"""Number of characters kept of the name of the process that does steps."""


class Work(NamedTuple):
    """How a filling is done: ``fill(db, after, last, count)`` returns the number up to which all is filled then.

    ``first``: the ``count`` of the first step. ``most``: its largest value.
    """

    fill: Callable[[Connection, int, int, int], int]
    first: int
    most: int


WORKS: Mapping[str, Work] = {
    "deployments": Work(fill_deployments, 50, 5_000),
    "executions": Work(count_executions, 5_000, 1_000_000),
}
"""{name of a filling: how it is done}. A filling of a newer version, which is not here, is left to that version."""

_LEFT = "select name, position, last, at, worker from filling order by name"
_REACHED = "update filling set position = ?, at = ?, worker = ? where name = ?"


class FillingSteps:
    """Does the steps of all fillings; their size follows from the time that the former ones took."""

    def __init__(self, most: int = sys.maxsize) -> None:
        """Begin with small steps. ``most``: largest number of rows of a step."""
        self._most = {name: min(most, work.most) for name, work in WORKS.items()}
        self._counts = {name: min(most, work.first) for name, work in WORKS.items()}
        self._worker = worker()

    def step(self, db: Connection, now: int) -> bool:
        """Do one step in the caller's transaction, which keeps others from writing. Return True if there may be another."""
        row = next((row for row in db.execute(_LEFT).fetchall() if row[0] in WORKS), None)
        if row is None:
            return False
        name, position, last, *_ = row
        begun, count = time.monotonic(), self._counts[name]
        reached = WORKS[name].fill(db, position, last, count)
        if reached < last:
            db.execute(_REACHED, (reached, now, self._worker, name))
        else:
            db.execute("delete from filling where name = ?", (name,))
        self._counts[name] = adapted(count, time.monotonic() - begun, self._most[name])
        return True


def adapted(count: int, took_s: float, most: int) -> int:
    """Return the number of rows of the next step, after a step of ``count`` rows has taken ``took_s`` seconds.

    >>> adapted(100, 0.1, 1_000), adapted(100, 0.001, 1_000), adapted(100, 0.001, 150), adapted(1, 9, 10)
    (50, 200, 150, 1)
    """
    factor = min(MOST_GROWTH, STEP_S / took_s) if took_s else MOST_GROWTH
    return max(1, min(most, int(count * factor)))


def worker() -> str:
    """Return the name of this process, as the status of an upgrade shows it."""
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    return f"process {os.getpid()} on {os.uname().nodename} ({command})"[:WORKER_LENGTH]


def fillings(db: Connection, version: int) -> tuple[Filling, ...]:
    """Return what an upgrade has left of a store whose tables have this version."""
    if version < SINCE:
        return ()
    return tuple(
        Filling(name, position, last, 100 * position // last, at, by)
        for name, position, last, at, by in db.execute(_LEFT).fetchall()
    )


def begin_steps(step: Callable[[], bool], most_s: float = OPENING_S) -> str:
    """Do steps for a short time after an upgrade; return what a notice of the upgrade adds if there may be more."""
    end = time.monotonic() + most_s
    while step():
        if time.monotonic() >= end:
            return "; lists are slower until the rest of it is done: phaseline store upgrade"
    return ""
