"""What is encrypted for one purpose opens with its key, for this purpose, unchanged; never otherwise."""

import pytest

from phaseline.vault.envelope import CannotOpen, decrypt, encrypt, new_key

CLEAR = "pässword".encode()


def test_b41_what_was_encrypted_is_had_back_with_the_key() -> None:
    key = new_key()
    first, second = encrypt(CLEAR, key, "a"), encrypt(CLEAR, key, "a")
    assert decrypt(first, key, "a") == CLEAR
    assert first != second
    assert CLEAR not in first


@pytest.mark.parametrize("change", ["key", "purpose", "bit", "short", "empty"])
def test_b41_nothing_is_opened_that_was_not_meant(change: str) -> None:
    key = new_key()
    sealed = encrypt(CLEAR, key, "a")
    changed = {
        "key": (sealed, new_key(), "a"),
        "purpose": (sealed, key, "b"),
        "bit": (sealed[:-1] + bytes([sealed[-1] ^ 1]), key, "a"),
        "short": (sealed[:20], key, "a"),
        "empty": (b"", key, "a"),
    }
    with pytest.raises(CannotOpen):
        decrypt(*changed[change])
