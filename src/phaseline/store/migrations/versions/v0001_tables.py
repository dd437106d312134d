"""Migration to schema 1: the first tables."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

_TABLES = (
    "create table store (identity text not null, created_at integer not null, epoch integer not null)",
    """create table deployment (
        number integer primary key autoincrement, tenant text not null, name text not null,
        blueprint_file text not null, description text not null, blueprint_folder text not null,
        plugin_folders text not null, instance_count integer not null, created_at integer not null,
        created_by text not null, deleted_at integer not null)""",
    "create unique index deployment_live on deployment (tenant, name) where deleted_at = 0",
    """create table blueprint (
        deployment integer primary key, body text not null, inputs text not null)""",
    """create table topology (
        deployment integer primary key, nodes text not null, ids blob not null, node blob not null,
        ordinal blob not null, container blob not null, host blob not null, links blob not null,
        link blob not null, source blob not null, target blob not null)""",
    """create table state_page (
        deployment integer not null, number integer not null, states blob not null,
        primary key (deployment, number))""",
    """create table document (
        deployment integer not null, instance integer not null, version integer not null, body text not null,
        primary key (deployment, instance))""",
    """create table execution (
        number integer primary key autoincrement, id text not null unique, tenant text not null,
        deployment integer not null, request text not null, status text not null, reason text not null,
        attempt integer not null, created_at integer not null, started_at integer not null,
        ended_at integer not null, created_by text not null)""",
    "create index execution_deployment on execution (deployment)",
    """create table graph (
        id integer primary key, execution integer not null, name text not null, attempt integer not null,
        entry_count integer not null, steps text not null, policies text not null, subject blob not null,
        policy blob not null, marks blob not null, ptr blob not null, idx blob not null, cohort blob not null)""",
    "create index graph_execution on graph (execution)",
    """create table page (
        graph integer not null, number integer not null, statuses blob not null, primary key (graph, number))""",
    """create table note (
        graph integer not null, position integer not null, attempts integer not null, generation integer not null,
        due integer not null, message text not null, error text not null, result text not null,
        primary key (graph, position)) without rowid""",
    """create table batch (
        id integer primary key, phase text not null, started_at integer not null, deadline_at integer not null,
        closed_at integer not null, process_group integer not null, kinds blob)""",
    "create index batch_open on batch (id) where closed_at = 0",
    """create table segment (
        batch integer not null, place integer not null, graph integer not null, execution integer not null,
        positions blob not null, primary key (batch, place)) without rowid""",
    "create index segment_execution on segment (execution, batch)",
    """create table log (
        execution integer not null, sequence integer not null, at integer not null, level text not null,
        instance integer not null, operation text not null, text text not null,
        primary key (execution, sequence)) without rowid""",
    """create table event (
        execution integer not null, sequence integer not null, at integer not null, type text not null,
        instance integer not null, operation text not null, actor text not null, message text not null,
        primary key (execution, sequence)) without rowid""",
)


def upgrade() -> None:
    """Create the tables of schema 1."""
    for statement in _TABLES:
        op.execute(statement)
    op.execute(f"pragma application_id = {0x5048_4C4E}")
    op.execute("pragma user_version = 1")
