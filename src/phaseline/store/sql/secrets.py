"""Secrets in SQLite; their rows are unreadable without the master key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from phaseline.model.rows.secrets import SecretRow, WrappedKey
    from phaseline.store.database.connection import Connect

_COLUMNS = "name, version, body, data_key, master_key, created_at, created_by, updated_at, updated_by"


class SqliteSecrets:
    """Secrets in a SQLite file: the methods of the port ``SecretShelf``."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows

    def all(self) -> Sequence[SecretRow]:
        """Return all secrets, sorted by name."""
        with self._reading() as db:
            rows = db.execute(f"select {_COLUMNS} from secret where tenant = ? order by name", (self._rows.named,))
            return [_row(*row) for row in rows]

    def find(self, name: str) -> SecretRow | None:
        """Return the secret with this name, or None."""
        tenant = self._rows.named
        with self._reading() as db:
            rows = db.execute(f"select {_COLUMNS} from secret where tenant = ? and name = ?", (tenant, name))
            return next((_row(*row) for row in rows), None)

    def put(self, row: SecretRow) -> bool:
        """Store a secret in place of its former version.

        Return False if its version is not the next one after the stored version.
        """
        tenant = self._rows.named
        values = (
            row.version,
            row.body,
            row.key.wrapped,
            row.key.master,
            row.created_at,
            row.created_by,
            row.updated_at,
            row.updated_by,
        )
        with self._writing() as db:
            if row.version == 1:
                statement = """insert into secret (tenant, name, version, body, data_key, master_key, created_at,
                    created_by, updated_at, updated_by) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    on conflict (tenant, name) do nothing"""
                return db.execute(statement, (tenant, row.name, *values)).rowcount == 1
            statement = """update secret set version = ?, body = ?, data_key = ?, master_key = ?, created_at = ?,
                created_by = ?, updated_at = ?, updated_by = ? where tenant = ? and name = ? and version = ?"""
            return db.execute(statement, (*values, tenant, row.name, row.version - 1)).rowcount == 1

    def delete(self, name: str) -> bool:
        """Delete a secret. Return False if no secret has this name."""
        values = self._rows.named, name
        with self._writing() as db:
            return db.execute("delete from secret where tenant = ? and name = ?", values).rowcount == 1

    def data_keys(self) -> Mapping[str, WrappedKey]:
        """Return {purpose: the encrypted data key for it}."""
        with self._reading() as db:
            return {
                purpose: _key(wrapped, master)
                for purpose, wrapped, master in db.execute("select purpose, wrapped, master_key from data_key")
            }

    def add_key(self, purpose: str, key: WrappedKey) -> WrappedKey:
        """Store a data key for a purpose unless the purpose has one; return the stored key."""
        with self._writing() as db:
            db.execute(
                """insert into data_key (purpose, wrapped, master_key) values (?, ?, ?)
                on conflict (purpose) do nothing""",
                (purpose, key.wrapped, key.master),
            )
            found = db.execute("select wrapped, master_key from data_key where purpose = ?", (purpose,)).fetchone()
            return _key(*found)

    def rewrap(self, rewrapped: Callable[[str, str, str, WrappedKey], WrappedKey]) -> int:
        """Replace every data key of all tenants by the result of ``rewrapped``, all or none; return their number."""
        with self._writing() as db:
            secrets = db.execute("select name, data_key, master_key, tenant from secret").fetchall()
            for name, wrapped, master, tenant in secrets:
                key = rewrapped(tenant, "secret", name, _key(wrapped, master))
                statement = "update secret set data_key = ?, master_key = ? where tenant = ? and name = ?"
                db.execute(statement, (key.wrapped, key.master, tenant, name))
            others = db.execute("select purpose, wrapped, master_key from data_key").fetchall()
            for purpose, wrapped, master in others:
                key = rewrapped("", "purpose", purpose, _key(wrapped, master))
                statement = "update data_key set wrapped = ?, master_key = ? where purpose = ?"
                db.execute(statement, (key.wrapped, key.master, purpose))
            return len(secrets) + len(others)


def _row(
    name: str,
    version: int,
    body: bytes,
    wrapped: bytes,
    master: str,
    created_at: int,
    created_by: str,
    updated_at: int,
    updated_by: str,
) -> SecretRow:
    from phaseline.model.rows.secrets import SecretRow

    key = _key(wrapped, master)
    return SecretRow(name, version, body, key, created_at, created_by, updated_at, updated_by)


def _key(wrapped: bytes, master: str) -> WrappedKey:
    from phaseline.model.rows.secrets import WrappedKey  # most stores hold no secret

    return WrappedKey(wrapped, master)
