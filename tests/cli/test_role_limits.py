"""Limits of roles that packages bring: looked at by everything that brings a deployment to a number of instances (spec section 8)."""

import json

import pytest
from tests.cli.terminal import Terminal
from tests.cli.test_packages import asked, package, refused, run

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web:
    type: cloudify.nodes.Root
    capabilities: {{scalable: {{properties: {{default_instances: {count}}}}}}}
  db: {{type: cloudify.nodes.Root}}
"""
ROLES = """\
web:
  name: Web
  description: x
  limits:
    min: 1
    max: 3
    recommended: 2
    overrides:
    - {condition: "settings:lma.server.value == 'small'", max: 2, message: A small server bears two.}
"""
SCALE = ("-d", "shop", "-p", "scalable_entity_name=web", "-p")
TOO_MANY = "4 instances have the role 'web' of lma-1.0.1, at most 3 may"


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    """A terminal with an installed deployment of two web servers, for which a package with limits is enabled."""
    blueprint(terminal, 2)
    run(terminal, "plugins", "install", package(terminal.folder, "lma", node_roles=ROLES))
    run(terminal, "deployments", "create", "blueprint.yaml", "-d", "shop")
    run(terminal, "deployments", "plugins", "enable", "shop", "lma")
    run(terminal, "executions", "start", "install", "-d", "shop")
    return terminal


def blueprint(terminal: Terminal, count: int) -> None:
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT.format(count=count))


def counted(terminal: Terminal) -> int:
    """How many executions there are."""
    return len(asked(terminal, "executions", "list", "-d", "shop")["executions"])


def test_a_scale_beyond_the_limits_is_refused_before_anything_is_stored_and_so_is_its_plan(shop: Terminal) -> None:
    for words in (("plan", "scale"), ("executions", "start", "scale")):
        (problem,) = json.loads(run(shop, *words, *SCALE, "delta=2", "--json", code=1))["problems"]
        assert (problem["code"], problem["message"]) == ("PL-F069", TOO_MANY)
        assert "change the number of instances" in problem["mend"]
    assert counted(shop) == 1
    run(shop, "executions", "start", "scale", *SCALE, "delta=1")
    assert refused(shop, "executions", "start", "scale", *SCALE, "delta=-3") == ["PL-F069"]


def test_an_update_beyond_the_limits_is_refused_before_a_plan_is_kept(shop: Terminal) -> None:
    blueprint(shop, 4)
    for words in (("plan", "update", "-d", "shop"), ("deployments", "update", "shop")):
        (problem,) = json.loads(run(shop, *words, "blueprint.yaml", "--json", code=1))["problems"]
        assert (problem["code"], problem["message"]) == ("PL-F069", TOO_MANY)
    assert asked(shop, "plans", "list")["plans"] == []
    blueprint(shop, 3)
    run(shop, "deployments", "update", "shop", "blueprint.yaml")


def test_settings_that_make_a_limit_narrower_are_refused_and_their_limit_holds_afterwards(shop: Terminal) -> None:
    enable = ("deployments", "plugins", "enable", "shop", "lma", "--set", "server=small")
    run(shop, "executions", "start", "scale", *SCALE, "delta=1")
    (problem,) = json.loads(run(shop, *enable, "--json", code=1))["problems"]
    assert (problem["code"], problem["mend"]) == ("PL-F069", "A small server bears two.")
    run(shop, "executions", "start", "scale", *SCALE, "delta=-1")
    run(shop, *enable)
    assert refused(shop, "executions", "start", "scale", *SCALE, "delta=1") == ["PL-F069"]


def test_fewer_than_recommended_is_a_warning_of_the_plan_and_of_the_start(shop: Terminal) -> None:
    said = "1 instance has the role 'web' of lma-1.0.1, 2 are recommended"
    assert said in run(shop, "plan", "scale", *SCALE, "delta=-1")
    result = shop.run("executions", "start", "scale", *SCALE, "delta=-1")
    assert result.exit_code == 0
    assert "warning PL-F069" in result.stderr
    assert said in result.stderr
    result = shop.run("executions", "start", "scale", "-d", "shop", "-p", "scalable_entity_name=db", "-p", "delta=1")
    assert (result.exit_code, said in result.stderr) == (0, True), "told, and not held against another role"


def test_an_install_in_the_place_of_another_keeps_to_what_is_enabled_for_that(shop: Terminal) -> None:
    run(shop, "uninstall", "-d", "shop")
    blueprint(shop, 4)
    for words in (("plan", "install"), ("install",)):
        assert refused(shop, *words, "blueprint.yaml", "-d", "shop") == ["PL-F069"]


def test_a_kept_plan_is_not_carried_out_beyond_limits_that_are_narrower_by_now(shop: Terminal) -> None:
    asked(shop, "plan", "scale", *SCALE, "delta=1", "--save")
    run(shop, "deployments", "plugins", "enable", "shop", "lma", "--set", "server=small")
    (plan,) = asked(shop, "plans", "list")["plans"]
    assert refused(shop, "plans", "apply", plan["id"]) == ["PL-F069"]
