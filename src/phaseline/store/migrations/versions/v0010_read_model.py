"""Migration to schema 10: what lists read, which is filled in steps when all migrations are done (``relational.filling``)."""

from __future__ import annotations

from phaseline.store.migrations.statements import apply, begin_filling, is_file

revision = "0010"
down_revision = "0009"

_STATEMENTS = (
    "create table tenant (name text not null primary key, execution_count integer not null) without rowid",
    """create table filling (
        name text not null primary key, position integer not null, last integer not null, at integer not null,
        worker text not null) without rowid""",
    """create table deployment_summary (
        deployment integer primary key, latest integer not null, status text not null, states text not null,
        instances integer not null, is_calm integer not null)""",
    "create index deployment_summary_stale on deployment_summary (deployment) where status = ''",
    """create table deployment_node (
        tenant text not null, node text not null, deployment integer not null, instances integer not null,
        primary key (tenant, node, deployment)) without rowid""",
    "create index deployment_node_deployment on deployment_node (deployment)",
)
_LEFT = "create index execution_left on execution (deployment) where status in ('failed', 'canceled')"
INDEXES = (
    _LEFT,
    "create index execution_deployment_number on execution (deployment, number)",
)
"""Indexes of large tables, which are made in a database before the migration, while other processes write.

In a file, an index contains the number of the row in any case.
"""
_OF_A_DATABASE = ("drop index if exists execution_deployment",)


def upgrade() -> None:
    """Change the tables from schema 9 to schema 10; the new tables are empty.

    A program that knows schema 8 or 9 may read the store. If it wrote, lists would show old data.
    """
    apply((*_STATEMENTS, *([_LEFT] if is_file() else _OF_A_DATABASE)), 10, min_reader=8, min_writer=10)
    begin_filling("deployment", "execution")
