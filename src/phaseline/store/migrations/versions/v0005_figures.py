"""What an engine measures; topologies that change."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

_STATEMENTS = (
    "alter table topology add column version integer not null default 0",
    "create table measure (name text not null primary key, at integer not null, body text not null) without rowid",
)


def upgrade() -> None:
    """Make schema 5 of schema 4."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute("pragma user_version = 5")
