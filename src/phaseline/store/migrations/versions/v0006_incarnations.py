"""Migration to schema 6: path and inode of the store's file, incarnations, executions that wait since a restore."""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0006"
down_revision = "0005"

_STATEMENTS = (
    "alter table store add column place text not null default ''",
    "alter table store add column inode integer not null default 0",
    "alter table store add column device integer not null default 0",
    "alter table store add column held integer not null default 0",
    "alter table store add column held_request integer not null default 0",
    """create table incarnation (
        number integer primary key, name text not null, at integer not null, cause text not null,
        first_graph integer not null, first_batch integer not null)""",
)


def upgrade() -> None:
    """Change the tables from schema 5 to schema 6. Tokens stay equal until the store's first restore."""
    apply(_STATEMENTS, 6)
