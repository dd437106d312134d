"""Definition files of plugins, in all stores alike (RF9)."""

from __future__ import annotations

from hashlib import sha256

import pytest

from phaseline.model.packages.installed import StoredDefinition
from phaseline.ports.store import Store

ONE, OTHER = b"plugins: {}\n", b"node_types: {}\n"


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def put(store: Store, name: str, version: str, **files: bytes) -> StoredDefinition:
    row = StoredDefinition(name, version, {f"{file}.yaml": digest(content) for file, content in files.items()})
    store.definitions.add(row, {digest(content): content for content in files.values()})
    return row


def test_rf9_definitions_are_in_the_store_by_name_and_version(store: Store) -> None:
    assert list(store.definitions.all()) == []
    second = put(store, "acme", "2.0", plugin=OTHER)
    first = put(store, "acme", "1.0", plugin=ONE, plugin_1_4=OTHER)
    before = put(store, "Zeta", "1", plugin=ONE)
    assert list(store.definitions.all()) == [before, first, second], "capital letters come first, as in Python"
    assert store.definitions.content(digest(ONE)) == ONE


def test_a_version_is_replaced_as_a_whole_and_its_contents_go(store: Store) -> None:
    put(store, "acme", "1.0", plugin=ONE, plugin_1_4=OTHER)
    newer = put(store, "acme", "1.0", plugin=OTHER)
    assert list(store.definitions.all()) == [newer]
    with pytest.raises(LookupError):
        store.definitions.content(digest(ONE))


def test_a_removed_version_leaves_the_contents_that_others_have(store: Store) -> None:
    put(store, "acme", "1.0", plugin=ONE)
    other = put(store, "other", "1.0", plugin=ONE, more=OTHER)
    assert store.definitions.remove("acme", "1.0")
    assert not store.definitions.remove("acme", "1.0")
    assert list(store.definitions.all()) == [other]
    assert store.definitions.content(digest(ONE)) == ONE
    assert store.definitions.remove("other", "1.0")
    for content in (ONE, OTHER):
        with pytest.raises(LookupError):
            store.definitions.content(digest(content))


def test_a_version_whose_content_is_neither_given_nor_stored_is_not_stored(store: Store) -> None:
    with pytest.raises(LookupError):
        store.definitions.add(StoredDefinition("acme", "1.0", {"plugin.yaml": digest(ONE)}), {})
    assert list(store.definitions.all()) == []
