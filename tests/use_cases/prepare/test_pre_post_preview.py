"""A plan asks hook classes beforehand, by every way that makes a plan(H36)."""

import json
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs: {size: {default: 1}}
node_templates:
  web: {type: cloudify.nodes.Compute, properties: {ip: {get_input: size}, agent_config: {install_method: none}}}
"""


def rule(name: str, when: str, **options: object) -> dict[str, object]:
    actions = ["CREATE", "DELETE", "UPDATE", "SCALE", "HEAL"]
    return {
        "name": name,
        "class": "phaseline.policies.rules:Rule",
        "options": {"when": when, "message": name, "actions": actions, **options},
    }


def settings(*classes: dict[str, object]) -> dict[str, str]:
    return {"hooks.classes": json.dumps(classes)}


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    return str(tmp_path / "blueprint.yaml")


def test_every_plan_has_what_hooks_say(file: str) -> None:
    classes = [rule("all", "true", effect="warn"), rule("wide", "InstanceCount > 1", effect="warn")]
    with phaseline.open("memory:", settings=settings(*classes)) as shop:
        assert [one.says for one in shop.blueprints.plan(file).around.hooks] == ["agrees", "agrees"]
        shop.executions.install(file, "shop")
        plans = {
            "uninstall": shop.plans.make("uninstall", "shop"),
            "scale": shop.plans.make("scale", "shop", parameters={"scalable_entity_name": "web"}),
            "update": shop.plans.update("shop", file, inputs={"size": 2}),
        }
    warned = {name: [one.name for one in found.around.hooks if one.warnings] for name, found in plans.items()}
    assert warned == {"uninstall": ["all"], "scale": ["all", "wide"], "update": ["all"]}


def test_a_plan_that_is_kept_shows_what_hooks_said(file: str) -> None:
    with phaseline.open("memory:", settings=settings(rule("all", "true", effect="warn"))) as shop:
        shop.executions.install(file, "shop")
        kept = shop.plans.make("uninstall", "shop", save=True)
        assert "warns: all" in shop.plans.show(kept.id).text


def test_without_hooks_a_plan_is_what_it_was(file: str) -> None:
    with phaseline.open("memory:") as shop:
        found = shop.blueprints.plan(file)
    assert found.around is None
    assert found.value is found.summary


def test_a_class_that_is_broken_refuses_the_plan_as_it_would_the_install(file: str) -> None:
    broken = {"name": "x", "class": "phaseline.policies.rules:Rule", "options": {"when": "InstanceCount >"}}
    with phaseline.open("memory:", settings=settings(broken)) as shop, pytest.raises(ProblemsError, match="PL-H001"):
        shop.blueprints.plan(file)


def test_a_class_that_hangs_is_given_up(file: str, tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(
        "import threading\n"
        "class Hangs:\n"
        "    timeout = 0.02\n"
        "    def do_preview_op(self, cnxt, stack, current_stack=None, action=None):\n"
        "        threading.Event().wait()\n"
    )
    hangs = {"name": "hangs", "class": "hangs:Hangs"}
    with phaseline.open("memory:", plugins=[str(tmp_path)], settings=settings(hangs)) as shop:
        (said,) = shop.blueprints.plan(file).around.hooks
    assert (said.says, said.message) == ("refuses", "timed out after 0.02 s")
