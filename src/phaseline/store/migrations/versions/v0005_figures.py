"""Migration to schema 5: tables for measurements, changing topologies, check results, plans, labels and switches.

It also moves the members of a batch into the batch's row.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

import numpy as np
from alembic import op

from phaseline.store.codec.columns import decode, encode

revision = "0005"
down_revision = "0004"

_STATEMENTS = (
    "alter table topology add column version integer not null default 0",
    """create table check_page (
        deployment integer not null, kind integer not null, number integer not null, results blob not null,
        times blob not null, executions blob not null, primary key (deployment, kind, number))""",
    """create table check_body (
        deployment integer not null, kind integer not null, subject integer not null, body text not null,
        primary key (deployment, kind, subject)) without rowid""",
    """create table plan (
        number integer primary key autoincrement, tenant text not null, deployment integer not null, request text not null,
        created_at integer not null, created_by text not null, base text not null, body text not null, told text not null,
        aim text not null, execution integer not null)""",
    "create index plan_deployment on plan (deployment)",
    "create index plan_execution on plan (execution) where execution > 0",
    """create table label (
        deployment integer not null, key text not null, value text not null,
        primary key (deployment, key, value)) without rowid""",
    "create index label_key on label (key, value)",
    """insert or ignore into label select deployment, key.key, one.value
        from blueprint, json_each(body, '$.labels') key, json_each(key.value) one where one.type = 'text'""",
    "create table around (execution integer primary key, body text not null)",
    """create table hook_switch (
        name text not null, deployment integer not null, at integer not null, actor text not null, reason text not null,
        primary key (name, deployment)) without rowid""",
    """create table stack_document (
        kind text not null, name text not null, deployment integer not null, deployment_name text not null,
        at integer not null, created_by text not null, body text not null,
        primary key (kind, deployment, name)) without rowid""",
    "create table measure (name text not null primary key, at integer not null, body text not null) without rowid",
    """create table package (
        number integer primary key autoincrement, tenant text not null, name text not null, version text not null,
        format text not null, digest text not null, title text not null, origin text not null, file_count integer not null,
        size_bytes integer not null, installed_at integer not null, installed_by text not null,
        removed_at integer not null)""",
    "create unique index package_installed on package (tenant, name, version) where removed_at = 0",
    """create table package_path (
        package integer not null, path text not null, content text not null, is_executable integer not null,
        primary key (package, path)) without rowid""",
    "create index package_path_content on package_path (content)",
    """create table package_use (
        deployment integer not null, package integer not null, is_enabled integer not null, is_imported integer not null,
        settings text not null, folders text not null, at integer not null, actor text not null, primary key (deployment, package)) without rowid""",
    "create index package_use_package on package_use (package)",
    "alter table batch add column first_graph integer not null default 0",
    "alter table batch add column last_graph integer not null default 0",
    "alter table batch add column positions blob not null default x''",
    "alter table batch add column graphs blob",
    "alter table batch add column ends blob",
    "alter table graph add column after_batch integer not null default 0",
    "alter table execution add column last_batch integer not null default 0",
    """update graph set after_batch =
        coalesce((select min(batch) - 1 from segment where segment.execution = graph.execution), 0)""",
    """update execution set last_batch =
        coalesce((select max(batch) from segment where segment.execution = execution.number), 0) where ended_at > 0""",
)


def upgrade() -> None:
    """Change the tables from schema 4 to schema 5."""
    for statement in _STATEMENTS:
        op.execute(statement)
    _join_segments()
    op.execute("pragma user_version = 5")


def _join_segments() -> None:
    """Convert the rows that a batch has for each of its graphs into columns of the batch's own row."""
    db = op.get_bind()
    rows = db.exec_driver_sql("select batch, graph, positions from segment order by batch, place")
    for batch, parts in groupby(rows.fetchall(), key=itemgetter(0)):
        _, graphs, packed = zip(*parts, strict=True)
        columns = [decode(positions) for positions in packed]
        told = [encode(np.array(graphs)), encode(np.cumsum([len(one) for one in columns]).astype(np.int32))]
        db.exec_driver_sql(
            "update batch set first_graph = ?, last_graph = ?, positions = ?, graphs = ?, ends = ? where id = ?",
            (
                min(graphs),
                max(graphs),
                encode(np.concatenate(columns)),
                *(told if len(graphs) > 1 else (None, None)),
                batch,
            ),
        )
    op.execute("drop table segment")
