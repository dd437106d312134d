"""Blueprints that are kept in the store: what runs later is what was uploaded."""

import shutil
import tarfile
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, parts/more.yaml]
description: A shop
plugins: {made: {executor: central_deployment_agent, install: false}}
node_templates:
  web:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: made.made.create
        delete: made.made.create
"""
MORE = "inputs: {word: {default: hello}}\n"
MADE = """\
from phaseline import operation


@operation(repeatable=True)
def create(item):
    item.runtime_properties["said"] = "first"
"""
SAY = '#!/bin/sh\nctx instance runtime-properties said "first"\n'
LIBRARY = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_types:
  Said:
    derived_from: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: scripts/say.sh}}
"""
USER = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, 'lib--blueprint:library']
node_templates:
  web: {type: lib--Said}
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        file = folder / name.replace("__", "/").replace("_yaml", ".yaml").replace("_sh", ".sh").replace("_py", ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if file.suffix == ".sh":
            file.chmod(0o755)


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    """A terminal with a blueprint in a folder ``made``."""
    write(terminal.folder / "made", blueprint_yaml=BLUEPRINT, parts__more_yaml=MORE, plugins__made_py=MADE)
    return terminal


def said(terminal: Terminal, deployment: str) -> str:
    (row,) = terminal.ask("instances", "list", "-d", deployment)[1]["instances"]
    return str(terminal.ask("instances", "show", row["id"])[1]["runtime_properties"]["said"])


def work(terminal: Terminal) -> Path:
    return Path(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///") + ".blueprints")


def test_b8_what_runs_is_what_was_uploaded(shop: Terminal) -> None:
    assert "Stored as made@1: 3 files" in shop.run("blueprints", "upload", "made").stdout
    write(shop.folder / "made", plugins__made_py=MADE.replace("first", "changed"))
    assert shop.run("install", "made", "-d", "one").exit_code == 0
    assert said(shop, "one") == "first"
    shutil.rmtree(shop.folder / "made")
    shutil.rmtree(work(shop))
    assert shop.run("uninstall", "-d", "one").exit_code == 0
    assert shop.run("install", "made", "-d", "two").exit_code == 0
    assert said(shop, "two") == "first"


def test_b8_a_laid_out_file_that_somebody_changed_is_put_right(shop: Terminal) -> None:
    shop.run("blueprints", "upload", "made")
    shop.run("deployments", "create", "made", "-d", "one")
    (module,) = work(shop).glob("*/plugins/made.py")
    module.unlink()
    module.write_text(MADE.replace("first", "forged"))
    assert shop.run("executions", "start", "install", "-d", "one").exit_code == 0
    assert said(shop, "one") == "first"


def test_b8_equal_uploads_change_nothing_and_others_are_versions(shop: Terminal) -> None:
    _, first = shop.ask("blueprints", "upload", "made/blueprint.yaml", "shop")
    _, again = shop.ask("blueprints", "upload", "made", "shop")
    assert (first["is_new"], again["is_new"]) == (True, False)
    assert first["blueprint"] == again["blueprint"]
    write(shop.folder / "made", plugins__made_py=MADE.replace("first", "second"))
    assert shop.ask("blueprints", "upload", "made", "shop")[1]["blueprint"]["version"] == 2
    shop.run("install", "shop", "-d", "new")
    shop.run("install", "shop@1", "-d", "old")
    assert (said(shop, "new"), said(shop, "old")) == ("second", "first")
    _, shown = shop.ask("blueprints", "show", "shop@1")
    assert [file["path"] for file in shown["files"]] == ["blueprint.yaml", "parts/more.yaml", "plugins/made.py"]
    assert [user["name"] for user in shown["users"]] == ["old"]
    _, listed = shop.ask("blueprints", "list")
    assert [(each["blueprint"]["id"], each["versions"]) for each in listed["blueprints"]] == [("shop", 2)]


def test_b8_a_file_goes_before_a_stored_blueprint_of_its_name(shop: Terminal) -> None:
    shop.run("blueprints", "upload", "made", "shop")
    write(
        shop.folder, shop=BLUEPRINT.replace("A shop", "A file").replace(", parts/more.yaml", ""), plugins__made_py=MADE
    )
    shop.run("deployments", "create", "shop", "-d", "file")
    shop.run("deployments", "create", "blueprint:shop", "-d", "stored")
    shown = [shop.ask("deployments", "show", name)[1] for name in ("file", "stored")]
    assert [each["description"] for each in shown] == ["A file", "A shop"]
    assert [each["stored_blueprints"] for each in shown] == [{}, {"": "shop@1"}]


def test_b8_the_name_of_a_deployment_is_the_id_where_none_is_given(shop: Terminal) -> None:
    shop.run("blueprints", "upload", "made", "stall")
    assert shop.ask("deployments", "create", "stall")[1]["name"] == "stall"


def test_b8_plans_and_checks_take_stored_blueprints(shop: Terminal) -> None:
    shop.run("blueprints", "upload", "made", "stall")
    assert "made.made.create" in shop.run("plan", "install", "stall").stdout
    assert shop.run("blueprints", "validate", "stall").exit_code == 0
    assert "PL-C054" in shop.run("plan", "install", "stal").output
    assert "stall" in shop.run("plan", "install", "stal").output


def test_b8_a_broken_blueprint_is_not_stored(shop: Terminal) -> None:
    write(shop.folder / "made", parts__more_yaml="inputs: [1]\nnonsense: 2\n")
    result = shop.run("blueprints", "upload", "made")
    assert result.exit_code == 1
    assert result.output.count("PL-B") >= 2
    assert "PL-S007" in shop.run("blueprints", "list").output or "No stored" in shop.run("blueprints", "list").output


def test_b8_what_is_needed_is_not_deleted(shop: Terminal) -> None:
    shop.run("blueprints", "upload", "made", "shop")
    shop.run("deployments", "create", "shop", "-d", "one")
    refused = shop.run("blueprints", "delete", "shop")
    assert refused.exit_code == 1
    assert "PL-C055" in refused.output
    assert "phaseline deployments delete one" in refused.output
    shop.run("deployments", "delete", "one")
    assert shop.run("blueprints", "delete", "shop").stdout == "Deleted: shop@1.\n"
    assert list(work(shop).iterdir()) == []
    assert "PL-C054" in shop.run("blueprints", "delete", "shop").output


def test_b8_a_stored_blueprint_is_imported_under_a_namespace_with_its_scripts(terminal: Terminal) -> None:
    write(terminal.folder / "lib", blueprint_yaml=LIBRARY, scripts__say_sh=SAY)
    write(terminal.folder / "use", blueprint_yaml=USER)
    assert "PL-B091" in terminal.run("install", "use/blueprint.yaml").output
    terminal.run("blueprints", "upload", "lib", "library")
    assert terminal.run("install", "use/blueprint.yaml", "-d", "one").exit_code == 0
    assert said(terminal, "one") == "first"
    assert terminal.ask("deployments", "show", "one")[1]["stored_blueprints"] == {"lib": "library@1"}
    assert "PL-C055" in terminal.run("blueprints", "delete", "library").output


def test_b8_a_stored_blueprint_keeps_the_versions_that_it_was_uploaded_with(terminal: Terminal) -> None:
    write(terminal.folder / "lib", blueprint_yaml=LIBRARY, scripts__say_sh=SAY)
    write(terminal.folder / "use", blueprint_yaml=USER)
    terminal.run("blueprints", "upload", "lib", "library")
    terminal.run("blueprints", "upload", "use")
    write(terminal.folder / "lib", scripts__say_sh=SAY.replace("first", "second"))
    terminal.run("blueprints", "upload", "lib", "library")
    assert terminal.ask("blueprints", "show", "use")[1]["imports"] == ["library@1"]
    assert (
        "'library' is needed by the stored blueprint 'use@1'" in terminal.run("blueprints", "delete", "library").output
    )
    terminal.run("install", "use", "-d", "stored")
    terminal.run("install", "use/blueprint.yaml", "-d", "file")
    assert (said(terminal, "stored"), said(terminal, "file")) == ("first", "second")
    assert terminal.run("blueprints", "delete", "library@2").exit_code == 1


@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ".tgz"])
def test_b8_what_is_packaged_can_be_uploaded_and_is_the_same(shop: Terminal, ending: str) -> None:
    shop.run("blueprints", "upload", "made", "shop")
    for name, output in (("made/blueprint.yaml", f"a{ending}"), ("shop", f"b{ending}")):
        assert f"{output}: 3 files" in shop.run("blueprints", "package", name, "--output", output).stdout
    assert shop.ask("blueprints", "upload", f"a{ending}", "shop")[1]["is_new"] is False
    assert shop.ask("blueprints", "upload", f"b{ending}")[1]["blueprint"]["id"] == "b"
    assert "PL-C057" in shop.run("blueprints", "package", "shop", "--output", f"a{ending}").output


def test_b8_archives_that_lead_out_are_refused_and_leave_nothing(terminal: Terminal) -> None:
    with tarfile.open(terminal.folder / "evil.tar", "w") as archive:
        member = tarfile.TarInfo("../blueprint.yaml")
        archive.addfile(member)
    result = terminal.run("blueprints", "upload", "evil.tar")
    assert result.exit_code == 1
    assert "PL-B121" in result.output
    assert [path.name for path in terminal.folder.iterdir()] == ["evil.tar"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("upload", "made/blueprint.yaml", "no good"), "PL-C056"),
        (("upload", "made/plugins"), "PL-C057"),
        (("upload", "made", "--main", "../blueprint.yaml"), "PL-C057"),
        (("upload", "nowhere/blueprint.yaml"), "PL-B001"),
        (("upload", "nowhere.zip"), "PL-B120"),
        (("show", "nothing"), "PL-C054"),
        (("package", "nothing"), "PL-C054"),
        (("package", "made/blueprint.yaml", "--output", "a.rar"), "PL-C057"),
    ],
)
def test_b8_what_cannot_be_stored_is_told(shop: Terminal, words: tuple[str, ...], code: str) -> None:
    shop.make_store()
    result = shop.run("blueprints", *words)
    assert result.exit_code == 1
    assert code in result.output


def test_c3_b41_a_stored_blueprint_is_known_by_its_id(shop: Terminal) -> None:
    outputs = "\noutputs: {from: {value: {get_sys: [deployment, blueprint]}}}\n"
    code = (
        'from cloudify import ctx\n\ndef create(**_):\n    ctx.instance.runtime_properties["said"] = ctx.blueprint.id\n'
    )
    write(shop.folder / "made", blueprint_yaml=BLUEPRINT + outputs, plugins__made_py=code)
    shop.run("blueprints", "upload", "made", "stall")
    assert shop.run("install", "stall", "-d", "one").exit_code == 0
    assert said(shop, "one") == "stall"
    assert shop.ask("deployments", "outputs", "one")[1]["outputs"] == {"from": "stall"}
