"""Deployment groups in a database (GR1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from phaseline.model.rows.groups import GroupMember, GroupRow, NewGroup
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock
    from phaseline.store.database.connection import Connect, Connection

_ROWS = """select number, name, description, blueprint, plugin_folders, inputs, labels, made_count,
        (select count(*) from group_member where group_member.deployment_group = deployment_group.number),
        created_at, created_by, tenant
    from deployment_group"""
_ADD = """insert into deployment_group (tenant, name, description, blueprint, plugin_folders, inputs, labels, made_count,
    created_at, created_by) values (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)"""
_MEMBERS = """select deployment.number, deployment.name from group_member
    join deployment on deployment.number = group_member.deployment
    where deployment_group = ? order by deployment.name"""
_JOIN = """insert into group_member (deployment_group, deployment) values (?, ?)
    on conflict (deployment_group, deployment) do nothing"""
_LEAVE = "delete from group_member where deployment_group = ? and deployment = ?"
_LIVING = "select count(*) from deployment where deleted_at = 0 and number in (select value from json_each(?))"
_GROUPS_OF = """select deployment_group.name from group_member
    join deployment_group on deployment_group.number = group_member.deployment_group
    where deployment = ? order by deployment_group.name"""


class SqlGroups:
    """Implements ``model.rows.groups.GroupShelf`` on a database."""

    def __init__(self, reading: Connect, writing: Connect, clock: Clock, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._clock = clock
        self._rows = rows

    def all(self) -> Sequence[GroupRow]:
        """Return all groups, sorted by name."""
        with self._reading() as db:
            return self._found(db, "true")

    def find(self, name: str) -> GroupRow | None:
        """Return the group of this name, or None."""
        with self._reading() as db:
            return self._named(db, name)

    def create(self, new: NewGroup, actor: Actor) -> GroupRow | None:
        """Store a group without members; None if there is one of this name."""
        by = self._rows.by(actor)
        told = to_text(list(new.plugin_folders)), to_text(dict(new.inputs)), to_text(list(new.labels))
        with self._writing() as db:
            if db.execute(
                "select 1 from deployment_group where tenant = ? and name = ?", (by.tenant, new.name)
            ).fetchone():
                return None
            values = (by.tenant, new.name, new.description, new.blueprint, *told, self._clock.now(), by.name)
            db.execute(_ADD, values)
            rows = db.execute(f"{_ROWS} where tenant = ? and name = ?", (by.tenant, new.name)).fetchall()
            return _row(rows[0])

    def members(self, row: GroupRow) -> Sequence[GroupMember]:
        """Return the members of a group, sorted by name."""
        with self._reading() as db:
            if not self._found(db, "number = ?", row.number):
                return []
            return [GroupMember(*found) for found in db.execute(_MEMBERS, (row.number,)).fetchall()]

    def groups_of(self, deployment: int) -> Sequence[str]:
        """Return the names of the groups in which a deployment is, sorted."""
        with self._reading() as db:
            own = self._rows.own(db, "deployment", deployment)
            return [name for (name,) in db.execute(_GROUPS_OF, (own,)).fetchall()]

    def join(self, row: GroupRow, deployments: Sequence[int], *, made: int = 0) -> int:
        """Add deployments to a group; return how many were not in it. ``made``: how many of them were made for it."""
        wanted = sorted(set(deployments))
        with self._writing() as db:
            self._require(db, row)
            strange = self._rows.strange(db, "deployment", wanted)
            if strange or db.execute(_LIVING, (to_text(wanted),)).fetchone()[0] < len(wanted):
                raise LookupError(f"one of the deployments {wanted} does not exist")
            before = _count(db, row.number)
            db.executemany(_JOIN, [(row.number, number) for number in wanted])
            if made:
                db.execute(
                    "update deployment_group set made_count = made_count + ? where number = ?", (made, row.number)
                )
            return _count(db, row.number) - before

    def leave(self, row: GroupRow, deployments: Sequence[int]) -> int:
        """Remove deployments from a group, and return how many were in it."""
        with self._writing() as db:
            self._require(db, row)
            before = _count(db, row.number)
            db.executemany(_LEAVE, [(row.number, number) for number in deployments])
            return before - _count(db, row.number)

    def remove(self, row: GroupRow) -> bool:
        """Remove a group; its members stay. Return False if it was removed before."""
        with self._writing() as db:
            if not self._found(db, "number = ?", row.number):
                return False
            db.execute("delete from group_member where deployment_group = ?", (row.number,))
            db.execute("delete from deployment_group where number = ?", (row.number,))
            return True

    def _require(self, db: Connection, row: GroupRow) -> None:
        if not self._found(db, "number = ?", row.number):
            raise LookupError(f"no group {row.number}")

    def _named(self, db: Connection, name: str) -> GroupRow | None:
        where, values = self._rows.of_names().where("name = ?", name)
        found = db.execute(f"{_ROWS} where {where}", values).fetchall()
        return _row(found[0]) if found else None

    def _found(self, db: Connection, condition: str, *values: object) -> Sequence[GroupRow]:
        where, chosen = self._rows.where(condition, *values)
        return [_row(found) for found in db.execute(f"{_ROWS} where {where} order by name, number", chosen).fetchall()]


def leave_groups(db: Connection, deployment: int) -> None:
    """Remove a deployment that is deleted from all groups."""
    db.execute("delete from group_member where deployment = ?", (deployment,))


def _count(db: Connection, group: int) -> int:
    return int(db.execute("select count(*) from group_member where deployment_group = ?", (group,)).fetchone()[0])


def _row(found: Iterable[Any]) -> GroupRow:
    number, name, description, blueprint, folders, inputs, labels, *rest = found
    told = tuple(json.loads(folders)), json.loads(inputs), tuple(json.loads(labels))
    return GroupRow(number, name, description, blueprint, *told, *rest)
