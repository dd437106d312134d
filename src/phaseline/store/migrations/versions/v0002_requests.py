"""Migration to schema 2: requests of other processes; user of a deletion; numbers that a purge must not free."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

_STATEMENTS = (
    "alter table store add column purged_graph integer not null default 0",
    "alter table store add column purged_batch integer not null default 0",
    "alter table deployment add column deleted_by text not null default ''",
    """create index execution_open on execution (deployment)
        where status in ('queued', 'running', 'canceling', 'attention')""",
    """create table request (
        number integer primary key autoincrement, at integer not null, actor text not null, tenant text not null,
        kind text not null, execution integer not null, body text not null, answered_at integer not null default 0,
        answer text not null default '')""",
    "create index request_unanswered on request (number) where answered_at = 0",
    "create index request_execution on request (execution)",
    "create table remains (kind text not null, number integer not null, primary key (kind, number)) without rowid",
)


def upgrade() -> None:
    """Change the tables from schema 1 to schema 2."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute("pragma user_version = 2")
