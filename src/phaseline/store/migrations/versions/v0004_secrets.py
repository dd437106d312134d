"""Migration to schema 4: secrets and data keys; stored blueprints and their users; phases that an engine knew."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

_STATEMENTS = (
    "alter table deployment add column imported text not null default '[]'",
    """create table secret (
        tenant text not null, name text not null, version integer not null, body blob not null, data_key blob not null,
        master_key text not null, created_at integer not null, created_by text not null, updated_at integer not null,
        updated_by text not null, primary key (tenant, name)) without rowid""",
    "create table data_key (purpose text not null primary key, wrapped blob not null, master_key text not null) without rowid",
    """create table stored_blueprint (
        number integer primary key autoincrement, tenant text not null, id text not null, version integer not null,
        main_file text not null, digest text not null, description text not null, language text not null,
        file_count integer not null, size_bytes integer not null, created_at integer not null, created_by text not null)""",
    "create unique index stored_blueprint_version on stored_blueprint (tenant, id, version)",
    """create table stored_path (
        blueprint integer not null, path text not null, content text not null, is_executable integer not null,
        primary key (blueprint, path)) without rowid""",
    "create index stored_path_content on stored_path (content)",
    "create table stored_content (digest text not null primary key, size_bytes integer not null, body blob not null)",
    """create table stored_import (
        blueprint integer not null, imported integer not null, primary key (blueprint, imported)) without rowid""",
    """create table blueprint_use (
        deployment integer not null, namespace text not null, blueprint integer not null,
        primary key (deployment, namespace)) without rowid""",
    "create table known_phase (name text not null primary key, known text not null) without rowid",
)


def upgrade() -> None:
    """Change the tables from schema 3 to schema 4."""
    for statement in _STATEMENTS:
        op.execute(statement)
    op.execute("pragma user_version = 4")
