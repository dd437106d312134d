"""``plugins install --definition-only`` and what comes of it (decision 25)."""

from pathlib import Path
from shutil import rmtree

from tests.catalog.files.test_archives import zipped
from tests.cli.terminal import Terminal

DEFINITION = """\
plugins:
  acme: {executor: central_deployment_agent, package_name: cloudify-acme-plugin, package_version: '%s'}
node_types:
  acme.nodes.Box:
    derived_from: cloudify.nodes.Root
    properties: {size: {type: integer, default: 1}}
    interfaces: {cloudify.interfaces.lifecycle: {create: acme.acme.boxes.create}}
"""


def install(terminal: Terminal, version: str = "1.0") -> None:
    """The definition of a plugin in the catalogue."""
    (terminal.folder / "plugin.yaml").write_text(DEFINITION % version)
    assert terminal.run("plugins", "install", "--definition-only", "plugin.yaml").exit_code == 0


def test_definitions_are_listed_shown_and_removed_like_plugins(terminal: Terminal) -> None:
    archive = zipped({"acme-1/plugin.yaml": (DEFINITION % "1.0").encode()})
    Path("acme.zip").write_bytes(archive)
    result = terminal.run("plugins", "install", "--definition-only", "acme.zip")
    assert result.stdout.splitlines() == [
        "cloudify-acme-plugin 1.0: plugin.yaml (1 plugin, 1 node type)",
        "  imported as  plugin:cloudify-acme-plugin  or  plugin:cloudify-acme-plugin?version=1.0",
    ]
    code, found = terminal.ask("plugins", "list")
    assert (code, [(view["name"], view["kind"], view["version"]) for view in found]) == (
        0,
        [("cloudify-acme-plugin", "types", "1.0")],
    )
    shown = terminal.run("plugins", "show", "cloudify-acme-plugin").stdout
    assert "kind      types" in shown
    assert "node types: acme.nodes.Box" in shown
    assert (
        terminal.run("plugins", "remove", "cloudify-acme-plugin").stdout.rstrip() == "Removed: cloudify-acme-plugin 1.0"
    )
    assert terminal.ask("plugins", "list")[1] == []


def test_of_several_versions_the_newest_is_shown_and_one_to_remove_must_be_chosen(terminal: Terminal) -> None:
    install(terminal, "1.9")
    install(terminal, "1.10")
    assert terminal.ask("plugins", "show", "cloudify-acme-plugin")[1]["version"] == "1.10"
    code, found = terminal.ask("plugins", "remove", "cloudify-acme-plugin")
    assert (code, found["problems"][0]["code"]) == (1, "PL-B127")
    assert found["problems"][0]["mend"] == "give the version: --version with one of 1.10, 1.9"
    assert terminal.ask("plugins", "remove", "acme-plugin", "--version", "1.9")[1]["version"] == "1.9"
    assert terminal.ask("plugins", "remove", "acme-plugin", "--version", "3")[1]["problems"][0]["code"] == "PL-B127"


def test_a_definition_file_is_no_package(terminal: Terminal) -> None:
    (terminal.folder / "plugin.yaml").write_text(DEFINITION % "1.0")
    result = terminal.run("plugins", "install", "plugin.yaml")
    assert result.exit_code == 1
    assert "PL-F060" in result.stderr
    assert "--definition-only" in result.stderr
    assert terminal.run("plugins", "install", "plugin.yaml", "--name", "x").exit_code == 2


def test_a_store_that_forgets_has_no_catalogue(terminal: Terminal) -> None:
    terminal.environment["PHASELINE_STORE_URL"] = "memory:"
    assert terminal.ask("plugins", "list") == (0, [])
    (terminal.folder / "plugin.yaml").write_text(DEFINITION % "1.0")
    code, found = terminal.ask("plugins", "install", "--definition-only", "plugin.yaml")
    assert (code, found["problems"][0]["code"]) == (1, "PL-B127")


def test_what_is_neither_a_package_nor_definitions_is_told_so(terminal: Terminal) -> None:
    _, found = terminal.ask("plugins", "remove", "nothing")
    message = "there is neither a package nor type definitions of 'nothing'"
    assert [(one["code"], one["message"]) for one in found["problems"]] == [("PL-B127", message)]


def test_one_broken_file_of_a_folder_does_not_hide_the_others(terminal: Terminal) -> None:
    broken = {"bad": "plugins: [", "worse": "\udcff", "odd": "inputs: {}\n"}
    for name in ("one", "two", *broken):
        folder = terminal.folder / "all" / name
        folder.mkdir(parents=True)
        text = broken.get(name, DEFINITION.replace("cloudify-acme", f"cloudify-{name}") % "1.0")
        (folder / "plugin.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    code, found = terminal.ask("plugins", "install", "--definition-only", "all")
    told = {(one["code"], one["file"]) for one in found["problems"]}
    assert (code, told) == (
        1,
        {("PL-B004", "all/bad/plugin.yaml"), ("PL-B002", "all/worse/plugin.yaml"), ("PL-B123", "all/odd/plugin.yaml")},
    )
    names = [view["name"] for view in terminal.ask("plugins", "list")[1]]
    assert names == ["cloudify-one-plugin", "cloudify-two-plugin"]
    assert (
        "imported as  plugin:cloudify-one-plugin"
        in terminal.run("plugins", "install", "--definition-only", "all").stderr
    )


def test_definitions_that_were_broken_since_are_still_removed(terminal: Terminal) -> None:
    install(terminal)
    (where,) = [view["where"] for view in terminal.ask("plugins", "list")[1]]
    (terminal.folder / where / "plugin.yaml").write_text("plugins: [")
    assert terminal.ask("plugins", "remove", "cloudify-acme-plugin")[0] == 0
    assert terminal.ask("plugins", "list")[1] == []


BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml, 'plugin:cloudify-acme-plugin']
node_templates:
  box: {type: acme.nodes.Box}
"""


def types_of(terminal: Terminal) -> Path:
    """The folder with the copies of the definitions."""
    return Path(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///") + ".types")


def problems(terminal: Terminal) -> list[str]:
    """The codes of the problems of a plan to install a blueprint that imports the definitions."""
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    return [one["code"] for one in terminal.ask("plan", "install", "blueprint.yaml")[1].get("problems", [])]


def test_rf9_copies_of_definitions_are_made_anew_from_the_store(terminal: Terminal) -> None:
    assert "PL-B092" in problems(terminal)
    install(terminal)
    assert problems(terminal) == []
    folder = types_of(terminal)
    rmtree(folder)
    assert problems(terminal) == []
    assert [path.name for path in folder.glob("*/*/*")] == ["plugin.yaml"]
    (folder / "strange" / "1").mkdir(parents=True)
    install(terminal, "2.0")
    assert sorted(path.name for path in folder.glob("*/*")) == ["1.0", "2.0"], "what the store has not got is no copy"


def test_rf9_definitions_that_only_an_earlier_version_has_kept_are_stored(terminal: Terminal) -> None:
    install(terminal)
    folder = types_of(terminal)
    terminal.run("plugins", "remove", "cloudify-acme-plugin")
    rmtree(folder)
    place = folder / "cloudify-acme-plugin" / "0.9"
    place.mkdir(parents=True)
    (place / "plugin.yaml").write_text(DEFINITION % "0.9")
    assert [view["version"] for view in terminal.ask("plugins", "list")[1]] == ["0.9"]
    rmtree(folder)
    assert [view["version"] for view in terminal.ask("plugins", "list")[1]] == ["0.9"]
    assert problems(terminal) == []


def test_rf9_a_backup_has_the_definitions(terminal: Terminal) -> None:
    install(terminal)
    assert terminal.run("store", "backup", "copy.db").exit_code == 0
    terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{terminal.folder}/copy.db"
    assert problems(terminal) == []
    assert [view["version"] for view in terminal.ask("plugins", "list")[1]] == ["1.0"]
