"""Upgrade of a store of an earlier version to the present tables, in short transactions (UP3).

Tables that repeat stored data are filled afterwards, in steps (``relational.filling``). Import this package only when
a migration is due: it imports alembic and SQLAlchemy, which takes half a second.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

HEAD = "head"
"""The latest revision."""


class DueMigration(NamedTuple):
    """A migration that is due: its name in alembic, and statements that make indexes of large tables before it.

    In a database on a server, these are made without keeping others from writing. They are indexes of columns that the
    tables have before the migration.
    """

    name: str
    indexes: tuple[str, ...]


def due(found: int) -> list[DueMigration]:
    """Return the migrations from the version ``found`` to the latest one, in their order."""
    scripts = ScriptDirectory.from_config(_config()).iterate_revisions(HEAD, f"{found:04}")
    return [DueMigration(each.revision, getattr(each.module, "INDEXES", ())) for each in reversed(list(scripts))]


def upgrade(path: str, to: str = HEAD) -> None:
    """Upgrade the store file ``path`` to the tables of revision ``to``; if that fails, the file is unchanged.

    Raises: ``sqlite3.Error``.
    """
    begin = ("pragma synchronous = full", "begin immediate")
    _upgrade("sqlite://", lambda: sqlite3.connect(path, isolation_level=None), begin, to)


def upgrade_database(connect: Callable[[], Any], begin: Sequence[str], to: str, check: Callable[[Any], None]) -> None:
    """Upgrade the tables in a database of PostgreSQL in one transaction; if that fails, nothing has changed.

    ``connect`` opens a connection of psycopg, on which ``begin`` locks the store. ``check`` gets the connection then, and
    may refuse the upgrade. Raises: ``psycopg.Error``, and what ``check`` raises.
    """
    _upgrade("postgresql+psycopg://", connect, begin, to, check)


def _upgrade(
    url: str,
    connect: Callable[[], Any],
    begin: Sequence[str],
    to: str,
    check: Callable[[Any], None] = lambda _: None,
) -> None:
    engine = create_engine(url, creator=connect, poolclass=StaticPool)
    config = _config()
    try:
        with engine.connect() as connection:
            for statement in begin:
                connection.exec_driver_sql(statement)
            check(connection.connection.driver_connection)
            config.attributes["connection"] = connection
            command.upgrade(config, to)
            connection.commit()
    except DBAPIError as error:
        raise (error.orig or error) from error
    finally:
        engine.dispose()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config
