"""Migration to schema 9: definition files of plugins, which were files beside the store (rule RF9)."""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0009"
down_revision = "0008"

_STATEMENTS = (
    """create table definition_file (
        tenant text not null, name text not null, version text not null, path text not null, content text not null,
        primary key (tenant, name, version, path)) without rowid""",
    "create index definition_file_content on definition_file (content)",
)


def upgrade() -> None:
    """Change the tables from schema 8 to schema 9; the new table is empty.

    Earlier versions of the program must not write: they would delete the contents of definition files as unused.
    """
    apply(_STATEMENTS, 9, min_reader=8, min_writer=9)
