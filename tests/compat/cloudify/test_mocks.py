"""Unit tests that plugins bring along: contexts without an engine (C1)."""

from typing import Any

import pytest
import tests.compat.cloudify.builders  # noqa: F401 - puts the package cloudify on the path


def test_mock_context_of_a_node() -> None:
    from cloudify.context import CloudifyContext
    from cloudify.mocks import MockCloudifyContext

    ctx = MockCloudifyContext(
        node_id="web_1",
        node_name="web",
        deployment_id="shop",
        properties={"port": 80},
        runtime_properties={"a": 1},
        operation={"name": "cloudify.interfaces.lifecycle.create", "retry_number": 2},
        tenant={"name": "t"},
    )
    assert isinstance(ctx, CloudifyContext)
    assert (ctx.instance.id, ctx.node.name, ctx.node.id, ctx.deployment.id) == ("web_1", "web", "web", "shop")
    assert ctx.node.properties["port"] == 80
    assert (ctx.operation.retry_number, ctx.operation.name) == (2, "cloudify.interfaces.lifecycle.create")
    assert ctx.tenant == {"name": "t"}
    ctx.instance.runtime_properties["b"] = 2
    ctx.instance.update()
    assert ctx.instance.runtime_properties == {"a": 1, "b": 2}
    ctx.logger.info("said")


def test_mock_context_of_a_relationship() -> None:
    from cloudify import mocks

    def subject(name: str) -> Any:
        node = mocks.MockNodeContext(name, {"port": 1})
        instance = mocks.MockNodeInstanceContext(f"{name}_1", {"ip": "10.0.0.1"})
        return mocks.MockRelationshipSubjectContext(node, instance)

    ctx = mocks.MockCloudifyContext(source=subject("a"), target=subject("b"))
    assert ctx.type == "relationship-instance"
    assert ctx.source.instance.runtime_properties["ip"] == "10.0.0.1"
    assert ctx.target.node.properties["port"] == 1


def test_mock_parts_may_be_replaced() -> None:
    from cloudify.mocks import MockCloudifyContext, MockContext

    ctx = MockCloudifyContext(node_id="n", properties={})
    ctx.operation = MockContext({"retry_number": 7})
    ctx.node.type_hierarchy = ["x"]
    assert ctx.operation.retry_number == 7


def test_mock_resources() -> None:
    from cloudify.mocks import MockCloudifyContext

    ctx = MockCloudifyContext(node_id="n", resources={"a.txt": "place/a.txt"})
    assert ctx.download_resource("a.txt") == "place/a.txt"
    with pytest.raises(RuntimeError, match=r"a\.txt"):
        ctx.download_resource("b.txt")


def test_plugin_function_under_a_mock() -> None:
    from cloudify.decorators import operation
    from cloudify.mocks import MockCloudifyContext
    from cloudify.state import ctx, ctx_parameters, current_ctx

    @operation(resumable=True)
    def create(port: int, **kwargs: Any) -> Any:
        ctx.instance.runtime_properties["port"] = port
        return ctx.operation.retry("again", retry_after=3)

    mock = MockCloudifyContext(node_id="web_1", operation={"retry_number": 0})
    current_ctx.set(mock, {"size": 3})
    try:
        create(port=5)
        assert ctx_parameters.size == 3
    finally:
        current_ctx.clear()
    assert mock.instance.runtime_properties == {"port": 5}
    assert create.resumable is True


def test_context_of_a_mapping() -> None:
    from cloudify.context import CloudifyContext

    ctx = CloudifyContext(
        {
            "node_id": "web_1",
            "node_name": "web",
            "deployment_id": "shop",
            "node_properties": {"port": 80},
            "operation": {"name": "create", "retry_number": 1},
        }
    )
    ctx.instance.runtime_properties["a"] = 1
    ctx.instance.update()
    assert (ctx.node.properties["port"], ctx.operation.retry_number, ctx.instance.id) == (80, 1, "web_1")


def test_local_command_runner(tmp_path: Any) -> None:
    from cloudify.exceptions import CommandExecutionError, CommandExecutionException
    from cloudify.utils import LocalCommandRunner

    runner = LocalCommandRunner()
    done = runner.run("sh -c 'echo $WORD; echo err >&2'", execution_env={"WORD": "hi"}, cwd=str(tmp_path))
    assert (done.std_out, done.std_err, done.return_code) == ("hi", "err", 0)
    with pytest.raises(CommandExecutionException) as caught:
        runner.run(["sh", "-c", "echo why >&2; exit 3"])
    assert (caught.value.code, caught.value.error) == (3, "why")
    assert runner.run("false", exit_on_failure=False).return_code == 1
    with pytest.raises(CommandExecutionError):
        runner.run("no-such-program-here")


def test_current_ctx_push_gives_the_former_back() -> None:
    from cloudify.state import NotInContext, current_ctx

    with current_ctx.push("outer", {"a": 1}):
        with current_ctx.push("inner"):
            assert current_ctx.get_ctx() == "inner"
        assert current_ctx.get_ctx() == "outer"
        assert current_ctx.get_parameters().a == 1
    with pytest.raises(NotInContext):
        current_ctx.get_ctx()
