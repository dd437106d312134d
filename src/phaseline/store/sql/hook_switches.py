"""Disabled hook classes, in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.model.rows.hook_switches import Switch

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock

Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]


class SqliteSwitches:
    """``SwitchShelf`` of a file."""

    def __init__(self, reading: Connect, writing: Connect, clock: Clock) -> None:
        """Read and write transactions, whichever process owns the store."""
        self._reading = reading
        self._writing = writing
        self._clock = clock

    def all(self) -> Sequence[Switch]:
        """All switches, sorted by name and deployment."""
        with self._reading() as db:
            rows = db.execute("select name, deployment, at, actor, reason from hook_switch order by name, deployment")
            return [Switch(*row) for row in rows]

    def put_off(self, name: str, deployment: int, reason: str, actor: Actor) -> Switch | None:
        """Switch it off. How it was off before, None if it was on: then only a reason that is given takes the place of the former one."""
        row = Switch(name, deployment, self._clock.now(), actor.name, reason)
        found = "select name, deployment, at, actor, reason from hook_switch where name = ? and deployment = ?"
        with self._writing() as db:
            former = db.execute(found, (name, deployment)).fetchone()
            if former is None or reason:
                db.execute("insert or replace into hook_switch values (?, ?, ?, ?, ?)", row)
            return None if former is None else Switch(*former)

    def put_on(self, name: str, deployment: int) -> bool:
        """Switch it on again; False if it was not off."""
        gone = "delete from hook_switch where name = ? and deployment = ?"
        with self._writing() as db:
            return db.execute(gone, (name, deployment)).rowcount == 1
