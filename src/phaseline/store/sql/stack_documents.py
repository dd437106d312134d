"""Stack documents (deployments as JSON) in SQLite.

Turns write and delete them, so that a document and the deployment it describes stay consistent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.model.deployment.stack_documents import ABANDONED, ABANDONED_KEPT_MS, SNAPSHOT, DocumentKind, DocumentRow
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql.labels import add_labels, remove_labels
from phaseline.store.sql.read_model.changes import drop_deployments

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import PlannerWrites
    from phaseline.store.database.connection import Connect, Connection

_BRIEF = "kind, name, deployment, deployment_name, at, created_by, length(body)"
_ADD = """insert into stack_document (kind, name, deployment, deployment_name, at, created_by, body, tenant)
    select ?, ?, ?, ?, ?, created_by, ?, tenant from execution where number = ?
    on conflict (kind, deployment, name) do update set at = excluded.at, created_by = excluded.created_by, body = excluded.body"""


class SqliteDocuments:
    """Stack documents (snapshots, and those of abandoned deployments) in a SQLite file: its ``DocumentShelf``."""

    def __init__(self, reading: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` begins a transaction that reads."""
        self._reading = reading
        self._rows = rows

    def all(self, kind: DocumentKind, deployment: int | None = None) -> Sequence[DocumentRow]:
        """Return all documents of a kind, oldest first; only those of one deployment if it is given."""
        only: tuple[object, ...] = ("kind = ?", kind)
        if deployment is not None:
            only = ("kind = ? and deployment = ?", kind, deployment)
        where, values = self._rows.where(str(only[0]), *only[1:])
        with self._reading() as db:
            rows = db.execute(f"select {_BRIEF} from stack_document where {where} order by at, name", values)
            return [DocumentRow(*row) for row in rows]

    def body(self, row: DocumentRow) -> Mapping[str, Value]:
        """Return the content of a document. Raises: ``LookupError`` if the document was deleted."""
        condition = "kind = ? and deployment = ? and name = ?"
        where, values = self._rows.where(condition, row.kind, row.deployment, row.name)
        with self._reading() as db:
            found = db.execute(f"select body from stack_document where {where}", values).fetchone()
        if found is None:
            raise LookupError(row.name)
        told: dict[str, Any] = json.loads(found[0])
        return told


def write(db: Connection, written: PlannerWrites, at: int) -> None:
    """Write a turn's added and deleted documents, and delete abandoned deployments, in the turn's transaction."""
    for new in written.kept:
        values = (new.kind, new.name, new.deployment, new.deployment_name, at, to_text(dict(new.body)), new.execution)
        db.execute(_ADD, values)
    if written.kept:
        db.execute("delete from stack_document where kind = ? and at < ?", (ABANDONED, at - ABANDONED_KEPT_MS))
    for drop in written.dropped:
        where = "kind = ? and deployment = ? and name = ?"
        db.execute(f"delete from stack_document where {where}", (drop.kind, drop.deployment, drop.name))
    for deployment, change in written.labels:
        remove_labels(db, deployment, change.removed)
        add_labels(db, deployment, change.added)
    if written.dependencies:
        from phaseline.store.sql.estate import dependencies  # few deployments read another one

        for consumer, records in written.dependencies:
            dependencies.replace(db, consumer, records)
    drop_deployments(db, [gone.deployment for gone in written.forgotten])
    for gone in written.forgotten:
        from phaseline.store.sql.estate.groups import leave_groups
        from phaseline.store.sql.estate.schedules import drop_schedules  # few turns forget a deployment

        drop_snapshots(db, gone.deployment)
        drop_schedules(db, gone.deployment)
        leave_groups(db, gone.deployment)
        db.execute(
            "update deployment set deleted_at = ?, deleted_by = ? where number = ? and deleted_at = 0",
            (max(1, at), gone.actor, gone.deployment),
        )
        db.execute(
            """update execution set status = 'canceled', reason = ?, ended_at = ? where deployment = ? and number <> ?
            and status in ('queued', 'running', 'canceling', 'attention')""",
            ("the deployment was forgotten", at, gone.deployment, gone.execution),
        )


def drop_snapshots(db: Connection, deployment: int) -> None:
    """Delete the snapshots of a deployment that is being deleted."""
    db.execute("delete from stack_document where kind = ? and deployment = ?", (SNAPSHOT, deployment))
