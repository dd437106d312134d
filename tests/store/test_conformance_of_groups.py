"""What every store promises (GroupShelf): deployment groups and their members (GR1, GR11)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.groups import GroupMember, GroupRow, NewGroup
from phaseline.model.rows.rows import Actor
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
BOB = Actor("bob")
SHOPS = NewGroup("shops", "all of them", "/x/shop.yaml", ("/x/plugins",), {"port": 80, "tags": ["a"]}, ("env=prod",))


def made(store: Store, new: NewGroup = SHOPS) -> GroupRow:
    row = store.groups.create(new, BOB)
    assert row is not None
    return row


def deployments(store: Store, *names: str) -> list[int]:
    return [store.create_deployment(a.deployment(name))[0] for name in names]


def names(store: Store, row: GroupRow) -> list[str]:
    return [member.name for member in store.groups.members(row)]


def test_gr1_a_group_is_kept_whole(reopen: Reopen) -> None:
    store = reopen()
    row = made(store)
    told = ("shops", "all of them", "/x/shop.yaml", ("/x/plugins",), {"port": 80, "tags": ["a"]}, ("env=prod",))
    assert row == GroupRow(row.number, *told, 0, 0, row.created_at, "bob")
    store = reopen()
    assert store.groups.find("shops") == row
    assert store.groups.find("shop") is None
    assert store.groups.all() == [row]


def test_gr1_a_name_is_given_once_and_numbers_never_twice(reopen: Reopen) -> None:
    store = reopen()
    row = made(store)
    assert store.groups.create(NewGroup("shops"), BOB) is None
    assert store.groups.remove(row)
    assert not store.groups.remove(row)
    assert made(store).number > row.number


def test_gr1_groups_are_sorted_by_name(reopen: Reopen) -> None:
    store = reopen()
    for name in ("c", "a", "b"):
        made(store, NewGroup(name))
    assert [row.name for row in store.groups.all()] == ["a", "b", "c"]


def test_gr1_members_join_once_and_leave(reopen: Reopen) -> None:
    store = reopen()
    row, numbers = made(store), deployments(store, "c", "a", "b")
    assert store.groups.join(row, numbers[:2], made=2) == 2
    assert store.groups.join(row, [*numbers, numbers[2]]) == 1
    assert store.groups.members(row) == [
        GroupMember(numbers[1], "a"), GroupMember(numbers[2], "b"), GroupMember(numbers[0], "c"),
    ]  # fmt: skip
    assert reopen().groups.find("shops") == altered(row, made_count=2, member_count=3)
    assert store.groups.leave(row, [numbers[0], 99]) == 1
    assert names(store, row) == ["a", "b"]


def test_gr1_what_does_not_exist_does_not_join(reopen: Reopen) -> None:
    store = reopen()
    row, (number, gone) = made(store), deployments(store, "a", "b")
    store.delete_deployment(gone, a.ANN)
    for wrong in ([number, 99], [number, gone]):
        with pytest.raises(LookupError):
            store.groups.join(row, wrong)
    assert names(store, row) == []
    store.groups.remove(row)
    with pytest.raises(LookupError):
        store.groups.join(row, [number])
    with pytest.raises(LookupError):
        store.groups.leave(row, [number])
    assert store.groups.members(row) == []


def test_gr1_a_deployment_is_in_several_groups(reopen: Reopen) -> None:
    store = reopen()
    (number,) = deployments(store, "a")
    for name in ("shops", "all"):
        store.groups.join(made(store, NewGroup(name)), [number])
    assert store.groups.groups_of(number) == ["all", "shops"]
    assert store.groups.groups_of(99) == []


def test_gr11_a_deleted_deployment_is_in_no_group(reopen: Reopen) -> None:
    store = reopen()
    row, (first, second) = made(store), deployments(store, "a", "b")
    store.groups.join(row, [first, second])
    store.delete_deployment(first, a.ANN)
    found = store.groups.find("shops")
    assert found is not None
    assert (found.member_count, names(store, row), store.groups.groups_of(first)) == (1, ["b"], [])


def test_gr11_a_deleted_group_leaves_its_members(reopen: Reopen) -> None:
    store = reopen()
    row, numbers = made(store), deployments(store, "a", "b")
    store.groups.join(row, numbers)
    store.groups.remove(row)
    assert [one.name for one in reopen().deployments()] == ["a", "b"]
    assert names(store, made(store)) == []
