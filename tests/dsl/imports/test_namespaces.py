"""B8: files imported under a namespace."""

import textwrap

import pytest
from tests.dsl.readers import MAIN, Texts, codes, problems, read, whole

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.reader import read_blueprint
from phaseline.model.blueprint.blueprint import Blueprint

PART = """
imports: [cloudify/types/types.yaml]
plugins:
  p: {executor: central_deployment_agent, install: false}
inputs:
  port: {type: integer, default: 80}
data_types:
  address: {properties: {host: {default: localhost}}}
node_types:
  server:
    derived_from: cloudify.nodes.Root
    properties:
      at: {type: address}
      port: {default: {get_input: port}}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: p.module.create
        start: {implementation: scripts/start.sh, executor: central_deployment_agent}
        stop: {implementation: script.script_runner.tasks.run, executor: central_deployment_agent}
  faster: {derived_from: server}
relationships:
  near: {derived_from: cloudify.relationships.connected_to}
node_templates:
  web:
    type: faster
    relationships:
      - {type: near, target: db}
    properties:
      port: {concat: [{get_property: [db, port]}, {get_attribute: [SELF, x]}]}
  db: {type: server}
workflows:
  back_up: p.module.back_up
outputs:
  url: {value: {get_attribute: [web, {get_input: [key, 0]}]}}
capabilities:
  place: {value: {get_property: [web, port]}}
"""


def named(text: str = "imports: [ns--part.yaml]", **others: str) -> Blueprint:
    files = {"part.yaml": PART + "\nlabels: {team: {values: [a]}}", **others}
    files["part.yaml"] = files["part.yaml"].replace("inputs:\n", "inputs:\n  key: {default: [a]}\n", 1)
    return read(text, others=files, scripts=("scripts/start.sh",))


def test_b08_every_name_at_section_level_has_the_prefix() -> None:
    blueprint = named()
    assert set(blueprint.nodes) == {"ns--web", "ns--db"}
    assert set(blueprint.inputs) == {"ns--port", "ns--key"}
    assert "ns--p" in blueprint.plugins
    assert "ns--back_up" in blueprint.workflows
    assert set(blueprint.outputs) == {"ns--url"}
    assert set(blueprint.capabilities) == {"ns--place"}


def test_b08_types_relationships_and_data_types_follow() -> None:
    web = named().nodes["ns--web"]
    assert web.type_hierarchy == ("cloudify.nodes.Root", "ns--server", "ns--faster")
    assert web.relationships[0].type == "ns--near"
    assert web.relationships[0].target == "ns--db"
    assert web.properties["at"] == {"host": "localhost"}


def test_b08_references_inside_functions_follow_at_any_depth() -> None:
    blueprint = named()
    assert blueprint.nodes["ns--db"].properties["port"] == {"get_input": "ns--port"}
    assert blueprint.nodes["ns--web"].properties["port"] == {
        "concat": [{"get_property": ["ns--db", "port"]}, {"get_attribute": ["SELF", "x"]}]
    }
    assert blueprint.outputs["ns--url"].value == {"get_attribute": ["ns--web", {"get_input": ["ns--key", 0]}]}
    known = with_inputs(blueprint, complete_inputs(blueprint, {}))
    assert known.nodes["ns--db"].properties["port"] == 80


def test_b08_mappings_follow_except_for_plugins_of_the_basic_types() -> None:
    operations = named().nodes["ns--web"].operations
    create, start, stop = (operations[f"cloudify.interfaces.lifecycle.{name}"] for name in ("create", "start", "stop"))
    assert (create.plugin, create.implementation) == ("ns--p", "module.create")
    assert (start.form, start.implementation) == ("script", "scripts/start.sh")
    assert (stop.plugin, stop.implementation) == ("script", "script_runner.tasks.run")


def test_b08_a_script_that_is_not_there_is_missed_under_its_own_name() -> None:
    (found, *_) = problems("imports: [ns--part.yaml]", others={"part.yaml": PART.replace("[key, 0]", "port")})
    assert found.cloudify_code == 10
    assert (found.place.file, found.place.line) == ("part.yaml", 18)


def test_b08_names_that_begin_with_cloudify_and_names_inside_elements_stay() -> None:
    text = """
    node_types:
      cloudify.nodes.Mine: {properties: {size: {type: integer, constraints: [{in_range: [1, 3]}], default: 2}}}
    node_templates:
      n: {type: cloudify.nodes.Mine, properties: {size: 3}}
    """.replace("constraints: [{in_range: [1, 3]}], ", "")
    node = read("imports: [ns--a.yaml]", others={"a.yaml": text}).nodes["ns--n"]
    assert node.type == "cloudify.nodes.Mine"
    assert node.properties == {"size": 3}


def test_b08_labels_keep_their_keys() -> None:
    assert set(named().labels) == {"team"}


def test_b08_the_same_file_under_two_namespaces_is_there_twice() -> None:
    blueprint = named("imports: [a--part.yaml, b--part.yaml]")
    assert set(blueprint.nodes) == {"a--web", "a--db", "b--web", "b--db"}
    assert blueprint.nodes["b--web"].relationships[0].target == "b--db"


def test_b08_nesting_concatenates() -> None:
    middle = "imports: [inner--part.yaml]\noutputs: {u: {value: {get_property: [inner--web, port]}}}\n"
    blueprint = named("imports: [outer--middle.yaml]", **{"middle.yaml": middle})
    assert set(blueprint.nodes) == {"outer--inner--web", "outer--inner--db"}
    assert blueprint.outputs["outer--u"].value == {"get_property": ["outer--inner--web", "port"]}


def test_b08_a_file_imported_without_namespace_within_one_belongs_to_it() -> None:
    middle = "imports: [part.yaml]\nnode_templates: {n: {type: server}}\n"
    assert "ns--n" in named("imports: [ns--middle.yaml]", **{"middle.yaml": middle}).nodes


def test_b08_the_main_file_refers_to_what_it_imports_by_the_long_name() -> None:
    text = """
    imports: [cloudify/types/types.yaml, ns--part.yaml]
    node_templates:
      top:
        type: ns--server
        relationships: [{type: ns--near, target: ns--web}]
    """
    assert named(text).nodes["top"].relationships[0].target == "ns--web"


def test_b08_a_namespace_with_the_delimiter_is_212() -> None:
    (found,) = problems("imports: [a--b--part.yaml]", others={"part.yaml": PART})
    assert (found.code, found.cloudify_code) == ("PL-B086", 212)


@pytest.mark.parametrize("basic", ["cloudify/types/types.yaml", "own.yaml"])
def test_b08_basic_types_under_a_namespace_are_214(basic: str) -> None:
    own = {"own.yaml": "node_types: {cloudify.nodes.Root: {}}"}
    (found,) = problems(f"imports: [ns--{basic}]", others=own)
    assert (found.code, found.cloudify_code) == ("PL-B086", 214)


def test_b08_basic_types_that_a_file_under_a_namespace_imports_are_everybodys() -> None:
    assert "install" in named().workflows
    assert "script" in named().plugins


def test_b08_an_uploaded_blueprint_needs_a_namespace_which_is_213() -> None:
    (found,) = problems("imports: ['blueprint:db']", others={"uploaded/db/blueprint.yaml": ""})
    assert (found.code, found.cloudify_code) == ("PL-B086", 213)


def test_b08_a_namespace_holds_one_uploaded_blueprint_else_214() -> None:
    others = {f"uploaded/{name}/blueprint.yaml": "inputs: {}" for name in ("db", "web")}
    (found,) = problems("imports: ['ns--blueprint:db', 'ns--blueprint:web']", others=others)
    assert (found.code, found.cloudify_code) == ("PL-B086", 214)


def test_b08_an_uploaded_blueprint_is_imported_and_its_scripts_are_found_in_its_folder() -> None:
    part = textwrap.dedent(PART).replace("[key, 0]", "port")
    files = Texts(
        {MAIN: whole("imports: ['ns--blueprint:db']", types=False), "uploaded/db/blueprint.yaml": part},
        ("uploaded/db/scripts/start.sh",),
    )
    blueprint = read_blueprint(MAIN, files)
    assert blueprint.uploaded == {"ns": "db"}
    start = blueprint.nodes["ns--db"].operations["cloudify.interfaces.lifecycle.start"]
    assert (start.form, start.implementation) == ("script", "ns--scripts/start.sh")


def test_b08_what_begins_like_an_address_or_a_path_is_no_namespace() -> None:
    others = {"parts/a--b.yaml": "inputs: {x: {default: 1}}", "http://h/a--b.yaml": "inputs: {y: {default: 1}}"}
    blueprint = read("imports: [parts/a--b.yaml, 'http://h/a--b.yaml', 'ns--http://h/a--b.yaml']", others=others)
    assert set(blueprint.inputs) == {"x", "y", "ns--y"}


def test_b08_a_problem_stands_where_the_file_has_it() -> None:
    others = {"a.yaml": "node_templates:\n  web:\n    type: cloudify.nodes.Rot\n    properties: {}\n"}
    (found,) = problems("imports: [ns--a.yaml, cloudify/types/types.yaml]", others=others)
    assert (found.place.file, found.place.line, found.place.column) == ("a.yaml", 3, 11)
    assert found.place.path == "node_templates.ns--web.type"


def test_b08_a_name_too_wrong_to_be_kept_is_not_missed() -> None:
    others = {
        "a.yaml": "node_templates:\n  a: 5\n  b: {type: cloudify.nodes.Root, relationships: "
        "[{type: cloudify.relationships.connected_to, target: a}]}\n"
    }
    assert codes("imports: [ns--a.yaml, cloudify/types/types.yaml]", others=others) == ["PL-B015"]


def test_b08_a_file_that_imports_itself_under_a_namespace_ends() -> None:
    (found,) = problems(
        "imports: [a.yaml]", others={"a.yaml": "imports: [x--b.yaml]", "b.yaml": "imports: [y--a.yaml]"}
    )
    assert (found.code, found.place.file) == ("PL-B086", "b.yaml")
