"""Migration to schema 8: the oldest versions of the program that may use the store (rule UP1)."""

from __future__ import annotations

from phaseline.store.migrations.statements import apply

revision = "0008"
down_revision = "0007"

_STATEMENTS = (
    "create table store_schema (version integer not null, min_reader integer not null, min_writer integer not null)",
    "insert into store_schema (version, min_reader, min_writer) values (8, 8, 8)",
)


def upgrade() -> None:
    """Change the tables from schema 7 to schema 8."""
    apply(_STATEMENTS, 8)
