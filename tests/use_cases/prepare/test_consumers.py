"""DP7, DP8: what takes away what a living deployment reads is refused, when it is asked for and when it begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.use_cases.estates import ASKS, NET, Files, consumer

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.dependencies import Dependency
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

SCALED = """
groups: {many: {members: [router]}}
"""


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """``net`` is installed, ``app`` reads its address and is installed, ``idle`` reads it and is not."""
    found = Files(tmp_path)
    with found.open() as client:
        client.executions.install(found.write("net", NET), "net")
        client.executions.install(found.write("app", ASKS), "app")
        client.deployments.create(found.write("idle", ASKS), "idle")
    return found


def refused(call) -> ProblemsError:
    with pytest.raises(ProblemsError, match="PL-C131") as caught:
        call()
    return caught.value


def test_a23_uninstall_of_a_provider_is_refused_with_its_consumer_and_force_is_audited(files: Files) -> None:
    with files.open() as client:
        (found,) = refused(lambda: client.executions.uninstall("net")).problems
        assert "1 other deployment reads what it would touch: app (web.said)" in found.message
        assert found.details == {"consumers": [{"deployment": "app", "places": ["web.said"]}]}
        assert "--force" in found.mend
        view = client.executions.uninstall("net", force=True)
        assert view.status == "completed"
        lines = [line.text for line in client.executions.events(view.id).lines]
        assert any("forced although others read what it touches: app (web.said)" in line for line in lines)


def test_a25_inactive_consumers_do_not_block(files: Files) -> None:
    with files.open() as client:
        assert client.executions.uninstall("app").status == "completed"
        assert client.executions.uninstall("net").status == "completed"
        client.deployments.delete("net")


@pytest.mark.parametrize("workflow", ["uninstall", "stop", "restart", "reinstall"])
def test_dp7_workflows_that_touch_what_is_read_are_refused(files: Files, workflow: str) -> None:
    with files.open() as client:
        refused(lambda: client.executions.start(workflow, "net"))
        assert [view.workflow for view in client.executions.list(deployment="net").items] == ["install"]


def test_dp7_deletion_and_abandonment_are_refused(files: Files) -> None:
    with files.open() as client:
        for call in (client.deployments.delete, client.deployments.abandon):
            refused(lambda call=call: call("net"))
        assert client.deployments.find("net").status == "good"
        client.deployments.delete("net", force=True)
        assert client.deployments.list(text="net").total == 0


@pytest.mark.parametrize(("node", "is_blocked"), [("router", True), ("other", False)])
def test_a29_only_the_instances_behind_the_capability_count(files: Files, node: str, is_blocked: bool) -> None:
    with files.open() as client:
        (instance,) = client.instances.list(deployment="net", node=node).items
        call = lambda: client.executions.start("restart", "net", parameters={"node_instance_ids": [instance.id]})  # noqa: E731
        if is_blocked:
            refused(call)
        else:
            assert call().status == "completed"


def test_a29_scale_in_of_what_is_read_is_refused_and_scale_out_never(files: Files) -> None:
    scaled = NET.replace(
        "  router:\n", "  router:\n    capabilities: {scalable: {properties: {default_instances: 2}}}\n"
    )
    scaled = scaled.replace("get_attribute: [router, ip]", "get_attribute: [other, node_instance_id]")
    with files.open() as client:
        client.executions.install(files.write("wide", scaled.replace("  other:", "  other:")), "wide")
        client.executions.install(files.write("reader", consumer("{get_capability: [wide, address]}")), "reader")
        for delta in (1, -1):
            view = client.executions.start(
                "scale", "wide", parameters={"scalable_entity_name": "router", "delta": delta}
            )
            assert view.status == "completed"
        wide = scaled.replace("get_attribute: [other, node_instance_id]", "get_attributes_list: [router, ip]")
        client.executions.install(files.write("wider", wide), "wider")
        client.executions.install(files.write("reader2", consumer("{get_capability: [wider, address]}")), "reader2")
        given = {"scalable_entity_name": "router", "delta": -1}
        refused(lambda: client.executions.start("scale", "wider", parameters=given))
        given["delta"] = 1
        assert client.executions.start("scale", "wider", parameters=given).status == "completed"


def test_dp7_an_update_is_refused_if_it_changes_what_is_read(files: Files) -> None:
    other = NET.replace("other: {type: cloudify.nodes.Root}", "more: {type: cloudify.nodes.Root}")
    less = NET.replace("  address: {value: {get_attribute: [router, ip]}}\n", "")
    moved = NET.replace("get_attribute: [router, ip]", "get_attribute: [other, ip]")
    with files.open() as client:
        assert client.deployments.update("net", files.write("beside", other)).status == "completed"
        for name, text in (("less", less), ("moved", moved)):
            file = files.write(name, text)
            refused(lambda file=file: client.deployments.update("net", file))
        assert (
            client.deployments.update("net", files.folder / "moved" / "blueprint.yaml", force=True).status
            == "completed"
        )


def test_a35_a_plain_child_blocks_beside_any_other_consumer(files: Files) -> None:
    with files.open() as client:
        client.executions.install(files.write("child", consumer("text")), "child", labels=["csys-obj-parent=net"])
        (found,) = refused(lambda: client.executions.uninstall("net")).problems
        assert {one["deployment"] for one in found.details["consumers"]} == {"app", "child"}
        client.executions.uninstall("app")
        (found,) = refused(lambda: client.executions.uninstall("net")).problems
        assert found.details == {"consumers": [{"deployment": "child", "places": ["csys-obj-parent"]}]}
        assert client.executions.uninstall("net", recursive=True).status == "completed"


def test_a32_a_queued_uninstall_is_refused_at_its_beginning_when_a_consumer_has_come(files: Files) -> None:
    with files.open() as client:
        client.executions.install(files.write("shop", consumer("text")), "shop")
        client.executions.uninstall("app")
        found = start(client.ctx, WorkflowStart("uninstall", "net"))  # stored; no engine runs yet
        store = client.app.store.of("default_tenant")
        reads = Dependency("capability", "nodes.web.properties.seen", '{"get_capability":["net","address"]}', "net")
        store.dependencies.replace(store.deployment("shop").number, [reads])
        client.executions.start("check_status", "shop")  # any command whose process becomes the engine
        view = client.executions.show(found.row.id)
        assert (view.status, "shop (web.seen)" in view.reason) == ("failed", True)
        assert client.deployments.find("net").states == {"started": 2}


def test_dp7_cloudify_compat_gives_the_list_of_the_ancestor(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHASELINE_DEPENDENCIES_CLOUDIFY_COMPAT", "yes")
    with files.open() as client:
        refused(lambda: client.executions.start("stop", "net"))
        refused(lambda: client.executions.start("heal", "net"))
        assert client.executions.start("restart", "net").status == "completed"


def test_dp7_a_plan_warns_of_what_would_be_refused(files: Files) -> None:
    with files.open() as client:
        for plan in (client.plans.uninstall("net"), client.plans.make("restart", "net")):
            assert [one.code for one in plan.summary.warnings] == ["PL-C131"]
        assert client.plans.make("check_status", "net").warnings == ()
