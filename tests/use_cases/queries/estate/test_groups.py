"""Lists and details of deployment groups are tested with the commands (tests/use_cases/commands/estate/test_groups.py)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.use_cases.commands.create_deployment import create
from phaseline.use_cases.commands.delete_deployment import delete_deployment
from phaseline.use_cases.commands.estate.groups import GroupOrder, create_group
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.queries.deployments import outputs
from phaseline.use_cases.queries.estate.groups import list_groups, show_group

PLAIN = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {port: {default: 80}}
node_templates: {net: {type: cloudify.nodes.Root}}
capabilities: {port: {value: {get_input: port}}}
"""
READER = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates: {net: {type: cloudify.nodes.Root}}
outputs: {ports: {value: {get_group_capability: [shops, port]}}}
"""


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    (tmp_path / "blueprint.yaml").write_text(PLAIN)
    (tmp_path / "reader.yaml").write_text(READER)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as found:
        for number, name in enumerate(("b", "a")):
            create(found, DeploymentSpec(str(tmp_path / "blueprint.yaml"), name, {"port": number}))
        create_group(found, "shops", GroupOrder(deployments=["a", "b"]))
        yield found


def test_gr11_a_deleted_deployment_is_no_member_any_more(ctx: RequestContext) -> None:
    delete_deployment(ctx, "b")
    assert show_group(ctx, "shops").members == ["a"]
    assert [view.count for view in list_groups(ctx)] == [1]


def test_dp3_the_capabilities_of_a_group_are_read_by_the_names_of_its_members(
    ctx: RequestContext, tmp_path: Path
) -> None:
    create(ctx, DeploymentSpec(str(tmp_path / "reader.yaml"), "reader"))
    assert outputs(ctx, "reader").outputs["ports"] == [1, 0]
