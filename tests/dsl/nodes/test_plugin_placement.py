"""B34: where plugins run, and operations for a host that is not there."""

from tests.dsl.readers import numbers, problems, read

from phaseline.dsl.nodes.plugin_placement import placement_of

PLUGINS = """
plugins:
  tools: {executor: host_agent, install: false}
  cloud: {executor: central_deployment_agent, install: false}
  flows: {executor: central_deployment_agent, install: false}
"""
START = "interfaces: {cloudify.interfaces.lifecycle: {start: tools.web.start}}"
ON_HOST = "relationships: [{type: cloudify.relationships.contained_in, target: host}]"


def test_b34_an_operation_of_a_host_agent_without_a_host_is_24() -> None:
    text = f"{PLUGINS}\nnode_templates:\n  web: {{type: cloudify.nodes.WebServer, {START}}}"
    (found,) = problems(text)
    assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B069", 24, "DSLParsingLogicException")
    assert found.message.startswith("'web' is on no host, but 'cloudify.interfaces.lifecycle.start'")
    assert found.place.path == "node_templates.web"


def test_b34_a_node_is_reported_once_however_many_operations_want_a_host() -> None:
    two = "interfaces: {cloudify.interfaces.lifecycle: {start: tools.web.start, stop: tools.web.stop}}"
    assert numbers(f"{PLUGINS}\nnode_templates:\n  web: {{type: cloudify.nodes.WebServer, {two}}}") == [24]


def test_b34_the_host_may_contain_what_contains_the_node() -> None:
    text = f"""
{PLUGINS}
node_templates:
  host: {{type: cloudify.nodes.Compute}}
  server: {{type: cloudify.nodes.WebServer, {ON_HOST}}}
  module:
    type: cloudify.nodes.ApplicationModule
    {START}
    relationships: [{{type: cloudify.relationships.contained_in, target: server}}]
"""
    assert numbers(text) == []


def test_b34_a_relationship_operation_needs_the_host_of_its_side() -> None:
    text = f"""
{PLUGINS}
node_templates:
  host: {{type: cloudify.nodes.Compute}}
  database: {{type: cloudify.nodes.Database}}
  web:
    type: cloudify.nodes.WebServer
    relationships:
      - {{type: cloudify.relationships.contained_in, target: host}}
      - type: cloudify.relationships.connected_to
        target: database
        source_interfaces: {{cloudify.interfaces.relationship_lifecycle: {{establish: tools.web.tie}}}}
        target_interfaces: {{cloudify.interfaces.relationship_lifecycle: {{establish: tools.web.accept}}}}
"""
    (found,) = problems(text)
    assert found.cloudify_code == 24
    assert found.message.startswith("'database' is on no host")


def test_b34_a_script_without_executor_needs_no_host() -> None:
    script = "interfaces: {cloudify.interfaces.lifecycle: {start: 'echo\\n'}}"
    assert numbers(f"node_templates: {{web: {{type: cloudify.nodes.WebServer, {script}}}}}".replace("'", '"')) == []


def test_b34_what_is_not_mapped_needs_no_host() -> None:
    none = "interfaces: {cloudify.interfaces.lifecycle: {start: {executor: host_agent}}}"
    assert numbers(f"node_templates: {{web: {{type: cloudify.nodes.WebServer, {none}}}}}") == []


def test_b34_a_container_that_could_not_be_read_is_not_taken_for_no_host() -> None:
    text = f"{PLUGINS}\nnode_templates:\n  host: {{type: Nothing}}\n  web: {{type: cloudify.nodes.WebServer, {START}, {ON_HOST}}}"
    assert numbers(text) == [7]


def test_b34_plugins_are_listed_by_host_by_node_and_for_workflows() -> None:
    text = f"""
{PLUGINS}
workflows: {{go: flows.all.go}}
node_templates:
  host:
    type: cloudify.nodes.Compute
    properties: {{agent_config: {{install_method: none}}}}
    interfaces: {{cloudify.interfaces.lifecycle: {{create: cloud.vm.create, start: tools.host.start}}}}
  web:
    type: cloudify.nodes.WebServer
    {START}
    relationships:
      - type: cloudify.relationships.contained_in
        target: host
        source_interfaces: {{cloudify.interfaces.relationship_lifecycle: {{establish: cloud.web.tie}}}}
  lonely:
    type: cloudify.nodes.Root
    interfaces: {{cloudify.interfaces.lifecycle: {{create: "echo\\n", start: cloud.vm.start}}}}
"""
    found = placement_of(read(text))
    assert found.hosts["host"].count("tools") == 1
    assert set(found.hosts) == {"host"}
    assert "cloud" in found.central["host"]
    assert (found.central["web"], found.central["lonely"]) == (("cloud",), ("cloud",))
    assert {"flows", "default_workflows"} <= set(found.workflows)
