"""Hook classes that a user has switched off, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.model.rows.hook_switches import EVERYWHERE, Switch
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock
    from phaseline.store.database.connection import Connect

_SWITCH = "select name, deployment, at, actor, reason from hook_switch"
_ONE = "tenant = ? and name = ? and deployment = ?"


class SqliteSwitches:
    """Switches that enable and disable hook classes in a SQLite file: the methods of the port ``SwitchShelf``."""

    def __init__(self, reading: Connect, writing: Connect, clock: Clock, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._clock = clock
        self._rows = rows

    def all(self) -> Sequence[Switch]:
        """All switches, sorted by name and deployment."""
        with self._reading() as db:
            where, values = self._rows.where("true")
            rows = db.execute(f"{_SWITCH} where {where} order by name, deployment", values)
            return [Switch(*row) for row in rows]

    def put_off(self, name: str, deployment: int, reason: str, actor: Actor) -> Switch | None:
        """Switch a hook class off for a deployment. Return its former switch, or None if the class was on.

        A switch that exists is replaced only if a reason is given.
        """
        row = Switch(name, deployment, self._clock.now(), actor.name, reason)
        tenant = self._rows.by(actor).tenant
        with self._writing() as db:
            if deployment != EVERYWHERE:
                self._rows.require(db, "deployment", deployment)
            former = db.execute(f"{_SWITCH} where {_ONE}", (tenant, name, deployment)).fetchone()
            if former is None or reason:
                db.execute(
                    """insert into hook_switch (tenant, name, deployment, at, actor, reason) values (?, ?, ?, ?, ?, ?)
                    on conflict (tenant, name, deployment) do update
                    set at = excluded.at, actor = excluded.actor, reason = excluded.reason""",
                    (tenant, *row),
                )
            return None if former is None else Switch(*former)

    def put_on(self, name: str, deployment: int) -> bool:
        """Switch a hook class on again. Return False if it was not off."""
        with self._writing() as db:
            return (
                db.execute(f"delete from hook_switch where {_ONE}", (self._rows.named, name, deployment)).rowcount == 1
            )
