"""Secrets as the store keeps them: nothing in it can be read without the master key."""

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
    """Storage of secrets. Any process may write; every method is one transaction."""

    def all(self) -> Sequence[SecretRow]:
        """By name."""
        ...

    def find(self, name: str) -> SecretRow | None:
        """Return the one of this name, or None."""
        ...

    def put(self, row: SecretRow) -> bool:
        """Replace the previous version; False if the stored version is another one (for version 1: if there is any)."""
        ...

    def delete(self, name: str) -> bool:
        """Return False if there was none."""
        ...

    def data_keys(self) -> Mapping[str, WrappedKey]:
        """Return {purpose: data key} of everything else that is encrypted."""
        ...

    def add_key(self, purpose: str, key: WrappedKey) -> WrappedKey:
        """Store and return the data key of a purpose; if one is stored already, return that one."""
        ...

    def rewrap(self, rewrapped: Callable[[str, str, WrappedKey], WrappedKey]) -> int:
        """Replace all data keys, all or none; how many. ``rewrapped`` is given ``secret`` or ``purpose``, its name, and the key."""
        ...
