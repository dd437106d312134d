"""Upgrade of a store of an earlier version to the present tables, in one transaction.

Import this package only when a migration is due: it imports alembic and SQLAlchemy, which takes half a second.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool


def upgrade(path: str, to: str = "head") -> None:
    """Upgrade the store file ``path`` to the tables of revision ``to``; if that fails, the file is unchanged.

    Raises: ``sqlite3.Error``.
    """
    engine = create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(path, isolation_level=None), poolclass=StaticPool
    )
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("pragma synchronous = full")
            connection.exec_driver_sql("begin immediate")
            config.attributes["connection"] = connection
            command.upgrade(config, to)
            connection.commit()
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise error.orig from error
        raise
    finally:
        engine.dispose()
