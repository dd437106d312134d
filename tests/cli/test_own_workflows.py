"""Workflows of one's own: planners of plugins and of installed distributions, built-in ones under another name (B23, W62, W63)."""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import Terminal

import phaseline.plan.workflows
from phaseline import planning

FLOWS = """
from phaseline.planning import (
    SWITCH, Asked, Call, ExecutionStatus, Parameter, Verdict, Walk, choose, settled, verdict, weave, workflow,
)


@workflow(parameters={"twice": SWITCH})
def greet(topology, request, history, declare):
    names = ("first", "second") if request.parameters.get("twice") else ("first",)
    done = None
    for name in names:
        found = settled(history, name)
        if found is None:
            if done is not None and not done.is_met:
                break
            asked = Asked(topology, request, history, declare)
            return weave(asked, name, choose(topology, request), Walk((Call("greeting.greet"),)))
        done = found
    return verdict(history, done)


def cloudify_style(ctx, **kwargs):
    pass


@workflow()
def broken(topology, request, history, declare):
    raise RuntimeError("no idea what to do")
"""
GREETING = """
from pathlib import Path

from phaseline import operation


@operation(repeatable=True)
def greet(item):
    with Path(__file__).with_name("greeted").open("a") as file:
        file.write(item.node_id + "\\n")
"""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {acme: {executor: central_deployment_agent, install: false}}
node_templates:
  base: {type: cloudify.nodes.Root, interfaces: {greeting: {greet: acme.greeting.greet}}}
  top:
    type: cloudify.nodes.Root
    interfaces: {greeting: {greet: acme.greeting.greet}}
    relationships: [{type: cloudify.relationships.depends_on, target: base}]
workflows:
  hello: {mapping: acme.flows.greet, parameters: {tone: {default: warm}}}
  pull: acme.flows.greet
  begin: default_workflows.cloudify.plugins.workflows.start
  agents: default_workflows.cloudify.plugins.workflows.install_new_agents
  old: acme.flows.cloudify_style
  gone: acme.flows.nowhere
  lost: acme.flows.broken
  script: scripts/flow.sh
"""


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    file = terminal.write(BLUEPRINT)
    for name, text in (("flows", FLOWS), ("greeting", GREETING)):
        (terminal.folder / "plugins" / f"{name}.py").write_text(text)
    (terminal.folder / "scripts").mkdir()
    (terminal.folder / "scripts" / "flow.sh").write_text("#!/bin/sh\n")
    assert terminal.run("install", file).exit_code == 0
    return terminal


def start(shop: Terminal, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = shop.ask("executions", "start", *words, "-d", "shop")[1]
    return answer


def greeted(shop: Terminal) -> list[str]:
    file = shop.folder / "plugins" / "greeted"
    return file.read_text().splitlines() if file.exists() else []


def test_b23_a_planner_of_a_plugin_is_planned_run_and_shown(shop: Terminal) -> None:
    plan = shop.run("plan", "hello", "-d", "shop", "-p", "twice=true").stdout
    assert "first" in plan
    assert "second" in plan
    assert not greeted(shop)
    found = start(shop, "hello", "-p", "twice=true")
    assert (found["id"], found["status"]) == ("hello-2", "completed")
    assert greeted(shop) == ["base", "top", "base", "top"]


def test_b23_its_parameters_are_checked_and_those_that_the_blueprint_declares_are_handed_on(shop: Terminal) -> None:
    assert start(shop, "hello", "-p", "tone=cold")["status"] == "completed"
    (problem,) = start(shop, "hello", "-p", "twcie=true")["problems"]
    assert problem["code"] == "PL-P008" or "twice" in problem["mend"]


def test_w62_a_replaced_built_in_runs(shop: Terminal) -> None:
    assert start(shop, "pull")["status"] == "completed"
    assert greeted(shop) == ["base", "top"]


def test_w62_a_built_in_workflow_runs_under_another_name(shop: Terminal) -> None:
    found = start(shop, "begin")
    assert (found["workflow"], found["status"]) == ("begin", "completed")


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("agents", "PL-P011", "there are no agents on hosts"),
        ("install_new_agents", "PL-P011", "there are no agents on hosts"),
        ("old", "PL-P011", "which is no planner"),
        ("script", "PL-P011", "scripts cannot plan"),
        ("gone", "PL-P036", "AttributeError"),
    ],
)
def test_b23_what_cannot_plan_is_refused_with_the_reason(shop: Terminal, name: str, code: str, words: str) -> None:
    (problem,) = start(shop, name)["problems"]
    assert problem["code"] == code
    assert words in problem["message"]


def test_b23_a_planner_that_raises_fails_its_execution_and_nothing_else(shop: Terminal) -> None:
    found = start(shop, "lost")
    assert found["status"] == "failed"
    assert "RuntimeError: no idea what to do" in str(found["reason"])
    assert start(shop, "hello")["status"] == "completed"


def test_b23_an_installed_distribution_announces_workflows(
    shop: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "site/acme_flows-1.0.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site/acme_flows.py").write_text(FLOWS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-flows\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[phaseline.workflows]\nwelcome = acme_flows:greet\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert start(shop, "welcome")["status"] == "completed"
    (problem,) = start(shop, "welcom")["problems"]
    assert problem["code"] == "PL-P009"
    assert "did you mean 'welcome'" in problem["mend"].lower()


def test_w63_the_built_in_workflows_use_only_what_planners_of_others_may_use() -> None:
    folder = Path(phaseline.plan.workflows.__file__).parent
    modules = [each for name in planning.__all__ if inspect.ismodule(each := getattr(planning, name))]
    offered = [*modules, *(each for module in modules for each in vars(module).values())]
    wrong = []
    for file in sorted(folder.glob("*.py")):
        for found in ast.walk(ast.parse(file.read_text())):
            module = str(getattr(found, "module", None))
            if isinstance(found, ast.ImportFrom) and module.startswith("phaseline.") and "plan.workflows" not in module:
                names = [name.name for name in found.names if name.name not in planning.__all__]
                wrong += [
                    f"{file.name}: {name}"
                    for name in names
                    if not any(imported(module, name) is each for each in offered)
                ]
    assert not wrong


def imported(module: str, name: str) -> object:
    """What ``from module import name`` gives: planners of others may have it under another name, or from a module that they have."""
    return getattr(import_module(module), name, None) or import_module(f"{module}.{name}")
