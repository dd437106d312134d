"""What every store promises (BlueprintShelf): versions, content that is kept once, and protection of what is needed."""

import hashlib
from collections.abc import Callable

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.stored_blueprints import BlueprintUser, StoredBlueprint, StoredFile
from phaseline.model.problems.problem import ProblemsError
from phaseline.ports.store import Store

Reopen = Callable[[], Store]


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def add(
    store: Store, id: str, files: dict[str, bytes], *, imports: tuple[int, ...] = (), known: tuple[bytes, ...] = ()
) -> StoredBlueprint | None:
    whole = digest(repr(sorted(files.items())).encode())
    rows = [StoredFile(path, digest(body), len(body), path.endswith(".sh")) for path, body in files.items()]
    size = sum(map(len, files.values()))
    new = StoredBlueprint(0, id, 0, "blueprint.yaml", whole, "A shop", "cloudify_dsl_1_4", len(files), size, 7, "ann")
    contents = {digest(body): body for body in files.values() if body not in known}
    return store.stored_blueprints.add(new, rows, contents, imports)


def stored(store: Store, id: str, files: dict[str, bytes], imports: tuple[int, ...] = ()) -> StoredBlueprint:
    row = add(store, id, files, imports=imports)
    assert row is not None
    return row


def deploy(store: Store, name: str, uses: dict[str, int]) -> int:
    return store.create_deployment(altered(a.deployment(name), uses=uses))[0]


def test_b8_a_blueprint_is_found_as_it_was_stored(reopen: Reopen) -> None:
    store = reopen()
    row = stored(store, "shop", {"blueprint.yaml": b"v: 1", "scripts/a.sh": b"echo \0\xff"})
    assert (row.number > 0, row.version, str(row)) == (True, 1, "shop@1")
    store = reopen()
    assert store.stored_blueprints.find("shop") == row
    assert store.stored_blueprints.find("shop", 2) is None
    assert store.stored_blueprints.find("sho") is None
    files = store.stored_blueprints.files(row.number)
    assert [(file.path, file.size_bytes, file.is_executable) for file in files] == [
        ("blueprint.yaml", 4, False),
        ("scripts/a.sh", 7, True),
    ]
    assert [store.stored_blueprints.content(file.digest) for file in files] == [b"v: 1", b"echo \0\xff"]
    assert list(store.check()) == []


def test_b8_equal_files_are_the_same_version_and_others_the_next(store: Store) -> None:
    stored(store, "shop", {"blueprint.yaml": b"v: 1"})
    assert add(store, "shop", {"blueprint.yaml": b"v: 1"}) is None
    assert stored(store, "shop", {"blueprint.yaml": b"v: 2"}).version == 2
    assert stored(store, "shop", {"blueprint.yaml": b"v: 1"}).version == 3
    newest, first = store.stored_blueprints.find("shop"), store.stored_blueprints.find("shop", 1)
    assert newest is not None
    assert first is not None
    assert (newest.version, first.version) == (3, 1)
    stored(store, "a", {"blueprint.yaml": b"v: 1"})
    assert [str(row) for row in store.stored_blueprints.all()] == ["a@1", "shop@1", "shop@2", "shop@3"]
    assert [str(row) for row in store.stored_blueprints.all("a")] == ["a@1"]


def test_b8_what_is_in_a_file_is_given_and_kept_once(store: Store) -> None:
    body = b"x" * 10_000
    stored(store, "shop", {"blueprint.yaml": b"v: 1", "big": body})
    assert list(store.stored_blueprints.lacking([digest(body), digest(b"new")])) == [digest(b"new")]
    row = add(store, "other", {"blueprint.yaml": b"v: 2", "big": body}, known=(body,))
    assert row is not None
    assert store.stored_blueprints.content(digest(body)) == body
    with pytest.raises(LookupError):
        add(store, "third", {"blueprint.yaml": b"v: 3", "big": b"?"}, known=(b"?",))
    assert store.stored_blueprints.find("third") is None


def test_b8_what_a_deployment_needs_is_not_deleted(reopen: Reopen) -> None:
    store = reopen()
    shop, lib = stored(store, "shop", {"b": b"1"}), stored(store, "lib", {"b": b"2"})
    number = deploy(store, "web", {"": shop.number, "ns": lib.number})
    store = reopen()
    shelf = store.stored_blueprints
    assert shelf.of_deployment(number) == {"": shop, "ns": lib}
    needs = [BlueprintUser("deployment", "web")]
    assert list(shelf.delete([lib.number])) == needs == list(shelf.users([shop.number, lib.number]))
    assert shelf.find("lib") == lib
    store.delete_deployment(number)
    assert list(shelf.delete([lib.number])) == []
    assert shelf.find("lib") is None
    assert list(store.check()) == []


def test_b8_what_another_blueprint_imports_is_not_deleted_before_it(store: Store) -> None:
    lib = stored(store, "lib", {"b": b"2"})
    shop = stored(store, "shop", {"b": b"1"}, imports=(lib.number,))
    stored(store, "lib", {"b": b"3"})
    assert list(store.stored_blueprints.imports(shop.number)) == [lib]
    assert list(store.stored_blueprints.imports(lib.number)) == []
    assert list(store.stored_blueprints.delete([lib.number])) == [BlueprintUser("blueprint", "shop@1")]
    assert list(store.stored_blueprints.delete([lib.number, shop.number])) == []
    assert [str(row) for row in store.stored_blueprints.all()] == ["lib@2"]


def test_b8_what_is_in_a_file_goes_with_the_last_that_has_it(store: Store) -> None:
    first = stored(store, "shop", {"b": b"1", "c": b"same"})
    second = stored(store, "shop", {"b": b"2", "c": b"same"})
    store.stored_blueprints.delete([first.number])
    assert store.stored_blueprints.content(digest(b"same")) == b"same"
    with pytest.raises(LookupError):
        store.stored_blueprints.content(digest(b"1"))
    store.stored_blueprints.delete([second.number])
    with pytest.raises(LookupError):
        store.stored_blueprints.content(digest(b"same"))


def test_b8_nothing_is_made_of_a_blueprint_that_was_deleted_meanwhile(store: Store) -> None:
    row = stored(store, "shop", {"b": b"1"})
    store.stored_blueprints.delete([row.number])
    for attempt in (
        lambda: deploy(store, "web", {"": row.number}),
        lambda: stored(store, "other", {"b": b"2"}, imports=(row.number,)),
    ):
        with pytest.raises(ProblemsError) as caught:
            attempt()
        assert [problem.code for problem in caught.value.problems] == ["PL-C054"]
    assert store.deployment("web") is None
    assert stored(store, "shop", {"b": b"1"}).number != row.number


def test_b8_a_purge_takes_the_uses_of_a_deployment_with_it(store: Store) -> None:
    row = stored(store, "shop", {"b": b"1"})
    number = deploy(store, "web", {"": row.number})
    store.delete_deployment(number)
    a.purge(store, 10_000_000)
    assert list(store.check()) == []
    assert list(store.stored_blueprints.delete([row.number])) == []
