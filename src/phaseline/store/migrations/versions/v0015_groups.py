"""Migration to schema 15: deployment groups, their members, and the runs of workflows over them (GR1, GR3).

An older program may read the store. It may not write it, because it would delete a deployment and leave it in its groups.
"""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0015"
down_revision = "0014"

_STATEMENTS = (
    """create table deployment_group (
        number integer primary key autoincrement, tenant text not null, name text not null, description text not null,
        blueprint text not null, plugin_folders text not null, inputs text not null, labels text not null,
        made_count integer not null, created_at integer not null, created_by text not null)""",
    "create unique index deployment_group_name on deployment_group (tenant, name)",
    """create table group_member (
        deployment_group integer not null, deployment integer not null,
        primary key (deployment_group, deployment)) without rowid""",
    "create index group_member_deployment on group_member (deployment)",
    """create table group_run (
        number integer primary key autoincrement, tenant text not null, deployment_group integer not null,
        group_name text not null, workflow text not null, concurrency integer not null, stop_failures integer not null,
        is_paused integer not null, created_at integer not null, created_by text not null)""",
    "create index group_run_name on group_run (tenant, group_name)",
)
MIN_READER = 11


def upgrade() -> None:
    """Change the tables from the schema before to this one."""
    version = int(revision)
    apply(_STATEMENTS, version, MIN_READER, version)
