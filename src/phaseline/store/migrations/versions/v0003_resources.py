"""Migration to schema 3: state names and paused phases of clusters; the creation time of graphs."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

_STATEMENTS = (
    "alter table deployment add column kind text not null default 'blueprint'",
    "alter table graph add column created_at integer not null default 0",
    """create table state_name (
        deployment integer not null, place integer not null, name text not null,
        primary key (deployment, place)) without rowid""",
    """create table paused_phase (
        name text not null collate nocase primary key, at integer not null, actor text not null,
        reason text not null) without rowid""",
)


def upgrade() -> None:
    """Change the tables from schema 2 to schema 3."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute("pragma user_version = 3")
