"""Definition files of plugins in a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.packages.installed import StoredDefinition
from phaseline.model.rows.rows import Actor
from phaseline.store.sql import content_files as kept

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection

TENANT = Actor("").tenant
"""The only tenant that exists so far."""


class SqlDefinitions:
    """Definition files in a database: the methods of the port ``DefinitionShelf``."""

    def __init__(self, reading: Connect, writing: Connect) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing

    def all(self) -> Sequence[StoredDefinition]:
        """Return the versions of all plugins, sorted by name and version."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        with self._reading() as db:
            rows = db.execute("select name, version, path, content from definition_file order by name, version, path")
            for name, version, path, digest in rows:
                found.setdefault((name, version), {})[path] = digest
        return [StoredDefinition(*key, files) for key, files in found.items()]

    def add(self, new: StoredDefinition, contents: Mapping[str, bytes]) -> None:
        """Store a version; one of the same name and version is replaced as a whole."""
        packed = kept.packed(contents)
        with self._writing() as db:
            replaced = _delete(db, new.name, new.version)
            kept.add(db, list(new.files.values()), packed)
            db.executemany(
                "insert into definition_file values (?, ?, ?, ?, ?)",
                ((TENANT, new.name, new.version, path, digest) for path, digest in new.files.items()),
            )
            if replaced:
                kept.collect(db)

    def remove(self, name: str, version: str) -> bool:
        """Remove a version and the contents that only it uses; return False if there was none."""
        with self._writing() as db:
            is_found = _delete(db, name, version)
            if is_found:
                kept.collect(db)
            return is_found

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        with self._reading() as db:
            return kept.read(db, digest)


def _delete(db: Connection, name: str, version: str) -> bool:
    gone = db.execute(
        "delete from definition_file where tenant = ? and name = ? and version = ? returning path",
        (TENANT, name, version),
    )
    return bool(gone.fetchall())
