"""The version of a store's tables and what an upgrade has left, found without opening the store, because opening upgrades it (ST11, UP3)."""

from __future__ import annotations

from contextlib import closing

from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.maintenance import Filling, StoreVersion
from phaseline.store import DATABASE_PREFIXES, MEMORY, file_of, require_driver
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.relational.filling import fillings
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite.owner_lock import OwnerLock


def version_of_store(url: str) -> StoreVersion:
    """Return the version of the tables of the store at a URL, what an upgrade has left, and the process that owns it.

    Raises: PL-S007 if there is no store, PL-S002 if this program may not even read it, and problems of reading it.
    """
    if url == MEMORY:
        raise problem_error("PL-S008", "a store in memory is never upgraded", "name a file with --store sqlite:///PATH")
    if url.startswith(DATABASE_PREFIXES):
        return _of_database(url)
    path = str(file_of(url).resolve())
    file.raise_if_missing(path)
    with closing(file.open_looker(path)) as db:
        version = file.version_of(db, path)
        left = fillings(db, version)
    owner = OwnerLock(path + ".lock").holder()
    return StoreVersion(version, SCHEMA_VERSION, None if owner is None else str(owner), fillings=left)


def _of_database(url: str) -> StoreVersion:
    require_driver()
    from phaseline.store.postgres import lease, schema
    from phaseline.store.postgres.connections import PostgresConnections
    from phaseline.store.postgres.upgrade import indexes_under_way
    from phaseline.store.postgres.url import shown
    from phaseline.store.relational.connections import Problems
    from phaseline.store.sql import errors as failures

    connections = PostgresConnections(url, shown(url), lambda: None)
    with Problems(connections), closing(connections.connect()) as db:
        version = schema.version_of(db, connections.path)
        if not version:
            raise failures.nowhere(connections.path)
        owner = lease.holder(db)
        left = fillings(db, version) or tuple(
            Filling(f"index {name}", done, total, 100 * done // total) for name, done, total in indexes_under_way(db)
        )
    return StoreVersion(version, SCHEMA_VERSION, None if owner is None else str(owner), fillings=left)
