"""Preparing an installation or a removal stores nothing; submitting stores what was prepared."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import phaseline
from phaseline.app.app_context import RequestContext
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.install import submit_install, submit_uninstall
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.install_preparation import prepare_install, prepare_uninstall

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {n: {type: cloudify.nodes.Root}}
"""


@pytest.fixture
def ctx() -> Iterator[RequestContext]:
    with phaseline.open("memory:") as client:
        yield client.ctx


@pytest.fixture
def order(tmp_path: Path) -> DeploymentSpec:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    return DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop")


def test_a_prepared_install_is_stored_by_its_submission_only(ctx: RequestContext, order: DeploymentSpec) -> None:
    look = ctx.store.changed()
    prepared = prepare_install(ctx, order)
    assert not ctx.store.changed(look)
    assert (prepared.name, prepared.chosen.replaces, prepared.execution.request.workflow) == ("shop", 0, "install")
    submission = submit_install(ctx, prepared)
    assert submission.warnings == prepared.warnings
    assert [row.id for row in ctx.store.executions()] == [submission.row.id]
    assert submission.row.created_at == prepared.execution.created_at


def test_a_prepared_uninstall_is_stored_by_its_submission_only(ctx: RequestContext, order: DeploymentSpec) -> None:
    with phaseline.open("memory:") as client:
        assert client.executions.install(order.file, "shop").is_good
        look = client.ctx.store.changed()
        prepared = prepare_uninstall(client.ctx, "shop", ignore_failure=True)
        assert not client.ctx.store.changed(look)
        submission = submit_uninstall(client.ctx, prepared)
        assert submission.row.request.parameters == {"ignore_failure": True}


def test_all_problems_are_found_before_anything_is_stored(ctx: RequestContext, order: DeploymentSpec) -> None:
    submit_install(ctx, prepare_install(ctx, order))
    with pytest.raises(ProblemsError) as raised:
        prepare_install(ctx, order)
    assert raised.value.problems[0].code == "PL-S010"
    with pytest.raises(ProblemsError) as raised:
        prepare_uninstall(ctx, "nothing")
    assert raised.value.problems[0].code == "PL-C010"
