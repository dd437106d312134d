"""Actions that are forbidden of single nodes and instances, from the command line, with real functions (spec of hooks, section 11)."""

import pytest
from tests.cli.terminal import Terminal
from tests.cli.test_stack_actions import BLUEPRINT, Shop

OWN = BLUEPRINT.replace(BLUEPRINT.split("\n", 1)[0], "tosca_definitions_version: phaseline_dsl_1_0")


@pytest.fixture
def shop(terminal: Terminal) -> Shop:
    return Shop(terminal)


def restrict(shop: Shop, *words: str) -> None:
    assert shop.do("instances", "restrict", "-d", "shop", *words) == 0, shop.last.output
    assert shop.calls() == []


def refused(shop: Shop, *words: str) -> str:
    """What is said where a command and its plan are refused; nothing was called, and no execution was made."""
    before = len(shop.terminal.ask("executions", "list", "-d", "shop")[1]["executions"])
    assert shop.do(*words) == 1
    assert "PL-P049" in shop.last.stderr
    assert shop.calls() == []
    assert len(shop.terminal.ask("executions", "list", "-d", "shop")[1]["executions"]) == before
    return shop.last.stderr


def test_h_who_must_not_be_deleted_stays_until_that_is_lifted(shop: Shop) -> None:
    restrict(shop, "db", "web", "--forbid", "delete")
    said = refused(shop, "uninstall", "-d", "shop")
    assert "'db' must not be taken away" in said
    assert "'web' must not be taken away" in said
    assert "phaseline instances restrict db -d NAME --lift" in said
    refused(shop, "plan", "uninstall", "-d", "shop")
    assert shop.do("instances", "show", min(shop.instances())) == 0
    assert "  forbidden    delete\n" in shop.last.stdout
    refused(shop, "executions", "start", "scale", "-d", "shop", "-p", "scalable_entity_name=web", "-p", "delta=-1")
    assert shop.do("executions", "start", "scale", "-d", "shop", "-p", "scalable_entity_name=web") == 0
    assert shop.do("executions", "start", "reinstall", "-d", "shop", "-p", "node_ids=db") == 0
    shop.calls()
    restrict(shop, "db", "web", "--lift")
    assert shop.do("uninstall", "-d", "shop") == 0


def test_h_of_one_instance_only_that_one_is_refused(shop: Shop) -> None:
    first, second = sorted(id for id in shop.instances() if id.startswith("web"))
    restrict(shop, first, "--forbid", "delete")
    scale = ("executions", "start", "scale", "-d", "shop", "-p", "scalable_entity_name=web", "-p", "delta=-1", "-p")
    said = refused(shop, *scale, f"include_instances={first}")
    assert (first in said, second in said) == (True, False)
    assert shop.do(*scale, f"include_instances={second}") == 0
    assert first in shop.instances()


def test_h_who_must_not_be_replaced_is_not_made_anew_by_whatever_would(shop: Shop) -> None:
    restrict(shop, "db", "web", "--forbid", "replace")
    refused(shop, "executions", "start", "reinstall", "-d", "shop")
    refused(shop, "executions", "start", "heal", "-d", "shop", "-p", "force_reinstall=true")
    other = shop.write(
        BLUEPRINT.replace("  db:\n    type: shop.Machine", "  db:\n    type: shop.Other").replace(
            "node_templates:", "  shop.Other: {derived_from: shop.Machine}\nnode_templates:"
        )
    )
    said = refused(shop, "deployments", "update", "shop", other, "--allow-replace")
    assert "'db' must not be replaced" in said
    refused(shop, "plan", "update", "-d", "shop", other)


def test_h_a_heal_mends_but_does_not_make_anew_who_must_not_be_replaced(shop: Shop) -> None:
    restrict(shop, "web", "--forbid", "replace")
    first = min(id for id in shop.instances() if id.startswith("web"))
    shop.do("instances", "mark-unhealthy", first)
    before = shop.instances()
    assert shop.do("executions", "start", "heal", "-d", "shop") == 1
    assert "PL-P049" in shop.last.output + shop.last.stderr
    assert not {"stop web", "delete web", "create web"} & set(shop.calls())
    assert shop.instances() == before
    restrict(shop, "web", "--lift")
    assert shop.do("executions", "start", "heal", "-d", "shop") == 0
    assert "create web" in shop.calls()


def test_h_who_must_not_be_updated_is_left_as_it_is_and_others_are_updated(shop: Shop) -> None:
    restrict(shop, "db", "--forbid", "update")
    other = shop.write(BLUEPRINT.replace("properties: {size: 2}", "properties: {size: 3}"))
    assert "'db' must not be updated" in refused(shop, "deployments", "update", "shop", other)
    more = shop.write(BLUEPRINT.replace("default_instances: 2", "default_instances: 3"), "more.yaml")
    assert shop.do("deployments", "update", "shop", more) == 0
    assert len(shop.instances()) == 4
    shop.calls()
    assert "'db' must not be updated" in refused(shop, "deployments", "update", "shop", other)


def test_h_a_blueprint_says_it_and_a_person_says_otherwise(shop: Shop) -> None:
    own = OWN.replace("properties: {size: 2}", "properties: {size: 2}\n    restricted_actions: [delete, replace]")
    assert shop.do("deployments", "update", "shop", shop.write(own)) == 0, shop.last.output
    shop.calls()
    refused(shop, "uninstall", "-d", "shop")
    restrict(shop, "db", "--lift")
    assert shop.do("plan", "uninstall", "-d", "shop") == 0
    restrict(shop, "db", "--as-blueprint")
    refused(shop, "uninstall", "-d", "shop")
    assert shop.do("deployments", "update", "shop", shop.write(OWN)) == 0, shop.last.output
    assert shop.do("uninstall", "-d", "shop") == 0


def test_h_words_and_names_that_there_are_not_are_told_at_once(shop: Shop) -> None:
    assert shop.do("instances", "restrict", "-d", "shop", "db", "--forbid", "delet") == 1
    assert "did you mean 'delete'?" in shop.last.stderr
    assert shop.do("instances", "restrict", "-d", "shop", "oven", "--forbid", "delete") == 1
    assert shop.do("instances", "restrict", "-d", "shop", "db") == 2
    own = OWN.replace("properties: {size: 2}", "properties: {size: 2}\n    restricted_actions: [delet, burn]")
    assert shop.do("plan", "install", shop.write(own)) == 1
    assert shop.last.stderr.count("PL-B129") == 2
    assert shop.do("plan", "install", shop.write(own.replace("phaseline_dsl_1_0", "cloudify_dsl_1_4"))) == 1
