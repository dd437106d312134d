"""``plugins order``: what runs, before anything runs (F28, F36)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.packages.made import files

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  web: {type: cloudify.nodes.Root, instances: {deploy: 2}}
"""
FIRST = ("pre_deployment", "pre_deployment/100", "pre_deployment/-100", "pre_deployment/-99.9")
SECOND = ("pre_deployment", "pre_deployment/100.0", "pre_deployment/-101", "pre_deployment/0")
EXPECTED = [
    ("pre_deployment/-101", "plugin2"),
    ("pre_deployment/-100", "plugin1"),
    ("pre_deployment/-99.9", "plugin1"),
    ("pre_deployment", "plugin1"),
    ("pre_deployment", "plugin2"),
    ("pre_deployment/0", "plugin2"),
    ("pre_deployment/100", "plugin1"),
    ("pre_deployment/100.0", "plugin2"),
]
"""The table of the source document."""


def written(folder: Path, name: str, stages: tuple[str, ...], role: str = "'*'") -> str:
    """A package with a task in each of these stages that says who it is."""
    tasks = "".join(
        f"- role: {role}\n  stage: {stage}\n  type: shell\n  parameters: {{cmd: 'echo {name}', timeout: 60}}\n"
        for stage in stages
    )
    where = folder / name
    for path, content in files(2, tasks=tasks).items():
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        if not path.endswith("/"):
            (where / path).write_bytes(content.replace(b"name: lma", f"name: {name}".encode()))
    (where / "repositories/ubuntu").mkdir(parents=True, exist_ok=True)
    return str(where)


def ok(terminal: Terminal, *words: str) -> str:
    result = terminal.run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    ok(terminal, "plugins", "install", written(terminal.folder, "plugin2", SECOND))
    ok(terminal, "plugins", "install", written(terminal.folder, "plugin1", FIRST))
    ok(terminal, "deployments", "create", "-d", "shop", str(terminal.folder / "blueprint.yaml"))
    for name in ("plugin2", "plugin1"):
        ok(terminal, "deployments", "plugins", "enable", "shop", name)
    return terminal


def test_f36_the_order_of_a_deployment_is_printed_before_any_run_and_is_the_one_that_runs(shop: Terminal) -> None:
    _, everywhere = shop.ask("plugins", "order")
    _, here = shop.ask("plugins", "order", "-d", "shop")
    for found in (everywhere, here):
        assert [(row["written"], row["package"]) for row in found["tasks"]] == EXPECTED
    assert {row["instances"] for row in here["tasks"]} == {2}
    ok(shop, "executions", "start", "install", "-d", "shop")
    ran = [
        line.split("<out> ")[1] for line in ok(shop, "executions", "logs", "-d", "shop").splitlines() if "<out>" in line
    ]
    assert ran == [package for _, package in EXPECTED for _ in range(2)]


def test_f28_the_order_says_who_runs_a_task_and_why_nobody_does(shop: Terminal) -> None:
    ok(shop, "plugins", "install", written(shop.folder, "other", ("post_deployment/5",), "[nobody]"))
    ok(shop, "deployments", "plugins", "enable", "shop", "other")
    ok(shop, "plugins", "install", written(shop.folder, "own", ("post_deployment/6",), "master"))
    ok(shop, "deployments", "plugins", "enable", "shop", "own")
    *_, nobody, master = ok(shop, "plugins", "order", "-d", "shop").splitlines()
    assert nobody.endswith("skipped: no matching instance")
    assert "skipped: tasks of the role master are off: set plugins.allow_master" in master
    assert ok(shop, "plugins", "order").splitlines()[-1].endswith("the engine's machine")


def test_where_nothing_is_enabled_the_order_says_so(terminal: Terminal) -> None:
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    ok(terminal, "deployments", "create", "-d", "bare", str(terminal.folder / "blueprint.yaml"))
    assert (
        ok(terminal, "plugins", "order", "-d", "bare")
        == "No package that is enabled for bare has a task for install.\n"
    )
    assert ok(terminal, "plugins", "order") == "No package has a task for install.\n"
