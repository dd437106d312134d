"""Migration to schema 11: pauses of phases, switches of hook classes and stack documents belong to a tenant (rule RF4).

What was stored before belongs to the default tenant. An older program would show it to every tenant, so it may not
even read the store.
"""

from __future__ import annotations

from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.store.migrations.statements import apply

revision = "0011"
down_revision = "0010"

_STATEMENTS = (
    "alter table paused_phase rename to paused_before",
    """create table paused_phase (
        tenant text not null, name text not null collate nocase, at integer not null, actor text not null,
        reason text not null, primary key (tenant, name)) without rowid""",
    f"""insert into paused_phase (tenant, name, at, actor, reason)
        select '{DEFAULT_TENANT}', name, at, actor, reason from paused_before""",
    "drop table paused_before",
    "alter table hook_switch rename to switch_before",
    """create table hook_switch (
        tenant text not null, name text not null, deployment integer not null, at integer not null,
        actor text not null, reason text not null, primary key (tenant, name, deployment)) without rowid""",
    f"""insert into hook_switch (tenant, name, deployment, at, actor, reason)
        select '{DEFAULT_TENANT}', name, deployment, at, actor, reason from switch_before""",
    "drop table switch_before",
    f"alter table stack_document add column tenant text not null default '{DEFAULT_TENANT}'",
    "create index execution_tenant on execution (tenant, number)",
)


def upgrade() -> None:
    """Change the tables from the schema before to this one."""
    version = int(revision)
    apply(_STATEMENTS, version, version, version)
