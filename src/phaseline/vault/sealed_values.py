"""Sealed values: parts of runtime properties and results that contain a secret are encrypted in the store.

Plugins get back what they wrote; readers of the store see the encrypted text, the seal. If a plugin writes a text that
looks like a seal, the text is sealed too, so that passing in a stored seal does not decrypt it.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, cast

from phaseline.model.deployment.sealed_values import SEAL
from phaseline.vault.envelope import CannotOpen, decrypt, encrypt

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.model.blueprint.blueprint import Value


def sealed(value: Value, within: Callable[[object], list[str]], key: Callable[[], bytes], stands_for: str) -> Value:
    """Return the value with all parts encrypted in which ``within`` finds known secrets.

    If no part has any, return the same object. A mapping is encrypted whole if one of its keys contains a secret. The
    secrets found in a part are encrypted with it, so that they become known again when the part is decrypted.
    """
    if isinstance(value, dict) and not any(within(name) for name in value):
        changed = {name: sealed(item, within, key, stands_for) for name, item in value.items()}
        return changed if any(changed[name] is not item for name, item in value.items()) else value
    if isinstance(value, list):
        items = [sealed(item, within, key, stands_for) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    found = [text for name in value for text in within(name)] if isinstance(value, dict) else within(value)
    if found or (isinstance(value, str) and value.startswith(SEAL)):
        return seal(value, found, key(), stands_for)
    return value


def seal(value: Value, known: list[str], key: bytes, stands_for: str) -> str:
    """Encrypt the value as a whole, together with the secrets ``known`` to be in it."""
    clear = json.dumps([value, known]).encode()
    return SEAL + base64.b64encode(encrypt(clear, key, stands_for)).decode()


def unsealed(value: Value, key: Callable[[], bytes], stands_for: str, told: Callable[[Value], None]) -> Value:
    """Return the value with its seals decrypted; without seals, return the same object.

    ``told`` is called with the secrets in each seal. Raises ``CannotOpen``.
    """
    if isinstance(value, dict):
        changed = {name: unsealed(item, key, stands_for, told) for name, item in value.items()}
        return changed if any(changed[name] is not item for name, item in value.items()) else value
    if isinstance(value, list):
        items = [unsealed(item, key, stands_for, told) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, str) and value.startswith(SEAL):
        try:
            coded = base64.b64decode(value[len(SEAL) :], validate=True)
        except (binascii.Error, ValueError) as error:
            raise CannotOpen(stands_for) from error
        clear, known = cast("list[Value]", json.loads(decrypt(coded, key(), stands_for)))
        told(known)
        return clear
    return value
