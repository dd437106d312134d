"""Secrets in the store in memory: encrypted as in a file, and lost when the process ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.secrets import SecretRow, WrappedKey


class MemorySecrets:
    """Secrets in a store in memory: the methods of the port ``SecretShelf``."""

    def __init__(self, changing: Callable[[], AbstractContextManager[object]]) -> None:
        """``changing``: a context in which no other thread uses the stored data."""
        self._changing = changing
        self._rows: dict[str, SecretRow] = {}
        self._keys: dict[str, WrappedKey] = {}

    def all(self) -> Sequence[SecretRow]:
        """Return all secrets, sorted by name."""
        rows = self._rows
        return [rows[name] for name in sorted(rows)]

    def find(self, name: str) -> SecretRow | None:
        """Return the secret with this name, or None."""
        return self._rows.get(name)

    def put(self, row: SecretRow) -> bool:
        """Store a secret in place of its former version.

        Return False if it is not the next version after the stored one.
        """
        with self._changing():
            before = self._rows.get(row.name)
            if row.version != (1 if before is None else before.version + 1):
                return False
            self._rows = {**self._rows, row.name: row}
            return True

    def delete(self, name: str) -> bool:
        """Delete a secret. Return False if no secret has this name."""
        with self._changing():
            rows = dict(self._rows)
            found = rows.pop(name, None)
            self._rows = rows
            return found is not None

    def data_keys(self) -> Mapping[str, WrappedKey]:
        """Return {purpose: the encrypted data key for it}."""
        return dict(self._keys)

    def add_key(self, purpose: str, key: WrappedKey) -> WrappedKey:
        """Store a data key for a purpose unless the purpose has one; return the stored key."""
        with self._changing():
            return self._keys.setdefault(purpose, key)

    def rewrap(self, rewrapped: Callable[[str, str, WrappedKey], WrappedKey]) -> int:
        """Replace every data key by the result of ``rewrapped``, all or none; return their number."""
        with self._changing():
            rows = {name: altered(row, key=rewrapped("secret", name, row.key)) for name, row in self._rows.items()}
            keys = {purpose: rewrapped("purpose", purpose, key) for purpose, key in self._keys.items()}
            self._rows, self._keys = rows, keys
            return len(rows) + len(keys)
