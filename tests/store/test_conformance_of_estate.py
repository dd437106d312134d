"""Every store keeps saved filters and sites, and tells which deployments belong to which (LB3, LB5, LB10)."""

from __future__ import annotations

from collections.abc import Callable

from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import Label
from phaseline.model.rows.deployment_summaries import Kin
from phaseline.model.rows.estate import SavedFilter, SiteRow
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery, RowTest
from phaseline.ports.store import Store

ANN = a.ANN


def made(store: Store, name: str, site: str = "") -> int:
    number, _ = store.create_deployment(altered(a.deployment(name), site=site))
    return number


def test_lb3_filters_are_kept_by_list_and_name(reopen: Callable[[], Store]) -> None:
    store = reopen()
    first = SavedFilter("deployments", "prod", "[1]", 7, "")
    assert store.filters.add(first, ANN)
    assert not store.filters.add(SavedFilter("deployments", "prod", "[2]", 8, ""), ANN)
    assert store.filters.add(SavedFilter("blueprints", "prod", "[3]", 9, ""), ANN)
    store = reopen()
    assert store.filters.find("deployments", "prod") == SavedFilter("deployments", "prod", "[1]", 7, "ann")
    assert store.filters.find("deployments", "dev") is None
    assert [(one.noun, one.rules) for one in store.filters.all()] == [("blueprints", "[3]"), ("deployments", "[1]")]
    assert [one.noun for one in store.filters.all("blueprints")] == ["blueprints"]
    assert store.filters.remove("deployments", "prod")
    assert not store.filters.remove("deployments", "prod")
    assert [one.noun for one in store.filters.all()] == ["blueprints"]


def test_lb5_a_deployment_has_one_site_or_none(reopen: Callable[[], Store]) -> None:
    store = reopen()
    assert store.sites.add(SiteRow("munich", "48.1,11.5", 7, ""), ANN)
    assert not store.sites.add(SiteRow("munich", "", 8, ""), ANN)
    store.sites.add(SiteRow("berlin", "", 8, ""), ANN)
    shop, farm, bare = made(store, "shop", "munich"), made(store, "farm", "nowhere"), made(store, "bare")
    assert store.sites.put(farm, "berlin")
    assert not store.sites.put(farm, "nowhere")
    store = reopen()
    assert store.sites.of([shop, farm, bare]) == {shop: "munich", farm: "berlin"}
    assert store.listings.facts([shop, bare]).sites == {shop: "munich"}
    assert store.sites.move("munich", "1,2")
    assert not store.sites.move("nowhere", "1,2")
    assert store.sites.find("munich") == SiteRow("munich", "1,2", 7, "ann")
    assert store.sites.put(farm, "")
    assert store.sites.remove("munich")
    assert not store.sites.remove("munich")
    assert (store.sites.of([shop, farm]), [one.name for one in store.sites.all()]) == ({}, ["berlin"])


def test_lb10_families_are_those_of_living_deployments(store: Store) -> None:
    top, shop, gone = made(store, "top"), made(store, "shop"), made(store, "gone")
    store.labels.add(top, [Label("csys-obj-type", "environment")])
    store.labels.add(shop, [Label("csys-obj-parent", "top"), Label("csys-obj-type", "k8s")])
    store.labels.add(gone, [Label("csys-obj-parent", "top")])
    store.delete_deployment(gone, ANN)
    found = store.listings.facts([top])
    environment = Kin(top, "top", is_environment=True)
    assert [*found.kin] == [environment, Kin(shop, "shop", parents=("top",))]
    assert (found.checked, found.blueprint_ids, found.display_names) == (frozenset(), {}, {})


def test_lb1_labels_of_many_deployments_are_read_together(store: Store) -> None:
    shop, farm, bare = made(store, "shop"), made(store, "farm"), made(store, "bare")
    store.labels.add(shop, [Label("b", "2"), Label("a", "1")])
    store.labels.add(farm, [Label("a", "3")])
    found = store.labels.of_many([shop, bare, farm])
    assert found == {shop: [Label("a", "1"), Label("b", "2")], farm: [Label("a", "3")]}


def test_lb4_names_for_display_are_those_of_blueprints(store: Store) -> None:
    new = a.deployment("shop")
    shown = altered(new.blueprint, deployment_settings={"display_name": "The shop"})
    number, _ = store.create_deployment(altered(new, blueprint=shown, topology=altered(new.topology, blueprint=shown)))
    bare = made(store, "bare")
    assert store.listings.facts([number, bare], with_names=True).display_names == {number: "The shop"}
    for name, text in (("shop", "The shop"), ("bare", "bare")):
        checks = (RowTest("display_name", "is", text),)
        assert [row.name for row in store.listings.deployments(DeploymentQuery(checks=checks))] == [name]


def test_lb3_executions_are_found_by_checks_of_their_deployments(owned: Store) -> None:
    ids = {}
    for name in ("shop", "farm"):
        number = made(owned, name)
        owned.labels.add(number, [Label("env", name)])
        ids[name] = owned.create_execution(a.execution(number)).id
    for checks in ((RowTest("env", "is", "farm", is_label=True),), (RowTest("name", "starts", "fa"),)):
        query = ExecutionQuery(deployment_checks=checks)
        assert [row.id for row in owned.listings.executions(query)] == [ids["farm"]]
        assert owned.listings.count(query) == 1
    for test in (RowTest("deployment", "is", "farm"), RowTest("env", "is", "farm", is_label=True)):
        assert [row.id for row in owned.listings.executions(ExecutionQuery(checks=(test,)))] == [ids["farm"]]
