"""Secrets in the store in memory: encrypted as in a file, and lost when the process ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.secrets import SecretRow, WrappedKey


class MemorySecrets:
    """Secrets in a store in memory: the methods of the port ``SecretShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        tenant: str,
        whole: MemorySecrets | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._tenant = tenant
        self.rows: dict[tuple[str, str], SecretRow] = {} if whole is None else whole.rows
        """{(tenant, name): secret} of all tenants."""
        self.keys: dict[str, WrappedKey] = {} if whole is None else whole.keys
        """{purpose: data key} of the store."""

    def all(self) -> Sequence[SecretRow]:
        """Return all secrets, sorted by name."""
        found = [row for (tenant, _), row in list(self.rows.items()) if tenant == self._tenant]
        return sorted(found, key=lambda row: row.name)

    def find(self, name: str) -> SecretRow | None:
        """Return the secret with this name, or None."""
        return self.rows.get((self._tenant, name))

    def put(self, row: SecretRow) -> bool:
        """Store a secret in place of its former version.

        Return False if it is not the next version after the stored one.
        """
        with self._changing():
            before = self.rows.get((self._tenant, row.name))
            if row.version != (1 if before is None else before.version + 1):
                return False
            self.rows[self._tenant, row.name] = row
            return True

    def delete(self, name: str) -> bool:
        """Delete a secret. Return False if no secret has this name."""
        with self._changing():
            return self.rows.pop((self._tenant, name), None) is not None

    def data_keys(self) -> Mapping[str, WrappedKey]:
        """Return {purpose: the encrypted data key for it}."""
        return dict(self.keys)

    def add_key(self, purpose: str, key: WrappedKey) -> WrappedKey:
        """Store a data key for a purpose unless the purpose has one; return the stored key."""
        with self._changing():
            return self.keys.setdefault(purpose, key)

    def rewrap(self, rewrapped: Callable[[str, str, str, WrappedKey], WrappedKey]) -> int:
        """Replace every data key of all tenants by the result of ``rewrapped``, all or none; return their number."""
        with self._changing():
            rows = {
                (tenant, name): altered(row, key=rewrapped(tenant, "secret", name, row.key))
                for (tenant, name), row in self.rows.items()
            }
            keys = {purpose: rewrapped("", "purpose", purpose, key) for purpose, key in self.keys.items()}
            self.rows.update(rows)
            self.keys.update(keys)
            return len(rows) + len(keys)
