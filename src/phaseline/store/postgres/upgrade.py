"""Upgrade of a store in PostgreSQL to the present tables, in one transaction under the store's lock (ST11)."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg

from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.postgres import lease
from phaseline.store.postgres.connection import PostgresConnection
from phaseline.store.postgres.connections import TAKE_LOCK, WRITER
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.store.postgres.connections import PostgresConnections


def upgrade(connections: PostgresConnections, url: str, found: int) -> str:
    """Bring the tables of version ``found`` to the present version; return a notice for the user.

    Raises: PL-S005 while an engine of the older version owns the store.
    """
    from phaseline.store.migrations import upgrade_database  # alembic takes half a second to import

    with closing(connections.connect(WRITER)) as db:
        if lease.holder(db) is not None:
            raise failures.older(connections.path, found, SCHEMA_VERSION)
    upgrade_database(lambda: psycopg.connect(url), TAKE_LOCK, PostgresConnection.of)
    return f"The store was brought from schema {found} to {SCHEMA_VERSION}"
