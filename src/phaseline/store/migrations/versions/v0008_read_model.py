"""Migration to schema 8: what lists read, which is filled when all migrations are done (``migrations.upgrade``)."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"

_STATEMENTS = (
    "alter table store add column execution_count integer not null default 0",
    """create table deployment_summary (
        deployment integer primary key, latest integer not null, status text not null, states text not null,
        instances integer not null, is_calm integer not null)""",
    """create table deployment_node (
        tenant text not null, node text not null, deployment integer not null, instances integer not null,
        primary key (tenant, node, deployment)) without rowid""",
    "create index deployment_node_deployment on deployment_node (deployment)",
    "create index execution_left on execution (deployment) where status in ('failed', 'canceled')",
)


def upgrade() -> None:
    """Change the tables from schema 7 to schema 8; the new tables are empty."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute("pragma user_version = 8")
