"""Migration to schema 15: saved filters and sites, and keys of labels in lower case (LB1, LB3, LB5).

An older program would not know the sites, and would write keys of labels as they were given, so it may only read.
"""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0015"
down_revision = "0014"

_STATEMENTS = (
    """create table saved_filter (
        tenant text not null, noun text not null, name text not null, rules text not null,
        created_at integer not null, created_by text not null, primary key (tenant, noun, name)) without rowid""",
    """create table site (
        tenant text not null, name text not null, location text not null, created_at integer not null,
        created_by text not null, primary key (tenant, name)) without rowid""",
    """create table deployment_site (
        deployment integer primary key, tenant text not null, site text not null)""",
    """insert into label (deployment, key, value) select deployment, lower(key), value from label
        where key <> lower(key) on conflict (deployment, key, value) do nothing""",
    "delete from label where key <> lower(key)",
)
MIN_READER = 11


def upgrade() -> None:
    """Change the tables from the schema before to this one."""
    version = int(revision)
    apply(_STATEMENTS, version, MIN_READER, version)
