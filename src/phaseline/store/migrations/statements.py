"""Execution of a migration's statements in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable

from alembic import op

from phaseline.store.database.table_shapes import converted

_BEGIN_FILLING = """insert into filling (name, position, last, at, worker)
    select '{table}s', 0, last, 0, '' from (select coalesce(max(number), 0) as last from {table}) as found where last > 0"""


def apply(statements: Iterable[str], version: int, min_reader: int = 0, min_writer: int = 0) -> None:
    """Execute the statements that lead to the tables of ``version``, and record the version.

    ``min_reader`` and ``min_writer``: the oldest versions that may read and write the store then (UP1).
    """
    db = op.get_bind()
    for statement in statements:
        db.exec_driver_sql(statement if is_file() else converted(statement))
    if min_reader:
        db.exec_driver_sql(
            f"update store_schema set version = {version}, min_reader = {min_reader}, min_writer = {min_writer}"
        )
    if is_file():
        db.exec_driver_sql(f"pragma user_version = {version}")


def is_file() -> bool:
    """Return True if the store is a file of SQLite."""
    return op.get_bind().dialect.name == "sqlite"


def begin_filling(*tables: str) -> None:
    """Let the rows of these tables be filled into what repeats them, in steps after the migration (UP3).

    The filling of each table has its name with an ``s``, and covers the rows with the numbers of today. The tables that
    are to be filled must be empty.
    """
    db = op.get_bind()
    for table in tables:
        db.exec_driver_sql(_BEGIN_FILLING.format(table=table))
