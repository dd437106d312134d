"""Statuses of deployments with all that belongs to them, environments and trees (LB2, LB7, LB10)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError
from phaseline.client.client import Client
from phaseline.views.views import DeploymentView

BLUEPRINT = """tosca_definitions_version: cloudify_dsl_1_5
imports: [cloudify/types/types.yaml]
inputs: {works: {default: true}}
node_templates:
  server:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: step.sh, max_retries: 0, inputs: {WORKS: {get_input: works}, FOLDER: "%s"}}
plugins: {script: {executor: central_deployment_agent, install: false}}
"""
STEP = """#!/bin/sh
test -e "$FOLDER/works" || test "$WORKS" = True || test "$WORKS" = true
"""


class Estate:
    """A client on a store of its own, with a blueprint whose installation fails if it is told so."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self.folder = client, folder

    def make(self, name: str, *parents: str, kind: str = "", install: bool = True, works: bool = True) -> None:
        labels = [f"csys-obj-parent={parent}" for parent in parents] + ([f"csys-obj-type={kind}"] if kind else [])
        file = str(self.folder / "blueprint.yaml")
        if install:
            self.client.executions.install(file, name, inputs={"works": works}, labels=labels)
        else:
            self.client.deployments.create(file, name, labels=labels)

    def seen(self, name: str) -> DeploymentView:
        (found,) = (view for view in self.client.deployments.list(limit=100).items if view.name == name)
        return found


@pytest.fixture
def estate(tmp_path: Path) -> Iterator[Estate]:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT % tmp_path)
    (tmp_path / "step.sh").write_text(STEP)
    (tmp_path / "step.sh").chmod(0o755)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as client:
        yield Estate(client, tmp_path)


def test_a66_a_failed_leaf_makes_all_above_it_require_attention_until_it_is_mended(estate: Estate) -> None:
    estate.make("world", kind="Environment")
    estate.make("europe", "world", kind="environment")
    estate.make("shop", "europe")
    assert [estate.seen(name).deployment_status for name in ("world", "europe", "shop")] == ["good"] * 3
    estate.make("leaf", "shop", works=False)
    above = [estate.seen(name) for name in ("world", "europe", "shop")]
    assert [view.status for view in above] == ["good"] * 3, "today's word is about the deployment alone"
    assert {view.deployment_status for view in above} == {"requires_attention"}
    assert [(view.sub_services_count, view.sub_environments_count) for view in above] == [(2, 1), (2, 0), (1, 0)]
    assert (above[0].sub_services_status, above[0].sub_environments_status) == ("requires_attention", "good")
    leaf = estate.seen("leaf")
    assert (leaf.latest_execution_status, leaf.installation_status) == ("failed", "inactive")
    (estate.folder / "works").touch()
    estate.client.executions.retry(deployment="leaf")
    assert [estate.seen(name).deployment_status for name in ("world", "europe", "shop", "leaf")] == ["good"] * 4


def test_lb10_what_is_only_made_is_inactive_and_counts_above(estate: Estate) -> None:
    estate.make("top")
    estate.make("made", "top", install=False)
    made, top = estate.seen("made"), estate.seen("top")
    assert (made.status, made.installation_status, made.latest_execution_status) == ("not_installed", "inactive", "")
    assert (top.deployment_status, top.parents, made.parents) == ("requires_attention", (), ("top",))


def test_lb10_what_belongs_to_several_counts_once_in_each(estate: Estate) -> None:
    estate.make("top", install=False)
    for side in ("left", "right"):
        estate.make(side, "top", install=False)
    estate.make("shared", "left", "right", install=False)
    assert [estate.seen(name).sub_services_count for name in ("top", "left", "right")] == [3, 1, 1]


def test_lb7_the_tree_of_an_environment_has_all_below_it(estate: Estate) -> None:
    estate.make("world", kind="environment", install=False)
    estate.make("shop", "world", install=False)
    estate.make("db", "shop", install=False)
    estate.make("alone", install=False)
    found = estate.client.deployments.tree("world")
    assert [(view.name, view.parents) for view in found] == [("world", ()), ("shop", ("world",)), ("db", ("shop",))]
    inner = estate.client.deployments.tree("shop")
    assert [(view.name, view.parents) for view in inner] == [("shop", ()), ("db", ("shop",))]


def test_lb7_an_environment_is_named_when_something_is_put_into_it(estate: Estate) -> None:
    file = str(estate.folder / "blueprint.yaml")
    estate.make("world", kind="environment", install=False)
    estate.make("plain", install=False)
    estate.client.executions.install(file, "shop", environment="world")
    assert estate.seen("shop").parents == ("world",)
    for name, told in (("wrld", "did you mean 'world'"), ("plain", "csys-obj-type=environment")):
        with pytest.raises(ProblemsError) as caught:
            estate.client.executions.install(file, "other", environment=name)
        (problem,) = caught.value.problems
        assert problem.code == "PL-C158"
        assert told in problem.mend
    assert [view.name for view in estate.client.deployments.list().items] == ["plain", "shop", "world"]
    page = estate.client.environments.list()
    assert [(view.name, view.sub_services_count) for view in page.items] == [("world", 1)]
    assert estate.client.environments.list(filter="sub_services_count > 1").total == 0


def test_lb2_a_parent_must_be_there(estate: Estate) -> None:
    estate.make("shop", install=False)
    with pytest.raises(ProblemsError, match=r"no deployment 'shpo'") as caught:
        estate.make("db", "shpo", install=False)
    assert "did you mean 'shop'?" in caught.value.problems[0].mend
    with pytest.raises(ProblemsError, match=r"no deployment 'nothing'"):
        estate.client.deployments.labels("shop", add=["csys-obj-parent=nothing", "team=web"])
    assert estate.client.deployments.show("shop").labels == {}


def test_a67_a_circle_of_parents_is_refused_with_its_chain(estate: Estate) -> None:
    estate.make("a", install=False)
    estate.make("b", "a", install=False)
    estate.make("c", "b", install=False)
    with pytest.raises(ProblemsError, match=r"a → c → b → a") as caught:
        estate.client.deployments.labels("a", add=["csys-obj-parent=c"])
    assert caught.value.problems[0].code == "PL-C158"
    with pytest.raises(ProblemsError, match=r"cannot belong to itself"):
        estate.client.deployments.labels("a", add=["csys-obj-parent=a"])
    assert estate.client.deployments.show("a").labels == {}
    estate.client.deployments.labels("c", add=["csys-obj-parent=a"])
    assert estate.client.deployments.show("c").labels == {"csys-obj-parent": ["a", "b"]}
