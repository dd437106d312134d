"""Migration to schema 10: what lists read, which is filled when all migrations are done (``migrations.upgrade``)."""

from __future__ import annotations

from alembic import op

from phaseline.store.migrations.statements import apply

revision = "0010"
down_revision = "0009"

_STATEMENTS = (
    "create table tenant (name text not null primary key, execution_count integer not null) without rowid",
    """create table deployment_summary (
        deployment integer primary key, latest integer not null, status text not null, states text not null,
        instances integer not null, is_calm integer not null)""",
    "create index deployment_summary_stale on deployment_summary (deployment) where status = ''",
    """create table deployment_node (
        tenant text not null, node text not null, deployment integer not null, instances integer not null,
        primary key (tenant, node, deployment)) without rowid""",
    "create index deployment_node_deployment on deployment_node (deployment)",
    "create index execution_left on execution (deployment) where status in ('failed', 'canceled')",
)
_IN_A_DATABASE = (
    "drop index execution_deployment",
    "create index execution_deployment on execution (deployment, number)",
)
"""In a file, an index contains the number of the row in any case."""


def upgrade() -> None:
    """Change the tables from schema 9 to schema 10; the new tables are empty.

    A program that knows schema 8 or 9 may read the store. If it wrote, lists would show old data.
    """
    apply(_STATEMENTS, 10, min_reader=8, min_writer=10)
    if op.get_bind().dialect.name != "sqlite":
        for statement in _IN_A_DATABASE:
            op.execute(statement)
