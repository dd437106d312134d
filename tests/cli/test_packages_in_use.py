"""What a package of our own format brings can be used: types that blueprints import, their code, phases (issue 7)."""

import json
import shutil
from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import write_pair
from tests.cli.terminal import Terminal

METADATA = """\
name: acme
title: Acme
version: {version}
description: Doors
package_version: 10.0.0
types: [types.yaml]
phases: [phases]
python: {{paths: [python]}}
is_hotpluggable: true
"""
TYPES = """\
tosca_definitions_version: cloudify_dsl_1_4
plugins: {acme: {executor: central_deployment_agent, install: false}}
node_types:
  acme.Door:
    derived_from: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle: {create: acme.acme_doors.create}
"""
CODE = """\
from phaseline import operation


@operation(repeatable=True)
def create(item):
    item.runtime_properties["made_by"] = "VERSION"
"""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, 'plugin:acme']
node_templates: {front: {type: acme.Door}}
outputs: {made_by: {value: {get_attribute: [front, made_by]}}}
"""


def acme(folder: Path, version: str = "1.0.0") -> str:
    where = folder / "acme"
    shutil.rmtree(where, ignore_errors=True)
    (where / "python").mkdir(parents=True)
    (where / "metadata.yaml").write_text(METADATA.format(version=version))
    (where / "types.yaml").write_text(TYPES)
    (where / "python/acme_doors.py").write_text(CODE.replace("VERSION", version))
    write_pair(where / "phases", "create", {})
    return str(where)


def ok(terminal: Terminal, *words: str) -> str:
    result = terminal.run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def made_by(terminal: Terminal, name: str) -> str:
    return terminal.ask("deployments", "outputs", name)[1]["outputs"]["made_by"]


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    ok(terminal, "plugins", "install", acme(terminal.folder))
    return terminal


def test_a_blueprint_imports_the_types_of_an_installed_package_and_its_code_is_called(shop: Terminal) -> None:
    ok(shop, "install", "blueprint.yaml", "-d", "shop")
    assert made_by(shop, "shop") == "1.0.0"
    shown = json.loads(ok(shop, "plugins", "show", "acme", "--json"))
    assert (shown["imported_by"], shown["enabled_in"]) == (["shop"], [])
    code, found = shop.ask("plugins", "remove", "acme==1.0.0")
    assert (code, found["problems"][0]["code"]) == (1, "PL-F065")
    ok(shop, "uninstall", "-d", "shop")


def test_f37_an_update_brings_its_code_to_those_who_use_it(shop: Terminal) -> None:
    ok(shop, "deployments", "create", "blueprint.yaml", "-d", "shop")
    ok(shop, "plugins", "update", acme(shop.folder, "1.0.1"))
    ok(shop, "executions", "start", "install", "-d", "shop")
    assert made_by(shop, "shop") == "1.0.1"


def test_an_update_names_the_deployments_that_it_serves_now(shop: Terminal) -> None:
    ok(shop, "deployments", "create", "blueprint.yaml", "-d", "shop")
    assert "deployments plugins enable NAME acme==1.0.1" in ok(shop, "plugins", "update", acme(shop.folder, "1.0.1"))
    ok(shop, "deployments", "plugins", "enable", "shop", "acme")
    told = ok(shop, "plugins", "update", acme(shop.folder, "1.0.2"))
    assert "enabled for shop, from the next execution on" in told
    assert "NAME" not in told


def test_a_version_can_be_asked_for(shop: Terminal) -> None:
    ok(shop, "plugins", "install", acme(shop.folder, "1.1.0"))
    text = BLUEPRINT.replace("plugin:acme", "plugin:acme?version=<1.1")
    (shop.folder / "older.yaml").write_text(text)
    for file, version in (("older.yaml", "1.0.0"), ("blueprint.yaml", "1.1.0")):
        ok(shop, "install", file, "-d", version.replace(".", "-").replace("1-", "v1-", 1))
        assert made_by(shop, version.replace(".", "-").replace("1-", "v1-", 1)) == version


def test_files_that_are_lost_are_laid_out_again(shop: Terminal) -> None:
    ok(shop, "deployments", "create", "blueprint.yaml", "-d", "shop")
    laid_out = Path(shop.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///") + ".packages")
    shutil.rmtree(laid_out)
    ok(shop, "executions", "start", "install", "-d", "shop")
    assert made_by(shop, "shop") == "1.0.0"


def test_a_store_that_was_moved_finds_its_packages(shop: Terminal) -> None:
    ok(shop, "deployments", "create", "blueprint.yaml", "-d", "shop")
    store = Path(shop.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///"))
    moved = store.with_name("moved.db")
    store.rename(moved)
    shutil.rmtree(Path(f"{store}.packages"))
    shop.environment["PHASELINE_STORE_URL"] = f"sqlite:///{moved}"
    ok(shop, "executions", "start", "install", "-d", "shop")
    assert made_by(shop, "shop") == "1.0.0"


def test_its_phases_are_in_force_while_it_is_installed(shop: Terminal) -> None:
    assert "Acme.Create" in ok(shop, "phases", "list")
    ok(shop, "plugins", "remove", "acme==1.0.0")
    assert "Acme.Create" not in ok(shop, "phases", "list")


def test_f12_a_phase_that_is_wrong_is_told_by_the_check_of_its_package(shop: Terminal) -> None:
    write_pair(shop.folder / "acme/phases", "broken", {"Phase.Dependencies": "nobody.there"})
    code, found = shop.ask("plugins", "check", "acme")
    assert code == 1
    assert any("nobody.there" in problem["message"] for problem in found["problems"])


def test_what_is_enabled_stays_enabled_when_the_deployment_is_made_anew(shop: Terminal) -> None:
    ok(shop, "deployments", "create", "blueprint.yaml", "-d", "shop")
    ok(shop, "deployments", "plugins", "enable", "shop", "acme")
    ok(shop, "install", "blueprint.yaml", "-d", "shop")
    assert shop.ask("deployments", "plugins", "list", "shop")[1][0]["state"] == "enabled"
    ok(shop, "deployments", "plugins", "disable", "shop", "acme")
    assert shop.ask("deployments", "plugins", "list", "shop")[1][0]["state"] == "imported"


def test_an_update_to_a_blueprint_that_imports_its_types_finds_its_code(shop: Terminal) -> None:
    (shop.folder / "plain.yaml").write_text(
        BLUEPRINT.replace(", 'plugin:acme'", "").partition("node_templates")[0]
        + "node_templates: {base: {type: cloudify.nodes.Root}}\n"
    )
    ok(shop, "install", "plain.yaml", "-d", "shop")
    ok(shop, "deployments", "update", "shop", "blueprint.yaml")
    assert made_by(shop, "shop") == "1.0.0"
    assert shop.ask("deployments", "plugins", "list", "shop")[1][0]["state"] == "imported"


def test_a_kept_update_brings_the_packages_that_its_blueprint_imports_unless_they_are_others_by_then(
    shop: Terminal,
) -> None:
    plain = BLUEPRINT.replace(", 'plugin:acme'", "").partition("node_templates")[0]
    (shop.folder / "plain.yaml").write_text(plain + "node_templates: {base: {type: cloudify.nodes.Root}}\n")
    ok(shop, "install", "plain.yaml", "-d", "shop")
    ok(shop, "plan", "update", "-d", "shop", "blueprint.yaml", "--save")
    ok(shop, "plugins", "update", acme(shop.folder, "1.0.1"))
    code, found = shop.ask("plans", "apply", "plan-1")
    assert (code, [problem["code"] for problem in found["problems"]]) == (1, ["PL-C072"])
    assert "a package that the new blueprint imports was removed or replaced" in found["problems"][0]["message"]
    ok(shop, "plan", "update", "-d", "shop", "blueprint.yaml", "--save")
    ok(shop, "plans", "apply", "plan-2")
    assert made_by(shop, "shop") == "1.0.1"
    assert shop.ask("deployments", "plugins", "list", "shop")[1][0]["state"] == "imported"


def test_f36_tasks_of_what_is_enabled_before_run_in_the_install_that_makes_the_deployment_anew(shop: Terminal) -> None:
    tasks = "- {role: '*', stage: post_deployment/100, type: shell, parameters: {cmd: 'echo greeted', timeout: 20}}\n"
    Path(acme(shop.folder, "1.0.1"), "tasks.yaml").write_text(tasks)
    ok(shop, "plugins", "update", "acme")
    ok(shop, "deployments", "create", "blueprint.yaml", "-d", "shop")
    ok(shop, "deployments", "plugins", "enable", "shop", "acme")
    ok(shop, "install", "blueprint.yaml", "-d", "shop")
    assert "greeted" in ok(shop, "executions", "logs", "-d", "shop")


def test_f17_types_that_cannot_be_read_are_told_with_everything_else(shop: Terminal) -> None:
    where = Path(acme(shop.folder, "1.0.1"))
    (where / "types.yaml").write_text("node_types: {a: {derived_from: [}}\n")
    (where / "metadata.yaml").write_text((where / "metadata.yaml").read_text() + "requires_product: '>=99'\n")
    for command in ("check", "update"):
        code, found = shop.ask("plugins", command, "acme")
        assert (code, [problem["code"] for problem in found["problems"]]) == (1, ["PL-F066", "PL-B004"])
        assert found["problems"][1]["file"] == "types.yaml"


def test_what_an_update_replaced_is_gone_when_nobody_can_go_on_with_it(shop: Terminal) -> None:
    laid_out = Path(shop.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///") + ".packages")
    (shop.folder / "bad.yaml").write_text(
        BLUEPRINT.replace(
            "{type: acme.Door}", "{type: acme.Door, interfaces: {cloudify.interfaces.lifecycle: {start: bad.sh}}}"
        )
    )
    (shop.folder / "bad.sh").write_text("#!/bin/sh\nexit 127\n")
    assert shop.run("install", "bad.yaml", "-d", "bad").exit_code == 1
    ok(shop, "plugins", "update", acme(shop.folder, "1.0.1"))
    assert len(list(laid_out.iterdir())) == 2, "a retry of the install may need it"
    ok(shop, "deployments", "delete", "bad", "--force")
    ok(shop, "executions", "purge", "--older", "0m")
    assert len(list(laid_out.iterdir())) == 1


@pytest.mark.parametrize("process", ["", ", timeout: 30"], ids=["here", "worker"])
def test_a_name_that_the_package_gives_its_module_is_found(shop: Terminal, process: str) -> None:
    where = Path(acme(shop.folder, "1.1.0"))
    points = "python: {paths: [python], entry_points: {phaseline.operations: {doors: acme_doors}}}"
    metadata = (where / "metadata.yaml").read_text()
    (where / "metadata.yaml").write_text(metadata.replace("python: {paths: [python]}", points))
    called = f"{{create: {{implementation: acme.doors.create{process}}}}}"
    (where / "types.yaml").write_text(TYPES.replace("{create: acme.acme_doors.create}", called))
    ok(shop, "plugins", "install", str(where))
    ok(shop, "install", "blueprint.yaml", "-d", "shop")
    assert made_by(shop, "shop") == "1.1.0"
