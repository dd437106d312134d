"""Secrets as the store keeps them: nothing in it can be read without the master key."""

from __future__ import annotations

from phaseline.model.frozen import frozen


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
