"""Tasks that wait for one another are refused before anything is up: by enable, order, plan and install (F25)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.packages.made import files

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  web: {type: cloudify.nodes.Root, instances: {deploy: COUNT}}
"""
AFTER_ITSELF = "- {id: a, type: skipped, version: 2.0.0, role: [web], cross-depends: [{name: a}]}\n"
"""Each instance waits for all others: a circle of two or more, and none of one."""


def package(folder: Path) -> str:
    metadata = files(4)["metadata.yaml"].decode()
    for name, content in files(4, deployment_tasks=AFTER_ITSELF, metadata=metadata).items():
        path = folder / "lma" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.write_bytes(content)
    return str(folder / "lma")


def site(terminal: Terminal, count: int) -> str:
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT.replace("COUNT", str(count)))
    assert terminal.run("plugins", "install", package(terminal.folder)).exit_code == 0
    return str(terminal.folder / "blueprint.yaml")


def codes(answer: tuple[int, dict | list]) -> list[str]:
    found = answer[1]
    return [problem["code"] for problem in found.get("problems", ())] if isinstance(found, dict) else []


def test_f25_a_circle_among_40_instances_is_refused_when_the_package_is_enabled(terminal: Terminal) -> None:
    terminal.run("install", site(terminal, 40), "-d", "farm")
    assert codes(terminal.ask("deployments", "plugins", "enable", "farm", "lma")) == ["PL-F015"]
    assert not terminal.ask("deployments", "plugins", "list", "farm")[1]


@pytest.mark.parametrize(
    "words", [("plan", "scale", "-d", "farm"), ("executions", "start", "scale", "-d", "farm")], ids=["plan", "start"]
)
def test_f25_a_circle_that_comes_with_a_second_instance_is_refused_before_the_scale(
    terminal: Terminal, words: tuple[str, ...]
) -> None:
    terminal.run("install", site(terminal, 1), "-d", "farm")
    assert terminal.run("deployments", "plugins", "enable", "farm", "lma").exit_code == 0
    assert codes(terminal.ask("plugins", "order", "-d", "farm")) == []
    two = ("-p", "scalable_entity_name=web", "-p", "delta=2")
    assert "PL-F015" in codes(terminal.ask(*words, *two))
    assert terminal.ask("deployments", "show", "farm")[1]["nodes"] == {"web": 1}
