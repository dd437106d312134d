"""Copies of a store between databases of any kind, and the restore of a backup into a database (ST12, BK2, BK5)."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, cast

from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.maintenance import CopiedStore, RestoredStore
from phaseline.store import DATABASE_PREFIXES, MEMORY, file_of, open_store, require_driver
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.relational.connections import Connections, Problems
from phaseline.store.relational.copying import CopySource, CopyTarget, UncopiedRowsError, copy_all, raise_if_newer
from phaseline.store.relational.whole_store import SqlStore
from phaseline.store.sql import errors as failures
from phaseline.store.sqlite import copied_store as new_file
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite.backup import fill, make_private, raise_if_damaged
from phaseline.store.sqlite.restore import raise_if_missing
from phaseline.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from phaseline.ports.clock import Clock
    from phaseline.store.sqlite.database_file import FileConnection

COMMAND = "phaseline store copy"
"""Command under which other processes see the owner of a store that is being copied."""


class _ReportingSource:
    """A source whose errors are raised as problems of its own store, and not as those of the target."""

    def __init__(self, db: CopySource, connections: Connections) -> None:
        self._db, self._connections = db, connections

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows of a statement."""
        with Problems(self._connections):
            yield from self._db.stream(statement)

    def last_number(self, table: str) -> int:
        """Return the highest number that was ever given to a row of a table; 0 if there was none."""
        with Problems(self._connections):
            return self._db.last_number(table)


def copy(source_url: str, target_url: str, clock: Clock, notice: Callable[[str], None]) -> CopiedStore:
    """Copy the store at one URL to another one, where no store is yet; it gets a new incarnation. The source stays.

    No other process can own the source meanwhile. Only a complete copy can be opened. ``notice`` receives messages,
    such as that the source was upgraded. Raises: PL-S004 if a process owns the source or the target, PL-S017
    if there is a store at the target or if the source was changed meanwhile, and the problems of opening both stores.
    """
    for url in (source_url, target_url):
        if url == MEMORY:
            text = "a store in memory cannot be copied: it is gone when its command ends"
            raise problem_error("PL-S008", text, "name a file, such as sqlite:///PATH, or the URL of a database")
    with closing(_open(source_url, clock)) as source:
        for text in source.notices:
            notice(text)
        with source.own(COMMAND):
            return _copied(source, target_url, clock.now())


def _open(url: str, clock: Clock) -> SqlStore:
    if url.startswith(DATABASE_PREFIXES):
        return cast("SqlStore", open_store(url, clock, makes=False))
    return SqliteStore.open_to_copy(file_of(url), clock)


def _copied(source: SqlStore, target_url: str, now: int) -> CopiedStore:
    tables: dict[str, int] = {}
    identity, version = source.identity(), source.version()
    with source.snapshot() as db:
        raise_if_newer(db, source.path)
        rows = _ReportingSource(db, source.connections)

        def fill_target(target: CopyTarget) -> None:
            tables.update(copy_all(rows, target))
            if source.version() != version:
                raise failures.changed_meanwhile(source.path)

        try:
            target, waiting = _receive(target_url, identity, fill_target, f"copied from {source.path}", now)
        except UncopiedRowsError as error:
            raise failures.copied_wrongly(source.path, error) from error
    return CopiedStore(source.path, target, sum(tables.values()), tables, waiting)


def _receive(
    url: str, identity: str, fill_target: Callable[[CopyTarget], None], cause: str, now: int
) -> tuple[str, int]:
    """Return (the target's path or shown URL, number of executions that wait)."""
    if url.startswith(DATABASE_PREFIXES):
        require_driver()
        from phaseline.store.postgres import copied_store
        from phaseline.store.postgres.url import shown

        return shown(url), copied_store.receive(url, identity, fill_target, cause, now)
    path = str(file_of(url).resolve())
    return path, new_file.receive(path, identity, fill_target, cause, now)


def restore_into_database(source: str, url: str, now: int) -> RestoredStore:
    """Replace the store in a database by the backup in a file. The present store is moved to another schema.

    ``source``: a path, or the URL of this store if its database was set back by the tools of the server: then the store
    only gets a new incarnation. Raises: PL-S014 if ``source`` is not a backup, PL-S002 if a newer version wrote it,
    PL-S004 while an engine runs, PL-S005 while other processes use the store. After each of these, nothing has changed.
    """
    require_driver()
    from phaseline.store.postgres import copied_store

    if source == url:
        return copied_store.restore_in_place(url, now)
    raise_if_missing(source)
    try:
        with _backup(source) as rows:
            return copied_store.restore(url, lambda db: copy_all(rows, db), f"restored from {source}", now)
    except (sqlite3.Error, UncopiedRowsError) as error:
        raise failures.cannot_restore(source, str(error)) from error


@contextmanager
def _backup(source: str) -> Iterator[FileConnection]:
    """Yield a connection to the file of a backup, or to an upgraded copy of it if its tables are of an earlier version."""
    with closing(file.open_looker(source, leaves_nothing=True)) as db:
        version = _version(db, source)
        if version >= SCHEMA_VERSION:
            raise_if_newer(db, source)
            db.execute("begin")
            raise_if_damaged(db)
            yield db
            return
        with tempfile.TemporaryDirectory(prefix="phaseline-") as folder:
            part = f"{folder}/store.db"
            make_private(part)
            fill(db, part)
            from phaseline.store.migrations import upgrade

            upgrade(part)
            with closing(file.open_looker(part)) as upgraded:
                yield upgraded


def _version(db: FileConnection, source: str) -> int:
    """Return the version of the tables. Raises: PL-S014 for a file that is no store, PL-S002 for a newer one."""
    try:
        version = file.version_of(db, source)
    except ProblemsError as error:
        if error.problems[0].code == "PL-S002":
            raise
        raise failures.cannot_restore(source, error.problems[0].message) from error
    if not version:
        raise failures.cannot_restore(source, "the file is not a Phaseline store")
    return version
