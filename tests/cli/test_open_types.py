"""Imports of plugins' definition files, with the catalogue, without it, and with ``--open-types`` (B6, decision 25)."""

from pathlib import Path

from tests.cli.terminal import Terminal
from tests.cli.test_definitions import install

PUBLIC = "https://raw.githubusercontent.com/cloudify-cosmo/cloudify-acme-plugin/1.0/plugin.yaml"
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, '%s']
inputs: {size: {default: 2}}
node_types:
  My.Box: {derived_from: acme.nodes.Box, properties: {word: {default: a}}}
node_templates:
  box: {type: My.Box, properties: {size: {get_input: size}}}
  web:
    type: cloudify.nodes.WebServer
    relationships: [{type: cloudify.relationships.contained_in, target: box}]
outputs:
  size: {value: {get_property: [box, size]}}
"""
OPEN = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, 'plugin:cloudify-acme-plugin']
node_templates:
  box:
    type: acme.nodes.Box
    properties: {anything: 1}
    interfaces:
      cloudify.interfaces.lifecycle: {create: acme.acme.boxes.create}
  disk: {type: acme.nodes.Disk, relationships: [{type: acme.relationships.contained_in_box, target: box}]}
  other: {type: acme.nodes.Disk}
  web:
    type: cloudify.nodes.WebServer
    properties: {prot: 80}
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: acme.acme.boxes.paint
          executor: host_agent
          inputs: {id: {get_property: [box, id]}}
    relationships:
      - {type: cloudify.relationships.contained_in, target: disk}
      - {type: cloudify.relationships.connected_to, target: bocks}
"""
SOUND = OPEN.replace("prot:", "port:").replace("bocks", "box")


def codes(terminal: Terminal, *words: str) -> list[str]:
    """Codes of what a command finds wrong; of a sound blueprint the warnings."""
    _, found = terminal.ask(*words)
    return [problem["code"] for problem in found.get("problems", found.get("warnings"))]


def test_b06_an_import_of_a_plugin_leads_into_the_catalogue(terminal: Terminal) -> None:
    install(terminal, "1.0")
    for target in ("plugin:cloudify-acme-plugin", "plugin:cloudify-acme-plugin?version=>=1.0", PUBLIC):
        terminal.write(BLUEPRINT % target)
        code, found = terminal.ask("blueprints", "validate", "blueprint.yaml")
        assert (code, found["nodes"]) == (0, 2), target


def test_b06_what_is_missing_is_named_with_the_command_that_adds_it(terminal: Terminal) -> None:
    for target in ("plugin:cloudify-acme-plugin", PUBLIC):
        terminal.write(BLUEPRINT % target)
        code, found = terminal.ask("blueprints", "validate", "blueprint.yaml")
        assert (code, [problem["code"] for problem in found["problems"]]) == (1, ["PL-B092", "PL-B031"]), target
        assert "phaseline plugins install --definition-only FILE" in found["problems"][0]["mend"]
        assert found["problems"][1]["mend"] == "the import that is missing may declare it: see its problem"
    install(terminal, "1.0")
    terminal.write(BLUEPRINT % "plugin:cloudify-acme-plugin?version=2.0")
    message = terminal.ask("blueprints", "validate", "blueprint.yaml")[1]["problems"][0]["message"]
    assert message == "the plugin 'cloudify-acme-plugin' has no definition of version '2.0' here, only 1.0"


def test_b06_an_address_that_may_be_fetched_is_still_fetched_where_the_catalogue_has_nothing(
    terminal: Terminal,
) -> None:
    terminal.environment["PHASELINE_BLUEPRINTS_ALLOWED_IMPORTS"] = "http://127.0.0.1:9/cloudify/wagons"
    terminal.write(BLUEPRINT % "http://127.0.0.1:1/cloudify/wagons/cloudify-acme-plugin/1.0/plugin.yaml")
    assert codes(terminal, "blueprints", "validate", "blueprint.yaml")[0] == "PL-B092"


def test_open_types_go_on_with_one_warning_for_each_type(terminal: Terminal) -> None:
    terminal.write(SOUND)
    assert codes(terminal, "blueprints", "validate", "blueprint.yaml").count("PL-B030") == 3
    code, found = terminal.ask("blueprints", "validate", "--open-types", "blueprint.yaml")
    told = [(each["code"], each["message"].split("'")[1]) for each in found["warnings"] if each["code"] != "PL-O001"]
    assert (code, found["nodes"], told) == (
        0,
        4,
        [
            ("PL-B092", "cloudify-acme-plugin"),
            ("PL-B125", "acme.nodes.Box"),
            ("PL-B125", "acme.nodes.Disk"),
            ("PL-B125", "acme.relationships.contained_in_box"),
        ],
    )


def test_open_types_check_everything_else_as_ever(terminal: Terminal) -> None:
    terminal.write(OPEN)
    code, found = terminal.ask("blueprints", "validate", "--open-types", "blueprint.yaml")
    errors = [problem["code"] for problem in found["problems"] if problem["severity"] == "error"]
    assert (code, errors) == (1, ["PL-B035", "PL-B041"])


def test_open_types_are_planned_without_what_they_would_call(terminal: Terminal) -> None:
    terminal.write(SOUND)
    result = terminal.run("plan", "install", "--open-types", "blueprint.yaml")
    assert result.exit_code == 0, result.stderr
    assert "acme.boxes.create" in result.stdout
    assert "there is no module 'acme.boxes'" in result.stdout
    assert not Path(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///")).exists()


def test_without_a_missing_import_an_unknown_type_stays_an_error(terminal: Terminal) -> None:
    install(terminal, "1.0")
    terminal.write(SOUND)
    assert "PL-B030" in codes(terminal, "blueprints", "validate", "--open-types", "blueprint.yaml")


def test_a_plan_needs_definitions_only_and_names_the_package_that_an_install_needs(terminal: Terminal) -> None:
    install(terminal, "1.0")
    terminal.write(BLUEPRINT % "plugin:cloudify-acme-plugin")
    planned = terminal.run("plan", "install", "blueprint.yaml")
    assert planned.exit_code == 0, planned.stderr
    assert "acme.acme.boxes.create" in planned.stdout
    assert "install its package cloudify-acme-plugin (pip install)" in planned.stdout
    code, found = terminal.ask("install", "blueprint.yaml")
    assert (code, [problem["code"] for problem in found["problems"]]) == (1, ["PL-O001"])
    assert terminal.ask("deployments", "list")[1]["total"] == 0


def test_types_of_the_manager_are_planned_and_refused_before_anything_is_stored(terminal: Terminal) -> None:
    terminal.write(
        "tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\n"
        "node_templates: {net: {type: cloudify.nodes.SharedResource, properties: {resource_config: {deployment: {id: x}}}}}\n"
    )
    assert terminal.run("plan", "install", "blueprint.yaml").exit_code == 0
    code, found = terminal.ask("install", "blueprint.yaml")
    assert (code, found["problems"][0]["code"]) == (1, "PL-O001")
    assert found["problems"][0]["mend"].startswith("leave the node out")


def test_b06_what_a_missing_import_may_have_declared_is_said_of_nodes_too(terminal: Terminal) -> None:
    terminal.write(
        "tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml, ns--gone.yaml]\n"
        "node_templates:\n  web:\n    type: cloudify.nodes.Root\n"
        "    properties: {resource_id: {get_property: [ns--n, resource_id]}}\n"
        "    relationships: [{type: cloudify.relationships.depends_on, target: ns--m}]\n"
    )
    found = terminal.ask("blueprints", "validate", "blueprint.yaml")[1]["problems"]
    told = {problem["code"]: problem["mend"] for problem in found}
    assert told.keys() == {"PL-B020", "PL-B041", "PL-B073"}
    assert {told["PL-B041"], told["PL-B073"]} == {"the import that is missing may declare it: see its problem"}
