"""Deployments are forgotten, never while something of them may exist unless that is forced."""

from pathlib import Path

import pytest

import phaseline
from phaseline.embedded.follow import follow
from phaseline.model.deployment.stack_documents import ABANDONED
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.delete_deployment import delete_deployment

TEXT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web: {type: cloudify.nodes.WebServer, instances: {deploy: 2}}
"""


def test_what_stands_is_not_forgotten_and_its_abandonment_keeps_a_document(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(TEXT)
    with phaseline.open(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        assert opened.executions.install(str(file), "shop").is_good
        with pytest.raises(ProblemsError) as caught:
            delete_deployment(opened.ctx, "shop")
        assert [(one.code, one.message) for one in caught.value.problems] == [
            ("PL-C015", "2 instances of the deployment 'shop' may still exist")
        ]
        assert follow(opened.ctx, delete_deployment(opened.ctx, "shop", force=True)).instance_count == 2
        assert opened.ctx.store.deployment("shop") is None
        (kept,) = opened.ctx.store.stack_documents.all(ABANDONED)
        assert kept.deployment_name == "shop"


def test_one_of_which_nothing_stands_is_forgotten_at_once(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(TEXT)
    with phaseline.open(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        opened.deployments.create(str(file), deployment="shop")
        assert delete_deployment(opened.ctx, "shop").name == "shop"
        assert not opened.ctx.store.deployments()
        assert not opened.ctx.store.executions(), "nothing was asked for"
