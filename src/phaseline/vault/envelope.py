"""Envelopes: a text is encrypted by a data key of its own, the data key by the master key, both with AES-256-GCM.

Each ciphertext is bound to what it stands for, so that rows of the store cannot be swapped without being noticed.
"""

from __future__ import annotations

import os

KEY_BYTES = 32
NONCE_BYTES = 12
"""The nonce length of GCM; a new nonce for each encryption. One key encrypts far fewer than 2^32 texts."""


class CannotOpen(ValueError):
    """The key is wrong, or the encrypted text was changed."""


def new_key() -> bytes:
    """A random key."""
    return os.urandom(KEY_BYTES)


def encrypt(clear: bytes, key: bytes, stands_for: str) -> bytes:
    """The nonce and the ciphertext with its tag."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, clear, stands_for.encode())


def decrypt(sealed: bytes, key: bytes, stands_for: str) -> bytes:
    """What was encrypted for this purpose. Raises ``CannotOpen``."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], stands_for.encode())
    except (InvalidTag, ValueError) as error:
        raise CannotOpen(stands_for) from error
