"""Section 7: the built-in types of every version are what blueprints and plugins of the ancestor expect."""

from pathlib import Path
from typing import Any

import pytest
from tests.dsl.readers import Texts

import phaseline.compat.cloudify
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.reader import read_whole
from phaseline.model.blueprint.blueprint import Blueprint

VERSIONS = {"types": 5, "types_1_4": 4, "types_1_3": 3, "types_3_4": 3, "types_3_3": 2, "types_3_2": 1}
NEWER = ["types", "types_1_4", "types_1_3"]
NODE_TYPES = {
    "Root": "",
    **dict.fromkeys(["Compute", "FileSystem", "Component", "SharedResource", "Blueprint", "PasswordSecret"], "Root"),
    **dict.fromkeys(
        ["Tier", "Volume", "ObjectStorage", "Network", "Subnet", "Port", "Router", "LoadBalancer", "VirtualIP"], "Root"
    ),
    **dict.fromkeys(["SecurityGroup", "SoftwareComponent", "Database", "ApplicationModule"], "Root"),
    "Container": "Compute",
    **dict.fromkeys(
        ["DBMS", "ApplicationServer", "MessageBusServer", "WebServer", "CloudifyManager"], "SoftwareComponent"
    ),
    "ServiceComponent": "Component",
}
RELATIONSHIPS = {
    "depends_on": "",
    "connected_to": "depends_on",
    "contained_in": "depends_on",
    "depends_on_lifecycle_operation": "depends_on",
    "depends_on_shared_resource": "depends_on",
    "connected_to_shared_resource": "connected_to",
    "file_system_depends_on_volume": "depends_on",
    "file_system_contained_in_compute": "contained_in",
}
FILTERS: dict[str, Any] = {"type_names": [], "node_ids": [], "node_instance_ids": []}
ORDERED: dict[str, Any] = {"run_by_dependency_order": True}
NEEDED = object()
WORKFLOWS: dict[str, dict[str, Any]] = {
    "install": FILTERS,
    "uninstall": {"ignore_failure": False, "recursive": False, **FILTERS},
    "reinstall": {"ignore_failure": False, **FILTERS},
    "start": {"operation_parms": {}, **ORDERED, **FILTERS},
    "stop": {"operation_parms": {}, **ORDERED, **FILTERS},
    "restart": {"stop_parms": {}, "start_parms": {}, **ORDERED, **FILTERS},
    "execute_operation": {
        "operation": NEEDED,
        "operation_kwargs": {},
        "allow_kwargs_override": None,
        "run_by_dependency_order": False,
        **FILTERS,
    },
    "heal": {
        "node_instance_id": NEEDED,
        "diagnose_value": "Not provided",
        "ignore_failure": True,
        "check_status": True,
        "allow_reinstall": True,
        "force_reinstall": False,
    },
    "scale": {
        "scalable_entity_name": NEEDED,
        "delta": 1,
        "scale_compute": False,
        "include_instances": None,
        "exclude_instances": None,
        "ignore_failure": False,
        "rollback_if_failed": True,
        "abort_started": False,
    },
    "install_new_agents": {
        "install_agent_timeout": 300,
        "node_ids": [],
        "node_instance_ids": [],
        "install_methods": None,
        "validate": True,
        "install": True,
        "install_script": "",
        "manager_ip": "",
        "manager_certificate": "",
        "stop_old_agent": False,
    },
    "validate_agents": {"node_ids": [], "node_instance_ids": [], "install_methods": None},
    "check_status": {"run_by_dependency_order": False, **FILTERS},
    "check_drift": {"run_by_dependency_order": True, **FILTERS},
    "rollback": {"full_rollback": False, **FILTERS},
    "pull": {"operation_parms": {}, **ORDERED, **FILTERS},
}
LIFECYCLE = (
    "precreate create configure start poststart prestop stop delete postdelete preupdate update postupdate "
    "update_config update_apply update_postapply preheal heal postheal pull check_drift"
)


def loaded(name: str) -> tuple[Blueprint, MergedSections]:
    text = f"tosca_definitions_version: cloudify_dsl_1_{VERSIONS[name]}\nimports: [cloudify/types/{name}.yaml]\n"
    return read_whole("b.yaml", Texts({"b.yaml": text}))


def raw(sections: MergedSections, section: str, name: str) -> dict[str, Any]:
    found = sections.of(section)[name]
    assert isinstance(found, dict)
    return found


def operations(sections: MergedSections, section: str, name: str, side: str = "interfaces") -> dict[str, list[str]]:
    return {interface: list(found) for interface, found in (raw(sections, section, name).get(side) or {}).items()}


def test_s7_1_node_types_and_their_parents() -> None:
    sections = loaded("types")[1]
    found = {
        name.removeprefix("cloudify.nodes."): raw(sections, "node_types", name).get("derived_from", "")
        for name in sections.of("node_types")
    }
    assert {name: parent.removeprefix("cloudify.nodes.") for name, parent in found.items()} == NODE_TYPES


def test_s7_1_password_secret_came_with_1_4() -> None:
    kinds = {name: set(loaded(name)[1].of("node_types")) for name in NEWER}
    assert kinds["types"] == kinds["types_1_4"] == kinds["types_1_3"] | {"cloudify.nodes.PasswordSecret"}


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("Root", {"use_external_resource": False, "resource_id": NEEDED}),
        ("WebServer", {"port": 80}),
        ("FileSystem", {"use_external_resource": False, "partition_type": 83, "fs_type": NEEDED, "fs_mount_path": NEEDED}),
        (
            "Compute",
            {
                "ip": "",
                "os_family": "linux",
                "agent_config": {"install_method": "remote", "port": 22, "network": "default"},
                "install_agent": "",
                "cloudify_agent": {},
            },
        ),
        ("Component", {"resource_config": NEEDED, "client": NEEDED, "plugins": {}, "secrets": {}}),
        ("SharedResource", {"resource_config": NEEDED, "client": NEEDED}),
        ("Blueprint", {"blueprint": NEEDED, "client": NEEDED, "plugins": {}, "secrets": {}}),
        (
            "PasswordSecret",
            {"length": 8, "uppercase": 0, "lowercase": 0, "digits": 0, "symbols": 0, "secret_name": NEEDED, "use_secret_if_exists": False},
        ),
    ],
)  # fmt: skip
def test_s7_1_properties_and_defaults(kind: str, properties: dict[str, Any]) -> None:
    declared = raw(loaded("types")[1], "node_types", f"cloudify.nodes.{kind}")["properties"]
    assert {name: item.get("default", NEEDED) for name, item in declared.items()} == properties


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Component", "create configure start stop delete check_drift heal update refresh"),
        ("SharedResource", "create delete refresh check_drift"),
        ("Blueprint", "create delete"),
        ("PasswordSecret", "create delete"),
        ("FileSystem", "configure"),
    ],
)
def test_s7_1_mapped_operations_are_implemented(kind: str, expected: str) -> None:
    text = f"""tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
node_types: {{t: {{derived_from: cloudify.nodes.{kind}}}}}
"""
    sections = read_whole("b.yaml", Texts({"b.yaml": text}))[1]
    found = raw(sections, "node_types", f"cloudify.nodes.{kind}")["interfaces"]["cloudify.interfaces.lifecycle"]
    assert set(found) == set(expected.split())
    assert all(item["implementation"] if isinstance(item, dict) else item for item in found.values())


def test_s7_1_agents_are_central_but_for_what_the_host_does_itself() -> None:
    found = raw(loaded("types")[1], "node_types", "cloudify.nodes.Compute")["interfaces"][
        "cloudify.interfaces.cloudify_agent"
    ]
    executors = {name: item.get("executor", "central_deployment_agent") for name, item in found.items()}
    on_host = {name for name, executor in executors.items() if executor == "host_agent"}
    assert on_host == {"stop_amqp", "restart_amqp", "install_plugins", "uninstall_plugins"}
    central = {"create", "configure", "start", "stop", "delete", "restart", "create_amqp", "validate_amqp"}
    assert set(executors) - on_host == central
    assert {name: item["default"] for name, item in found["create_amqp"]["inputs"].items()} == {
        "install_agent_timeout": 300,
        "manager_ip": "",
        "manager_certificate": "",
        "stop_old_agent": False,
    }
    assert {name: item["default"] for name, item in found["validate_amqp"]["inputs"].items()} == {
        "validate_agent_timeout": 20
    }


def test_s7_2_relationship_types_and_their_parents() -> None:
    sections = loaded("types")[1]
    found = {
        name.removeprefix("cloudify.relationships."): raw(sections, "relationships", name).get("derived_from", "")
        for name in sections.of("relationships")
    }
    assert {name: parent.removeprefix("cloudify.relationships.") for name, parent in found.items()} == RELATIONSHIPS
    depends = raw(sections, "relationships", "cloudify.relationships.depends_on")
    assert depends["properties"]["connection_type"]["default"] == "all_to_all"
    waits = raw(sections, "relationships", "cloudify.relationships.depends_on_lifecycle_operation")
    assert list(waits["properties"]) == ["operation"]


@pytest.mark.parametrize("name", VERSIONS)
@pytest.mark.parametrize("side", ["source_interfaces", "target_interfaces"])
def test_s7_2_operations_of_relationships(name: str, side: str) -> None:
    found = operations(loaded(name)[1], "relationships", "cloudify.relationships.depends_on", side)
    first = ["preconfigure", "postconfigure", "establish", "unlink"]
    more = {
        "types": ["update", "check_drift"],
        "types_1_4": ["update", "check_drift"],
        "types_1_3": ["update_preconfigure", "update_postconfigure", "update_establish", "check_drift"],
    }
    assert sorted(found["cloudify.interfaces.relationship_lifecycle"]) == sorted([*first, *more.get(name, [])])


@pytest.mark.parametrize("kind", ["depends_on_shared_resource", "connected_to_shared_resource"])
def test_s7_2_shared_resources_run_a_workflow_of_the_other_deployment(kind: str) -> None:
    found = raw(loaded("types")[1], "relationships", f"cloudify.relationships.{kind}")["target_interfaces"]
    for operation in ("establish", "unlink"):
        inputs = found["cloudify.interfaces.relationship_lifecycle"][operation]["inputs"]
        assert set(inputs) == {"workflow_id", "parameters", "timeout"}
        assert (inputs["parameters"]["default"], inputs["timeout"]["default"]) == ({}, 10)


def test_s7_3_interfaces_of_the_root() -> None:
    found = operations(loaded("types")[1], "node_types", "cloudify.nodes.Root")
    assert found == {
        "cloudify.interfaces.validation": ["create", "delete", "check_status", "creation", "deletion"],
        "cloudify.interfaces.lifecycle": LIFECYCLE.split(),
        "cloudify.interfaces.monitoring": ["start", "stop"],
    }


@pytest.mark.parametrize("name", ["types_3_4", "types_3_3", "types_3_2"])
def test_s7_3_types_before_5_lack_what_came_later(name: str) -> None:
    found = operations(loaded(name)[1], "node_types", "cloudify.nodes.Root")
    later = {"precreate", "poststart", "prestop", "postdelete"}
    assert not later & set(found["cloudify.interfaces.lifecycle"])
    assert not {"create", "delete"} & set(found.get("cloudify.interfaces.validation", []))


def test_s7_4_data_types() -> None:
    sections = loaded("types")[1]
    names = "AgentConfig Blueprint ComponentDeployment Component RemoteCloudifyManagerClient SharedResourceDeployment SharedResource"
    assert set(sections.of("data_types")) == {f"cloudify.datatypes.{name}" for name in names.split()}
    agent = raw(sections, "data_types", "cloudify.datatypes.AgentConfig")["properties"]
    assert " ".join(agent) == (
        "install_method service_name network user key password port process_management min_workers max_workers heartbeat "
        "disable_requiretty env extra executable_temp_path log_level log_max_bytes log_max_history"
    )
    assert [name for name, item in agent.items() if item.get("required") is not False] == ["install_method"]


def test_s7_5_plugins_need_no_install_and_policies_are_there() -> None:
    blueprint = loaded("types")[0]
    assert {name: plugin.executor for name, plugin in blueprint.plugins.items()} == {
        "agent": "central_deployment_agent",
        "default_workflows": "central_deployment_agent",
        "cfy_extensions": "central_deployment_agent",
        "script": "host_agent",
    }
    assert not any(plugin.install for plugin in blueprint.plugins.values())
    kinds = {name.removeprefix("cloudify.policies.types.") for name in blueprint.policy_types}
    assert kinds == {"host_failure", "threshold", "ewma_stabilized"}
    assert list(blueprint.policy_triggers) == ["cloudify.policies.triggers.execute_workflow"]


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_s7_6_parameters_and_defaults(workflow: str) -> None:
    found = loaded("types")[0].workflows[workflow]
    assert found.built_in == workflow
    assert {name: item.default if item.has_default else NEEDED for name, item in found.parameters.items()} == WORKFLOWS[
        workflow
    ]


def test_s7_6_availability() -> None:
    workflows = loaded("types")[0].workflows
    rules = {name: workflow.availability.node_instances_active for name, workflow in workflows.items()}
    assert {name for name, active in rules.items() if active == ("none", "partial")} == {"install"}
    assert rules["start"] == (), "a stop changes no state, so a start is needed where all instances are started, too"
    assert rules["execute_operation"] == ()
    rest = set(WORKFLOWS) - {"install", "start", "execute_operation"}
    assert {name for name, active in rules.items() if active == ("all", "partial")} == rest
    need_hosts = {name for name, workflow in workflows.items() if workflow.availability.node_types_required}
    assert need_hosts == {"install_new_agents", "validate_agents"}


def test_s7_6_what_the_1_3_file_says_differently() -> None:
    workflows = loaded("types_1_3")[0].workflows
    for name in ("start", "stop", "check_status", "install"):
        assert workflows[name].availability.node_instances_active == ()
    assert {name for name, workflow in workflows.items() if workflow.is_cascading} == {"check_status", "check_drift"}


def test_s7_6_check_drift_goes_by_order_in_the_newest_file_only() -> None:
    ordered = {
        name: loaded(name)[0].workflows["check_drift"].parameters["run_by_dependency_order"].default for name in NEWER
    }
    assert ordered["types"] is True
    assert ordered["types_1_4"] is False
    assert "recursive" not in loaded("types_1_4")[0].workflows["uninstall"].parameters


@pytest.mark.parametrize(
    ("kind", "operation", "inputs"),
    [
        ("Component", "start", {"workflow_id": "install", "timeout": 1800, "interval": 1}),
        ("Component", "stop", {"workflow_id": "uninstall", "timeout": 1800, "interval": 1}),
        ("FileSystem", "configure", {"script_path": "cloudify/fs/mkfs.sh"}),
    ],
)
def test_s7_1_inputs_of_mapped_operations(kind: str, operation: str, inputs: dict[str, Any]) -> None:
    found = raw(loaded("types")[1], "node_types", f"cloudify.nodes.{kind}")["interfaces"][
        "cloudify.interfaces.lifecycle"
    ]
    assert {name: item.get("default", NEEDED) for name, item in found[operation]["inputs"].items()} == inputs


def test_s7_1_the_rest_of_the_table_of_node_types() -> None:
    sections = loaded("types")[1]
    compute = raw(sections, "node_types", "cloudify.nodes.Compute")["interfaces"]
    assert compute["cloudify.interfaces.host"] == {"get_state": {}}
    assert compute["cloudify.interfaces.monitoring_agent"] == {"install": {}, "start": {}, "stop": {}, "uninstall": {}}
    for kind, operation in (
        ("Component", "check_status"),
        ("SharedResource", "check_status"),
        ("PasswordSecret", "create"),
    ):
        interfaces = raw(sections, "node_types", f"cloudify.nodes.{kind}")["interfaces"]
        assert interfaces["cloudify.interfaces.validation"][operation]["implementation"]
    manager = raw(sections, "node_types", "cloudify.nodes.CloudifyManager")["properties"]
    assert manager["cloudify"]["default"]["workflows"] == {"task_retries": -1, "task_retry_interval": 30}
    assert manager["cloudify_packages"].get("required", True)
    types = {
        ("Root", "use_external_resource"): "boolean",
        ("FileSystem", "partition_type"): "integer",
        ("FileSystem", "fs_type"): "string",
        ("FileSystem", "fs_mount_path"): "string",
        ("Compute", "agent_config"): "cloudify.datatypes.AgentConfig",
    }
    for (kind, name), expected in types.items():
        assert raw(sections, "node_types", f"cloudify.nodes.{kind}")["properties"][name]["type"] == expected
    bare = set(NODE_TYPES) - {
        "Root", "Compute", "FileSystem", "WebServer", "CloudifyManager", "Component", "SharedResource", "Blueprint", "PasswordSecret",
    }  # fmt: skip
    for kind in bare:
        assert not {"properties", "interfaces"} & raw(sections, "node_types", f"cloudify.nodes.{kind}").keys()


def test_s7_2_file_systems_have_their_scripts() -> None:
    sections = loaded("types")[1]
    found: dict[tuple[str, str], str] = {}
    for kind in ("file_system_depends_on_volume", "file_system_contained_in_compute"):
        sides = raw(sections, "relationships", f"cloudify.relationships.{kind}")["source_interfaces"]
        for operation, item in sides["cloudify.interfaces.relationship_lifecycle"].items():
            found[kind, operation] = item["inputs"]["script_path"]["default"]
    assert found == {
        ("file_system_depends_on_volume", "preconfigure"): "cloudify/fs/fdisk.sh",
        ("file_system_contained_in_compute", "establish"): "cloudify/fs/mount.sh",
        ("file_system_contained_in_compute", "unlink"): "cloudify/fs/unmount.sh",
    }
    bundled = Path(phaseline.compat.cloudify.__file__).parent / "shim/cloudify/bundled"
    for script in (*found.values(), "cloudify/fs/mkfs.sh"):
        assert (bundled / script).is_file()
