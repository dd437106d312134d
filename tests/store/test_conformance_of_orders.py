"""What every store promises about writing several things as one, and about orders that have a request id."""

import threading
from collections.abc import Callable

import numpy as np
import pytest
from tests.store import builders as a

from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources.resources import OutgrownError, ResourceAddition, no_resources, type_node
from phaseline.model.rows.orders import GivenBeforeError, GivenOrder, NewOrder
from phaseline.model.rows.rows import Actor, NewDeployment, RequestKind
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
BOB = Actor("bob", "blue")


def order(id: str = "r-1", *, at: int = 1_000, actor: Actor = BOB, keeps_from: int = 0) -> NewOrder:
    return NewOrder(id, f"digest of {id}", at, actor, keeps_from)


def cluster(store: Store, name: str) -> int:
    empty = no_resources()
    return store.create_deployment(
        NewDeployment(name, empty.blueprint, {}, empty, CodeLocation(""), a.ANN, 5, kind="resources")
    )[0]


def disks(first: int = 0) -> ResourceAddition:
    return ResourceAddition(first, [type_node("Disk", ("Disk",))], ["d1"], np.zeros(1, np.int32), {first: {"Size": 3}})


def test_an_order_is_found_with_what_was_made_in_its_transaction(reopen: Reopen) -> None:
    store = reopen()
    store.create_deployment(a.deployment("before"), a.execution(), asks=True)
    given = order()
    with store.as_one(given) as answer:
        _, row = store.create_deployment(a.deployment("shop"), a.execution(), asks=True)
        number = store.ask(RequestKind.STOP, 0, {}, BOB)
        answer["names"] = ["ä", None]
    assert row is not None
    assert given.is_stored
    (asked,) = [one.number for one in store.requests_of(row.number)]
    found = reopen().orders.find(BOB, "r-1")
    assert found == GivenOrder("r-1", "digest of r-1", 1_000, (asked, number), (row.id,), {"names": ["ä", None]})


def test_an_order_may_cause_nothing(reopen: Reopen) -> None:
    store = reopen()
    with store.as_one(order()) as answer:
        answer["execution"] = "install-1"
    found = reopen().orders.find(BOB, "r-1")
    assert found is not None
    assert (found.requests, found.executions, found.answer) == ((), (), {"execution": "install-1"})


def test_an_order_belongs_to_its_user_and_tenant(store: Store) -> None:
    with store.as_one(order()):
        pass
    assert store.orders.find(Actor("ann", "blue"), "r-1") is None
    assert store.orders.find(Actor("bob", "red"), "r-1") is None
    with store.as_one(order(actor=Actor("bob", "red"))):
        pass
    assert store.orders.count() == 2


def test_an_order_is_given_once_and_the_second_one_writes_nothing(store: Store) -> None:
    with store.as_one(order()):
        store.ask(RequestKind.STOP, 0, {}, BOB)
    again = order()
    with pytest.raises(GivenBeforeError) as caught, store.as_one(again):
        store.ask(RequestKind.STOP, 0, {}, BOB)
    assert caught.value.given == store.orders.find(BOB, "r-1")
    assert not again.is_stored
    assert len(store.requests()) == 1


def test_of_two_who_give_an_order_at_once_one_carries_it_out(store: Store) -> None:
    together = threading.Barrier(2)
    found: list[object] = []

    def give() -> None:
        together.wait()
        try:
            with store.as_one(order()):
                found.append(store.ask(RequestKind.STOP, 0, {}, BOB))
        except GivenBeforeError as error:
            found.append(error.given.requests)

    threads = [threading.Thread(target=give) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (asked,) = [row.number for row in store.requests()]
    assert sorted(found, key=str) == [(asked,), asked]


def test_nothing_is_stored_of_what_is_written_as_one_and_fails(reopen: Reopen) -> None:
    store = reopen()
    number, run = a.installed(store)
    before = [row.number for row in store.requests()]
    given = order()

    def write() -> None:
        with store.as_one(given):
            store.ask(RequestKind.CANCEL, run, {}, BOB)
            store.create_deployment(a.deployment("other"), a.execution(), asks=True)
            store.create_execution(a.execution(number))

    with pytest.raises(ProblemsError) as caught:
        write()
    assert caught.value.problems[0].code == "PL-C016"
    assert not given.is_stored
    store = reopen()
    assert store.orders.find(BOB, "r-1") is None
    assert store.deployment("other") is None
    assert [row.number for row in store.executions()] == [run]
    assert [row.number for row in store.requests()] == before


def test_what_is_made_after_a_failure_is_not_taken_for_what_failed(store: Store) -> None:
    shop = a.deployment("shop")

    def write() -> None:
        with store.as_one():
            store.create_deployment(shop)
            raise OutgrownError

    with pytest.raises(OutgrownError):
        write()
    other = a.deployment("other", apps=9)
    number, _ = store.create_deployment(other)
    assert store.topology(number).ids == other.topology.ids
    assert [row.name for row in store.deployments()] == ["other"]


def test_a_part_that_fails_and_is_caught_leaves_the_others(reopen: Reopen) -> None:
    store = reopen()
    number, run = a.installed(store)
    with store.as_one(order()):
        first = store.ask(RequestKind.CANCEL, run, {}, BOB)
        with pytest.raises(ProblemsError):
            store.create_execution(a.execution(number))
        last = store.ask(RequestKind.WAKE, run, {}, BOB)
    found = reopen().orders.find(BOB, "r-1")
    assert found is not None
    assert found.requests == (first, last)
    assert [row.number for row in reopen().requests()][-2:] == [first, last]


def test_growths_of_two_clusters_are_one(reopen: Reopen) -> None:
    store = reopen()
    first, second = cluster(store, "one"), cluster(store, "two")

    def write() -> None:
        with store.as_one():
            store.grow(first, disks(), a.ANN)
            store.grow(second, disks(first=7), a.ANN)

    with pytest.raises(OutgrownError):
        write()
    store = reopen()
    assert [len(store.topology(number)) for number in (first, second)] == [0, 0]
    assert store.documents(first) == {}
    with store.as_one(order()):
        store.grow(first, disks(), a.ANN)
        store.grow(second, disks(), a.ANN)
    store = reopen()
    assert [len(store.topology(number)) for number in (first, second)] == [1, 1]
    assert store.documents(second) == {0: {"Size": 3}}


def test_without_an_order_what_is_written_as_one_may_lie_within_another(store: Store) -> None:
    with store.as_one(order()):
        with store.as_one():
            store.ask(RequestKind.STOP, 0, {}, BOB)
        store.ask(RequestKind.STOP, 0, {}, BOB)
    found = store.orders.find(BOB, "r-1")
    assert found is not None
    assert len(found.requests) == 2


def twice(store: Store, name: str) -> None:
    with store.as_one():
        store.create_deployment(a.deployment(name))
        store.create_deployment(a.deployment(name))


def test_bb1_what_lies_within_another_one_is_undone_by_itself(store: Store) -> None:
    """A part of a turn that is refused leaves the rest of the turn as it is; also if nothing was written before it."""
    for before in ([], [a.deployment("before")]):
        with store.as_one():
            for new in before:
                store.create_deployment(new)
            with pytest.raises(ProblemsError):
                twice(store, "refused")
            with store.as_one():
                store.create_deployment(a.deployment(f"after{len(before)}"))
    assert [row.name for row in store.deployments()] == ["after0", "after1", "before"]


def test_an_owner_writes_as_one_and_goes_on_committing(owned: Store) -> None:
    number, run = a.installed(owned)
    with owned.as_one(order()):
        owned.ask(RequestKind.CANCEL, run, {}, BOB)
    owned.commit(a.turn(60))
    assert owned.executions(number)
    assert owned.orders.count() == 1


def test_orders_older_than_the_next_one_keeps_are_forgotten(store: Store) -> None:
    for id, at in (("old", 1_000), ("young", 5_000)):
        with store.as_one(order(id, at=at)):
            pass
    assert store.orders.find(BOB, "old", since=1_001) is None, "it counts no more, though it is still there"
    with store.as_one(order("new", at=9_000, keeps_from=2_000)):
        pass
    assert store.orders.count() == 2
    assert store.orders.find(BOB, "old") is None
    assert store.orders.find(BOB, "young") is not None


def test_an_id_may_be_given_anew_after_its_time(store: Store) -> None:
    with store.as_one(order(at=1_000)):
        pass
    with store.as_one(order(at=9_000, keeps_from=2_000)):
        store.ask(RequestKind.STOP, 0, {}, BOB)
    found = store.orders.find(BOB, "r-1")
    assert found is not None
    assert (found.at, len(found.requests)) == (9_000, 1)


def test_an_order_outlives_the_execution_that_it_began(reopen: Reopen) -> None:
    store = reopen()
    with store.as_one(order()):
        number, row = store.create_deployment(a.deployment("shop"), a.execution(), asks=True)
    assert row is not None
    a.end(store, row.number)
    store.delete_deployment(number)
    a.purge(store, 10**15)
    found = reopen().orders.find(BOB, "r-1")
    assert found is not None
    assert found.executions == (row.id,)
