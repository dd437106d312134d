"""What an engine measures."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

_STATEMENTS = (
    "create table measure (name text not null primary key, at integer not null, body text not null) without rowid",
)


def upgrade() -> None:
    """Make schema 5 of schema 4."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute("pragma user_version = 5")
