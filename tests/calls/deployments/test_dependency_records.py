"""DP5: the records that a turn writes."""

from __future__ import annotations

from tests.calls.deployments.estates import Estate

from phaseline.calls.deployments import dependency_records as made
from phaseline.calls.deployments.deployment_cache import DeploymentCache
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Output
from phaseline.model.rows.dependencies import Dependency
from phaseline.model.rows.rows import Reshaped

LATE = {"get_capability": [{"get_attribute": ["host", "where"]}, "x"]}
TEXT = '{"get_capability":[{"get_attribute":["host","where"]},"x"]}'


def test_dp5_a_function_gets_a_record_for_each_provider_that_it_has_read() -> None:
    estate = Estate()
    net, app = estate.add("net"), estate.add("app", outputs={"a": LATE, "b": LATE})
    blueprint = estate.store.blueprint(app.number)
    found = made.of_used(estate.store, blueprint, app.number, [(TEXT, net.number), (TEXT, net.number)])
    assert found is not None
    assert [(one.creator, one.number) for one in found.dependencies] == [
        ("outputs.a", net.number),
        ("outputs.b", net.number),
    ]
    estate.store.dependencies.replace(app.number, found.dependencies)
    assert made.of_used(estate.store, blueprint, app.number, [(TEXT, net.number)]) is None


def test_dp5_a_new_blueprint_keeps_the_providers_of_functions_that_stay() -> None:
    estate = Estate()
    net, app = estate.add("net"), estate.add("app", outputs={"a": LATE})
    topology = estate.store.topology(app.number)
    found = made.of_used(estate.store, topology.blueprint, app.number, [(TEXT, net.number)])
    assert found is not None
    estate.store.dependencies.replace(app.number, found.dependencies)
    outputs = {"new": Output(LATE), "plain": Output({"get_capability": ["net", "y"]})}
    after = altered(topology.blueprint, outputs=outputs)
    rows = made.of_reshaped(estate.store, Reshaped(app.number, topology, blueprint=after))
    assert rows is not None
    assert [(one.creator, one.provider, one.number) for one in rows.dependencies] == [
        ("outputs.new", "", net.number),
        ("outputs.plain", "net", 0),
    ]
    assert made.of_reshaped(estate.store, Reshaped(app.number, topology)) is None


def test_co3_what_an_instance_needs_stays_with_a_new_blueprint_and_at_the_end_of_an_execution() -> None:
    estate = Estate()
    net, app = estate.add("net"), estate.add("app", outputs={"a": LATE})
    need = Dependency("component", "nodes.host", number=net.number, instance="host_1")
    estate.store.dependencies.replace(app.number, [*estate.store.dependencies.of(app.number), need])
    topology = estate.store.topology(app.number)
    rows = made.of_reshaped(
        estate.store, Reshaped(app.number, topology, blueprint=altered(topology.blueprint, outputs={}))
    )
    assert rows is not None
    assert rows.dependencies == (need,)
    loaded = DeploymentCache(estate.store).loaded(app.number)
    assert made.at_end(estate.store, estate.store.of("default_tenant"), loaded) is None


def test_dp5_at_the_end_of_an_execution_the_computed_names_count_as_they_are_then() -> None:
    estate = Estate()
    one, two = estate.add("one"), estate.add("two")
    app = estate.add("app", outputs={"a": LATE})
    for row in (one, two):
        estate.write(app.number, 0, "where", row.name)
        loaded = DeploymentCache(estate.store).loaded(app.number)
        found = made.at_end(estate.store, estate.store.of("default_tenant"), loaded)
        assert found is not None
        assert [record.number for record in found.dependencies] == [row.number]
        estate.store.dependencies.replace(app.number, found.dependencies)
    estate.write(app.number, 0, "where", None)
    loaded = DeploymentCache(estate.store).loaded(app.number)
    assert made.at_end(estate.store, estate.store.of("default_tenant"), loaded) is None, "what is unknown now stays"
