"""Migration to schema 7: orders that users gave with a request id."""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

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
    """Change the tables from schema 6 to schema 7; the new table is empty."""
    apply(_STATEMENTS, 7)
