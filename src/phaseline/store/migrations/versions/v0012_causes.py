"""Migration to schema 12: what made deployments and executions, and which executions entries wait for (BB2, BB3)."""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0012"
down_revision = "0011"

_STATEMENTS = (
    """create table cause (
        made text not null, number integer not null, tenant text not null, kind text not null, cause integer not null,
        key text not null, primary key (made, number)) without rowid""",
    "create unique index cause_key on cause (kind, cause, key, made)",
    """create table awaiting (
        execution integer not null, graph integer not null, position integer not null, awaited integer not null,
        tenant text not null, since integer not null, primary key (execution, graph, position, awaited)) without rowid""",
    "create index awaiting_awaited on awaiting (awaited)",
)


def upgrade() -> None:
    """Add the tables. An older program may read the store; it may not write, because it would leave entries asleep."""
    version = int(revision)
    apply(_STATEMENTS, version, 11, version)
