"""Upgrade of a store of an earlier version to the present tables, in one transaction.

Import this package only when a migration is due: it imports alembic and SQLAlchemy, which takes half a second.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from phaseline.store.sql.read_model.changes import rebuild

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

HEAD = "head"
"""The latest revision."""


def upgrade(path: str, to: str = HEAD) -> None:
    """Upgrade the store file ``path`` to the tables of revision ``to``; if that fails, the file is unchanged.

    The tables that lists read repeat data of other tables. The code of this version fills them after each upgrade to the
    latest revision. Raises: ``sqlite3.Error``.
    """
    _upgrade(
        "sqlite://",
        lambda: sqlite3.connect(path, isolation_level=None),
        ("pragma synchronous = full", "begin immediate"),
        to,
        lambda db: cast("Connection", db),
    )


def upgrade_database(
    connect: Callable[[], Any], begin: str, wrapped: Callable[[Any], Connection], to: str = HEAD
) -> None:
    """Upgrade the tables in a database of PostgreSQL in one transaction; if that fails, nothing has changed.

    ``connect`` opens a connection of psycopg, which ``wrapped`` makes one for our statements. The statement ``begin``
    locks the store. Raises: ``psycopg.Error``.
    """
    _upgrade("postgresql+psycopg://", connect, (begin,), to, wrapped)


def _upgrade(
    url: str, connect: Callable[[], Any], begin: Sequence[str], to: str, wrapped: Callable[[Any], Connection]
) -> None:
    engine = create_engine(url, creator=connect, poolclass=StaticPool)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    try:
        with engine.connect() as connection:
            for statement in begin:
                connection.exec_driver_sql(statement)
            config.attributes["connection"] = connection
            command.upgrade(config, to)
            if to == HEAD:
                rebuild(wrapped(connection.connection.driver_connection))
            connection.commit()
    except DBAPIError as error:
        raise (error.orig or error) from error
    finally:
        engine.dispose()
