"""What every store promises (SecretShelf): rows as they were given, versions that follow one another, all keys replaced or none."""

from collections.abc import Callable

import pytest

from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.model.rows.secrets import SecretRow, WrappedKey
from phaseline.ports.store import Store

Reopen = Callable[[], Store]


def secret(name: str, version: int = 1, body: bytes = b"\0\xff") -> SecretRow:
    return SecretRow(name, version, body, WrappedKey(b"key of " + name.encode(), "m1"), 5, "ann", 6, "bob")


def test_b41_a_secret_is_found_as_it_was_stored(reopen: Reopen) -> None:
    store = reopen()
    assert store.secrets.put(secret("b"))
    assert store.secrets.put(secret("a"))
    store = reopen()
    assert store.secrets.find("b") == secret("b")
    assert store.secrets.find("B") is None
    assert [row.name for row in store.secrets.all()] == ["a", "b"]
    assert list(store.check()) == []


def test_b41_a_version_takes_the_place_of_the_one_before_it_and_of_no_other(store: Store) -> None:
    assert not store.secrets.put(secret("a", 2))
    assert store.secrets.put(secret("a"))
    assert not store.secrets.put(secret("a", body=b"other"))
    assert store.secrets.put(secret("a", 2, b"new"))
    assert not store.secrets.put(secret("a", 2, b"late"))
    found = store.secrets.find("a")
    assert found is not None
    assert (found.version, found.body) == (2, b"new")


def test_b41_a_deleted_secret_may_be_made_anew(store: Store) -> None:
    store.secrets.put(secret("a"))
    assert store.secrets.delete("a")
    assert not store.secrets.delete("a")
    assert store.secrets.find("a") is None
    assert store.secrets.put(secret("a"))


def test_b41_of_two_keys_for_one_purpose_the_first_holds(reopen: Reopen) -> None:
    store = reopen()
    first, second = WrappedKey(b"1", "m1"), WrappedKey(b"2", "m1")
    assert store.secrets.add_key("seals", first) == first
    assert store.secrets.add_key("seals", second) == first
    assert reopen().secrets.data_keys() == {"seals": first}


def test_b41_all_keys_are_replaced(reopen: Reopen) -> None:
    store = reopen()
    store.secrets.put(secret("a"))
    store.secrets.put(secret("b"))
    store.secrets.add_key("seals", WrappedKey(b"s", "m1"))
    told = []

    def rewrapped(tenant: str, kind: str, name: str, key: WrappedKey) -> WrappedKey:
        told.append((tenant, kind, name))
        return WrappedKey(key.wrapped + b"!", "m2")

    assert store.secrets.rewrap(rewrapped) == 3
    assert sorted(told) == [("", "purpose", "seals"), (DEFAULT_TENANT, "secret", "a"), (DEFAULT_TENANT, "secret", "b")]
    store = reopen()
    assert {row.key for row in store.secrets.all()} == {WrappedKey(b"key of a!", "m2"), WrappedKey(b"key of b!", "m2")}
    assert store.secrets.data_keys() == {"seals": WrappedKey(b"s!", "m2")}


def test_b41_a_key_that_cannot_be_replaced_leaves_all_as_they_are(store: Store) -> None:
    store.secrets.put(secret("a"))
    store.secrets.put(secret("b"))

    def rewrapped(_tenant: str, _kind: str, name: str, key: WrappedKey) -> WrappedKey:
        if name == "b":
            raise ZeroDivisionError
        return WrappedKey(key.wrapped, "m2")

    with pytest.raises(ZeroDivisionError):
        store.secrets.rewrap(rewrapped)
    assert [row.key.master for row in store.secrets.all()] == ["m1", "m1"]


def test_b41_secrets_are_written_whoever_owns_the_store(owned: Store) -> None:
    assert owned.secrets.put(secret("a"))
    assert owned.secrets.find("a") == secret("a")
