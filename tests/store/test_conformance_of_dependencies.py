"""What every store promises (DependencyShelf, DP5): records of what deployments read of one another."""

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.dependencies import ConsumerDependencies, ConsumerRecord, Dependency
from phaseline.model.rows.rows import ForgottenDeployment, PlannerWrites, TurnPayload

BY_NAME = Dependency("capability", "nodes.web.properties.ip", '{"get_capability": ["net", "ip"]}', "net")
LATE = Dependency("capability", "outputs.late", '{"get_capability": [{"get_secret": "x"}, "ip"]}')
OTHER = Dependency("capability", "outputs.other", '{"get_capability": ["db", "ip"]}', "db")


@pytest.fixture
def store(reopen):
    return reopen()


def made(store, name, *dependencies):
    """Store a deployment with these records, and return its number."""
    with store.own("test"):
        return store.create_deployment(altered(a.deployment(name), dependencies=dependencies))[0]


def test_dp5_they_are_stored_with_their_deployment(store, reopen):
    number = made(store, "app", BY_NAME, LATE)
    assert store.dependencies.of(number) == [BY_NAME, LATE]
    assert store.dependencies.of(number + 1) == []
    store.close()
    assert reopen().dependencies.of(number) == [BY_NAME, LATE]


def test_dp5_it_is_known_whether_there_are_any(store):
    assert not store.has_dependencies
    number = made(store, "app", BY_NAME)
    assert store.has_dependencies
    assert store.of("default_tenant").has_dependencies
    assert not store.of("other").has_dependencies
    store.dependencies.replace(number, [])
    assert not store.has_dependencies


def test_dp5_consumers_are_found_by_the_name_of_their_provider_even_if_it_is_made_later(store):
    app, shop = made(store, "app", OTHER, BY_NAME), made(store, "shop", BY_NAME)
    net = made(store, "net")
    found = [ConsumerRecord(app, "app", BY_NAME), ConsumerRecord(shop, "shop", BY_NAME)]
    assert (store.dependencies.on(net), store.dependencies.count_on(net)) == (found, 2)
    assert store.dependencies.on(app) == []


def test_dp5_a_computed_provider_is_found_by_its_number(store):
    net = made(store, "net")
    late = LATE._replace(number=net)
    app = made(store, "app", BY_NAME, late)
    assert store.dependencies.on(net) == [ConsumerRecord(app, "app", BY_NAME), ConsumerRecord(app, "app", late)]
    assert store.dependencies.count_on(net) == 1


def test_dp5_they_come_in_pages_of_consumers(store):
    net = made(store, "net")
    numbers = [made(store, f"app{at}", BY_NAME, BY_NAME._replace(creator="outputs.ip")) for at in range(5)]
    first = store.dependencies.on(net, limit=2)
    assert [one.consumer for one in first] == [numbers[0]] * 2 + [numbers[1]] * 2
    assert {one.consumer for one in store.dependencies.on(net, after=numbers[1], limit=10)} == {*numbers[2:]}


def test_dp5_deleted_deployments_neither_read_nor_are_read(store):
    net, app = made(store, "net"), made(store, "app", BY_NAME)
    made(store, "shop", BY_NAME)
    store.delete_deployment(app)
    assert [one.name for one in store.dependencies.on(net)] == ["shop"]
    store.delete_deployment(net)
    assert (store.dependencies.on(net), store.dependencies.count_on(net)) == ([], 0)


def test_dp5_a_deployment_is_no_consumer_of_itself(store):
    net = made(store, "net", BY_NAME)
    store.dependencies.replace(net, [BY_NAME, LATE._replace(number=net)])
    assert (store.dependencies.on(net), store.dependencies.count_on(net)) == ([], 0)


def test_dp5_they_are_replaced_as_a_whole(store):
    number = made(store, "app", BY_NAME, LATE)
    store.dependencies.replace(number, [OTHER])
    assert store.dependencies.of(number) == [OTHER]
    store.dependencies.replace(number, [])
    assert store.dependencies.of(number) == []


def test_dp5_a_turn_of_the_engine_replaces_them(store):
    net, app = made(store, "net"), made(store, "app", BY_NAME)
    rows = (ConsumerDependencies(app, (LATE._replace(number=net),)),)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(written=PlannerWrites(dependencies=rows))))
    assert store.dependencies.of(app) == [LATE._replace(number=net)]
    assert [one.name for one in store.dependencies.on(net)] == ["app"]


def test_dp5_those_of_an_abandoned_deployment_do_not_count(store):
    net, app = made(store, "net"), made(store, "app", BY_NAME)
    gone = ForgottenDeployment(app, 0, "ann")
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(written=PlannerWrites(forgotten=(gone,)))))
    assert store.dependencies.count_on(net) == 0


def test_dp5_a_purge_takes_those_of_deployments_that_are_gone(store):
    number = made(store, "app", BY_NAME)
    store.delete_deployment(number)
    a.purge(store, 10**15)
    assert store.dependencies.of(number) == []


def test_dp5_two_tenants_may_have_a_provider_of_the_same_name(store):
    mine, other = store.of("default_tenant"), store.of("other")
    with store.own("test"):
        net, _ = mine.create_deployment(a.deployment("net"))
        theirs, _ = other.create_deployment(a.deployment("net"))
        mine.create_deployment(altered(a.deployment("app"), dependencies=(BY_NAME,)))
    assert [one.name for one in mine.dependencies.on(net)] == ["app"]
    assert (other.dependencies.on(theirs), other.dependencies.on(net)) == ([], [])
