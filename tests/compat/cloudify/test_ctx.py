"""What an operation sees through ``ctx`` (C3), its runtime properties (C4) and its host's address (C5)."""

import copy
import json
from typing import Any

import pytest
from tests.compat.cloudify.builders import SmallWorld, node_call, said, stored

from phaseline.calls.protocol.call import PluginCall


def ctx_of(call: PluginCall) -> Any:
    from cloudify.context import CloudifyContext

    return CloudifyContext(call)


def non_recoverable() -> Any:
    from cloudify.exceptions import NonRecoverableError

    return pytest.raises(NonRecoverableError)


def test_c3_node_and_instance() -> None:
    ctx = ctx_of(node_call())
    assert ctx.type == "node-instance"
    assert (ctx.node.id, ctx.node.name, ctx.node.type) == ("web", "web", "my.Server")
    assert ctx.node.type_hierarchy == ["my.Server", "cloudify.nodes.Root"]
    assert ctx.node.number_of_instances == 1
    assert (ctx.instance.id, ctx.instance.index, ctx.instance.node.id) == ("web_1", 1, "web")
    assert ctx.instance.scaling_groups == {}


def test_c3_execution_deployment_operation_and_plugin() -> None:
    ctx = ctx_of(node_call(attempt=3))
    assert (ctx.execution_id, ctx.workflow_id, ctx.workflow_parameters) == ("install-7", "install", {"force": True})
    assert (ctx.deployment.id, ctx.deployment.display_name, ctx.blueprint.id) == ("shop", "shop", "blueprint")
    assert (ctx.operation.retry_number, ctx.operation.max_retries) == (3, 60)
    assert ctx.operation.name == "cloudify.interfaces.lifecycle.create"
    assert ctx.operation.relationship is None
    assert ctx.plugin == "web"
    assert isinstance(ctx.plugin, str)
    assert (ctx.plugin.name, ctx.plugin.package_name, ctx.plugin.package_version) == ("web", "web-plugin", "1.2")
    assert (ctx.tenant_name, ctx.tenant, ctx.task_id) == ("default_tenant", {"name": "default_tenant"}, "store-1-2-0")


def test_c3_relationship_operation_has_source_and_target() -> None:
    ctx = ctx_of(node_call(pair=("web_1", "db_1")))
    assert ctx.type == "relationship-instance"
    assert (ctx.source.node.id, ctx.source.instance.id) == ("web", "web_1")
    assert (ctx.target.node.properties["size"], ctx.target.instance.id) == (3, "db_1")
    assert ctx.operation.relationship == "source"


@pytest.mark.parametrize(
    ("pair", "name"), [(("web_1", "db_1"), "instance"), (("web_1", "db_1"), "node"), (None, "source")]
)
def test_c3_part_that_the_call_is_not_about_is_refused(pair: Any, name: str) -> None:
    with non_recoverable() as caught:
        getattr(ctx_of(node_call(pair=pair)), name)
    assert f"ctx.{name}" in str(caught.value)


def test_c3_relationships_lead_to_their_targets() -> None:
    (relationship,) = ctx_of(node_call()).instance.relationships
    assert relationship.type == "cloudify.relationships.connected_to"
    assert relationship.type_hierarchy == ["cloudify.relationships.connected_to"]
    assert relationship.target.node.properties["size"] == 3
    assert relationship.target.instance.runtime_properties == {"url": "db://1"}


@pytest.mark.parametrize(
    "write",
    [
        lambda p: p.__setitem__("port", 1),
        lambda p: p.__delitem__("port"),
        lambda p: p.update(port=1),
        lambda p: p.pop("port"),
        lambda p: p.setdefault("new", 1),
        lambda p: p.clear(),
    ],
)
def test_c3_node_properties_are_read_only(write: Any) -> None:
    with non_recoverable():
        write(ctx_of(node_call()).node.properties)


def test_c3_copies_of_node_properties_are_writable() -> None:
    properties = ctx_of(node_call()).node.properties
    for copied in (dict(properties), properties.copy(), copy.deepcopy(properties)):
        copied["port"] = 1
    assert json.loads(json.dumps(properties))["port"] == 8080


def test_c3_what_a_call_does_deep_in_properties_reaches_no_other_call() -> None:
    world = SmallWorld()
    ctx_of(node_call(world=world)).node.properties["deep"]["list"].append("mine")
    assert ctx_of(node_call(world=world)).node.properties["deep"] == {"list": [{"name": "first"}]}


@pytest.mark.parametrize(
    "ask", ["get_operation", "update_operation", "get_execution", "get_config", "upload_deployment_file"]
)
def test_c3_what_needs_a_server_says_what_to_do_instead(ask: str) -> None:
    with non_recoverable() as caught:
        getattr(ctx_of(node_call()), ask)(*(["started"] if ask == "update_operation" else []))
    assert "Phaseline runs without one; " in str(caught.value)


def test_c4_first_level_changes_make_it_dirty() -> None:
    properties = ctx_of(node_call()).instance.runtime_properties
    assert not properties.dirty
    properties["a"] = 1
    assert properties.dirty


def test_c4_changes_deep_down_are_stored_too() -> None:
    world = SmallWorld()
    world.documents["web_1"] = {"a": {"b": {"c": 1}}, "keep": 1}
    call = node_call(world=world)
    ctx = ctx_of(call)
    ctx.instance.runtime_properties["a"]["b"]["d"] = 2
    assert ctx._give_back() == []
    assert stored(call.instance) == {"a.b.d": 2}
    assert world.documents["web_1"] == {"a": {"b": {"c": 1}}, "keep": 1}


def test_c4_removed_properties_are_removed() -> None:
    world = SmallWorld()
    world.documents["web_1"] = {"a": 1, "b": 2}
    call = node_call(world=world)
    ctx = ctx_of(call)
    assert ctx.instance.runtime_properties.pop("a") == 1
    assert ctx.instance.runtime_properties.pop("absent") is None
    ctx._give_back()
    assert stored(call.instance) == {"a": None}


def test_c4_whole_document_can_be_assigned() -> None:
    world = SmallWorld()
    world.documents["web_1"] = {"a": 1}
    call = node_call(world=world)
    ctx = ctx_of(call)
    ctx.instance.runtime_properties = {"b": 2}
    assert ctx.instance.runtime_properties.dirty
    ctx._give_back()
    assert stored(call.instance) == {"a": None, "b": 2}


def test_c4_runtime_properties_of_a_relationships_target_are_read_only() -> None:
    target = ctx_of(node_call()).instance.relationships[0].target.instance
    with non_recoverable():
        target.runtime_properties["url"] = "x"
    with non_recoverable():
        target.runtime_properties = {}


def test_c4_update_stores_at_once() -> None:
    call = node_call()
    ctx = ctx_of(call)
    ctx.instance.runtime_properties["machine"] = "i-1"
    ctx.instance.update()
    assert said(call).saved == [{"web_1": {"machine": "i-1"}}]
    assert not ctx.instance.runtime_properties.dirty
    ctx.instance.runtime_properties["port"] = 80
    ctx._give_back()
    assert stored(call.instance) == {"port": 80}


def test_c4_update_stores_what_its_handler_gives() -> None:
    call = node_call()
    ctx = ctx_of(call)
    ctx.instance.runtime_properties["machine"] = "i-1"
    asked: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def merge(local: dict[str, Any], latest: dict[str, Any]) -> dict[str, Any]:
        asked.append((dict(local), dict(latest)))
        return {**latest, "merged": True}

    ctx.instance.update(merge)
    assert asked == [({"machine": "i-1"}, {"machine": "i-1"})]
    assert said(call).saved == [{"web_1": {"machine": "i-1", "merged": True}}]
    assert ctx.instance.runtime_properties == {"machine": "i-1", "merged": True}
    assert not ctx.instance.runtime_properties.dirty


def test_c4_update_asks_its_handler_again_with_what_others_have_stored_meanwhile() -> None:
    world = SmallWorld()
    world.documents["web_1"] = {"count": 1}
    call = node_call(world=world)
    said(call).intruders = [lambda: world.documents.update(web_1={"count": 7})]
    ctx = ctx_of(call)
    ctx.instance.runtime_properties["mine"] = 1
    ctx.instance.update(on_conflict=lambda local, latest: {**local, "count": latest["count"] + 1})
    assert said(call).saved == [{"web_1": {"count": 8, "mine": 1}}]


def test_c4_a_handler_whose_value_cannot_be_stored_fails_the_call() -> None:
    ctx = ctx_of(node_call())
    with non_recoverable():
        ctx.instance.update(lambda local, latest: {"bytes": object()})


def test_c4_refresh_reads_again_and_guards_unsaved_changes() -> None:
    world = SmallWorld()
    ctx = ctx_of(node_call(world=world))
    ctx.instance.runtime_properties["mine"] = 1
    world.documents["web_1"] = {"theirs": 2}
    with non_recoverable():
        ctx.instance.refresh()
    ctx.instance.refresh(force=True)
    assert ctx.instance.runtime_properties == {"theirs": 2}


def test_c4_functions_in_runtime_properties_are_evaluated_on_read_and_kept() -> None:
    world = SmallWorld()
    world.documents["web_1"] = {"address": {"get_attribute": ["vm", "ip"]}, "n": 1}
    call = node_call(world=world)
    ctx = ctx_of(call)
    assert ctx.instance.runtime_properties["address"] == "value of ip"
    ctx.instance.runtime_properties["n"] = 2
    ctx._give_back()
    assert stored(call.instance) == {"n": 2}


def test_c5_host_ip_is_the_hosts_property() -> None:
    assert ctx_of(node_call()).instance.host_ip == "10.0.0.5"


def test_c5_runtime_property_of_the_host_comes_first() -> None:
    world = SmallWorld()
    world.documents["vm_1"] = {"ip": "192.0.2.9"}
    assert ctx_of(node_call(world=world)).instance.host_ip == "192.0.2.9"


def test_c5_host_sees_its_own_address_before_it_is_stored() -> None:
    ctx = ctx_of(node_call(instance="vm_1"))
    ctx.instance.runtime_properties["ip"] = "192.0.2.7"
    assert ctx.instance.host_ip == "192.0.2.7"


def test_c5_without_a_host_or_an_address_is_an_error() -> None:
    with non_recoverable() as caught:
        _ = ctx_of(node_call(instance="lone_1")).instance.host_ip
    assert "has no host" in str(caught.value)
    world = SmallWorld()
    world.properties["vm"] = {}
    with non_recoverable() as caught:
        _ = ctx_of(node_call(world=world)).instance.host_ip
    assert "vm_1" in str(caught.value)


def test_c7_serial_operation_waits_for_lower_indexes() -> None:
    from cloudify.decorators import serial_operation

    calls = []
    serial = serial_operation()(lambda ctx, **_: calls.append(ctx.instance.id))
    serial(ctx=ctx_of(node_call()))
    assert calls == ["web_1"]


def test_manager_answers_from_the_running_call() -> None:
    from cloudify import manager
    from cloudify.state import current_ctx

    call = node_call()
    with current_ctx.push(ctx_of(call)) as ctx:
        database = manager.get_node_instance("db_1")
        assert (database.node_id, database.runtime_properties, database.state) == ("db", {"url": "db://1"}, "started")
        assert manager.get_node_instance_ip("web_1") == "10.0.0.5"
        own = manager.get_node_instance("web_1")
        own.runtime_properties["x"] = 1
        manager.update_node_instance(own)
        assert ctx.instance.runtime_properties == {"x": 1}
        with non_recoverable():
            manager.update_node_instance(database)
        with non_recoverable():
            manager.get_node_instance("nobody")
    assert said(call).saved == [{"web_1": {"x": 1}}]


def test_rest_client_can_be_made_and_says_there_is_no_server() -> None:
    from cloudify.manager import get_rest_client
    from cloudify_rest_client.exceptions import CloudifyClientError

    client = get_rest_client()
    with pytest.raises(CloudifyClientError, match=r"client.deployments.get\(\) needs"):
        client.deployments.get("other")


def test_b41_secrets_are_read_by_ctx_and_by_the_rest_client_of_the_running_call() -> None:
    from cloudify.manager import get_rest_client
    from cloudify.state import current_ctx
    from cloudify_rest_client.exceptions import CloudifyClientError

    with current_ctx.push(ctx_of(node_call())) as ctx:
        assert ctx.get_secret("token") == "t-12345"
        found = get_rest_client().secrets.get("token")
        assert (found.key, found.value, found["value"]) == ("token", "t-12345", "t-12345")
        with pytest.raises(Exception, match="phaseline secrets create tokne") as caught:
            get_rest_client().secrets.get("tokne")
        assert type(caught.value).__name__ == "NonRecoverableError"
        with pytest.raises(CloudifyClientError, match=r"client.secrets.create\(\) needs"):
            get_rest_client().secrets.create("a", "b")


def test_a_handler_of_a_call_is_entered_as_every_python_does() -> None:
    """Python 3.13 enters the lock of a handler without asking whether there is one."""
    from phaseline.compat.cloudify.shim.cloudify.logs import call_logger

    class Call:
        def __init__(self) -> None:
            self.lines: list[tuple[str, str]] = []

        def log(self, level: str, text: str) -> None:
            self.lines.append((level, text))

    call = Call()
    logger = call_logger(call)
    (handler,) = logger.handlers
    with handler.lock:
        logger.info("one")
    handler.acquire()
    handler.release()
    assert call.lines == [("info", "one")]


def test_c1_signatures_of_the_ancestor_are_taken() -> None:
    import io
    import logging

    from cloudify.decorators import serial_operation
    from cloudify.utils import OutputConsumer
    from script_runner.tasks import ProcessException

    @serial_operation(threshold=2, resumable=True)
    def create(**_: Any) -> None: ...

    assert create.resumable
    assert (ProcessException("ls", 2).stdout, str(ProcessException("ls", 2))) == (
        "",
        "ls ended with exit code 2: no output",
    )
    consumer = OutputConsumer(io.BytesIO(b"one\ntwo\n"), logging.getLogger("test"), "<out> ", ctx=ctx_of(node_call()))
    consumer.join()
    assert consumer.output == ["one\n", "two\n"]
    ctx = ctx_of(node_call())
    assert (ctx.task_type, ctx.rest_ssl_cert) == ("operation", None)
    for name in ("delete_deployment_file", "download_deployment_workdir", "upload_deployment_workdir"):
        with non_recoverable():
            getattr(ctx, name)()
