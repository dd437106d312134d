"""Orders that were given with a request id."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

_STATEMENTS = (
    """create table given_order (
        tenant text not null, actor text not null, id text not null, digest text not null, at integer not null,
        requests text not null, executions text not null, answer blob not null,
        primary key (tenant, actor, id)) without rowid""",
    "create index given_order_at on given_order (at)",
)


def upgrade() -> None:
    """Make schema 7 of schema 6; no order had a request id until then."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute("pragma user_version = 7")
