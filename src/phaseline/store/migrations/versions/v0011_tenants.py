"""Migration to schema 11: pauses of phases, switches of hook classes and stack documents belong to a tenant (rule RF4).

What was stored before belongs to the default tenant. An older program would show it to every tenant, so it may not
even read the store.
"""

from __future__ import annotations

from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.store.migrations.statements import apply, is_file

revision = "0011"
down_revision = "0010"

_STATEMENTS = (
    "create table paused_before as select * from paused_phase",
    "drop table paused_phase",
    """create table paused_phase (
        tenant text not null, name text not null collate nocase, at integer not null, actor text not null,
        reason text not null, primary key (tenant, name)) without rowid""",
    f"""insert into paused_phase (tenant, name, at, actor, reason)
        select '{DEFAULT_TENANT}', name, at, actor, reason from paused_before""",
    "drop table paused_before",
    "create table switch_before as select * from hook_switch",
    "drop table hook_switch",
    """create table hook_switch (
        tenant text not null, name text not null, deployment integer not null, at integer not null,
        actor text not null, reason text not null, primary key (tenant, name, deployment)) without rowid""",
    f"""insert into hook_switch (tenant, name, deployment, at, actor, reason)
        select '{DEFAULT_TENANT}', name, deployment, at, actor, reason from switch_before""",
    "drop table switch_before",
    f"alter table stack_document add column tenant text not null default '{DEFAULT_TENANT}'",
)
INDEXES = ("create index execution_tenant on execution (tenant, number)",)
"""Indexes of large tables, which are made in a database before the migration, while other processes write."""


def upgrade() -> None:
    """Change the tables from the schema before to this one."""
    version = int(revision)
    apply((*_STATEMENTS, *(INDEXES if is_file() else ())), version, version, version)
