"""Envelope encryption: each text has its own data key, and the master key encrypts the data key (AES-256-GCM).

Each ciphertext is bound to its purpose (``stands_for``), so that swapping rows of the store makes decryption fail.
"""

from __future__ import annotations

import os

KEY_BYTES = 32
NONCE_BYTES = 12
"""Length in bytes of the nonce of GCM. Each encryption uses a new random nonce.

This is safe because one key encrypts far fewer than 2^32 texts.
"""


class CannotOpen(ValueError):
    """Raised when the key is wrong or the encrypted text was changed."""


def new_key() -> bytes:
    """Return a new random key."""
    return os.urandom(KEY_BYTES)


def encrypt(clear: bytes, key: bytes, stands_for: str) -> bytes:
    """Return the nonce followed by the ciphertext with its tag. ``stands_for``: the purpose to which they are bound."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, clear, stands_for.encode())


def decrypt(sealed: bytes, key: bytes, stands_for: str) -> bytes:
    """Return the text that ``encrypt`` has encrypted for the same purpose. Raises ``CannotOpen``."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], stands_for.encode())
    except (InvalidTag, ValueError) as error:
        raise CannotOpen(stands_for) from error
