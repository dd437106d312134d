"""Sealed values: runtime properties and results that contain a secret are stored encrypted.

Plugins get back what they wrote; readers of the store see a seal. A plugin's own text that looks like a seal is
sealed itself, so that a stored seal cannot be opened by passing it in.
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
    """The value with everything encrypted in it that has known values ``within``; the same object if that is nothing.

    A mapping is encrypted whole when one of its keys is such a text. What was known of a text is kept with it, so that it
    is known again where the text is opened.
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
    """The value, whatever it is, encrypted as a whole together with what is ``known`` of it."""
    clear = json.dumps([value, known]).encode()
    return SEAL + base64.b64encode(encrypt(clear, key, stands_for)).decode()


def unsealed(value: Value, key: Callable[[], bytes], stands_for: str, told: Callable[[Value], None]) -> Value:
    """The value with its seals opened, and the secrets in it; the same object if there are no seals.

    Raises ``CannotOpen``.
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
