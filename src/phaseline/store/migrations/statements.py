"""Execution of a migration's statements in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable

from alembic import op

from phaseline.store.database.table_shapes import converted


def apply(statements: Iterable[str], version: int, min_reader: int = 0, min_writer: int = 0) -> None:
    """Execute the statements that lead to the tables of ``version``, and record the version.

    ``min_reader`` and ``min_writer``: the oldest versions that may read and write the store then (UP1).
    """
    db = op.get_bind()
    is_file = db.dialect.name == "sqlite"
    for statement in statements:
        db.exec_driver_sql(statement if is_file else converted(statement))
    if min_reader:
        db.exec_driver_sql(
            f"update store_schema set version = {version}, min_reader = {min_reader}, min_writer = {min_writer}"
        )
    if is_file:
        db.exec_driver_sql(f"pragma user_version = {version}")
