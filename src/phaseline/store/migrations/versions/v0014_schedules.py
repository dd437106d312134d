"""Migration to schema 14: schedules, and what became of each time at which one was due (SC1).

An older program may read the store. It may not write it, because it would delete a deployment and leave its schedules.
"""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0014"
down_revision = "0013"

_STATEMENTS = (
    """create table schedule (
        number integer primary key autoincrement, tenant text not null, deployment integer not null,
        deployment_group text not null, name text not null, spec text not null, origin text not null,
        is_enabled integer not null, switched_by text not null, reason text not null, next_at integer not null,
        last_at integer not null, revision integer not null, changed_by text not null, created_at integer not null,
        created_by text not null)""",
    "create unique index schedule_name on schedule (deployment, deployment_group, name)",
    "create index schedule_next on schedule (next_at) where is_enabled = 1",
    """create table schedule_run (
        schedule integer not null, due integer not null, last_due integer not null, count integer not null,
        fired_at integer not null, execution integer not null, outcome text not null, reason text not null,
        primary key (schedule, due)) without rowid""",
)
MIN_READER = 11


def upgrade() -> None:
    """Change the tables from the schema before to this one."""
    version = int(revision)
    apply(_STATEMENTS, version, MIN_READER, version)
