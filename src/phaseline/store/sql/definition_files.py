"""Definition files of plugins in a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.packages.installed import StoredDefinition
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import content_files as kept

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection


class SqlDefinitions:
    """Definition files in a database: the methods of the port ``DefinitionShelf``."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows

    def all(self) -> Sequence[StoredDefinition]:
        """Return the versions of all plugins, sorted by name and version."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        with self._reading() as db:
            rows = db.execute(
                "select name, version, path, content from definition_file where tenant = ? order by name, version, path",
                (self._rows.named,),
            )
            for name, version, path, digest in rows:
                found.setdefault((name, version), {})[path] = digest
        return [StoredDefinition(*key, files) for key, files in found.items()]

    def add(self, new: StoredDefinition, contents: Mapping[str, bytes]) -> None:
        """Store a version; one of the same name and version is replaced as a whole."""
        packed = kept.packed(contents)
        with self._writing() as db:
            replaced = _delete(db, self._rows.named, new.name, new.version)
            kept.add(db, list(new.files.values()), packed, self._rows)
            db.executemany(
                "insert into definition_file values (?, ?, ?, ?, ?)",
                ((self._rows.named, new.name, new.version, path, digest) for path, digest in new.files.items()),
            )
            if replaced:
                kept.collect(db)

    def remove(self, name: str, version: str) -> bool:
        """Remove a version and the contents that only it uses; return False if there was none."""
        with self._writing() as db:
            is_found = _delete(db, self._rows.named, name, version)
            if is_found:
                kept.collect(db)
            return is_found

    def content(self, digest: str) -> bytes:
        """Return the content with this digest. Raises: LookupError if it is not stored."""
        with self._reading() as db:
            return kept.read(db, digest, self._rows)


def _delete(db: Connection, tenant: str, name: str, version: str) -> bool:
    gone = db.execute(
        "delete from definition_file where tenant = ? and name = ? and version = ? returning path",
        (tenant, name, version),
    )
    return bool(gone.fetchall())
