"""Secrets as the store keeps them; they cannot be read without the master key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from phaseline.lang.fast_dataclasses import frozen


@frozen
class WrappedKey:
    """A data key, encrypted by the master key whose id is ``master``."""

    wrapped: bytes
    master: str


@frozen
class SecretRow:
    """A stored secret: ``body`` is its text, encrypted by its own data key. Times in ms; ``version`` counts from 1."""

    name: str
    version: int
    body: bytes
    key: WrappedKey
    created_at: int
    created_by: str
    updated_at: int
    updated_by: str


class SecretShelf(Protocol):
    """Storage of a tenant's secrets. Any process may write; every method is one transaction.

    Data keys for other purposes belong to the whole store.
    """

    def all(self) -> Sequence[SecretRow]:
        """Return all secrets by name."""
        ...

    def find(self, name: str) -> SecretRow | None:
        """Return the secret with this name, or None."""
        ...

    def put(self, row: SecretRow) -> bool:
        """Replace the previous version of a secret.

        Return False if another version is stored (for version 1: any version).
        """
        ...

    def delete(self, name: str) -> bool:
        """Delete a secret. Return False if there is none with this name."""
        ...

    def data_keys(self) -> Mapping[str, WrappedKey]:
        """Return {purpose: data key} for everything else that is encrypted."""
        ...

    def add_key(self, purpose: str, key: WrappedKey) -> WrappedKey:
        """Store and return the data key of a purpose. If one is already stored, return the stored key."""
        ...


class AllSecrets(SecretShelf, Protocol):
    """The secrets of a whole store. Names are those of the default tenant."""

    def rewrap(self, rewrapped: Callable[[str, str, str, WrappedKey], WrappedKey]) -> int:
        """Replace the data keys of all tenants in one transaction and return their number.

        ``rewrapped`` receives the tenant (empty for a purpose), ``secret`` or ``purpose``, the name of that, and the
        key; it returns the new key.
        """
        ...
