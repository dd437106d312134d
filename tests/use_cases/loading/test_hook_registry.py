"""Hook classes of a process that lives long, while another one with the same store reloads, disables and enables them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import phaseline
from phaseline.client.client import Client

REFUSES = """
class Gate:
    def do_pre_op(self, *told):
        raise ValueError("{reason}")
"""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {n: {type: cloudify.nodes.Root}}
"""


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Client, Client]]:
    """Two processes' clients of one store, whose settings name a class in a folder."""
    (tmp_path / "gate.py").write_text(REFUSES.format(reason="closed"))
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    monkeypatch.setenv("PHASELINE_PLUGINS_PATH", str(tmp_path))
    monkeypatch.setenv("PHASELINE_HOOKS_CLASSES", json.dumps([{"class": "gate:Gate", "name": "gate"}]))
    url = f"sqlite:///{tmp_path}/s.db"
    with phaseline.open(url) as one, phaseline.open(url) as other:
        yield one, other


def actions(client: Client) -> list[str]:
    (hook,) = client.hooks.list().hooks
    return list(hook.actions)


def test_a_reload_of_one_process_reaches_the_other(clients: tuple[Client, Client], tmp_path: Path) -> None:
    one, other = clients
    other.deployments.create(str(tmp_path / "blueprint.yaml"), "first")
    before = actions(one)
    text = REFUSES.format(reason="closed") + "    actions = {'DELETE'}\n"
    (tmp_path / "gate.py").write_text(text)
    assert actions(one) == before, "nothing is imported again before a reload"
    assert other.hooks.reload().pid == 0
    assert actions(one) == ["DELETE"] != before


def test_a_class_that_one_process_disables_is_not_called_by_the_other(
    clients: tuple[Client, Client], tmp_path: Path
) -> None:
    one, other = clients
    file = str(tmp_path / "blueprint.yaml")
    assert not one.executions.install(file, "a").is_good
    other.hooks.disable("gate")
    assert one.executions.install(file, "b").is_good
    other.hooks.enable("gate")
    assert not one.executions.install(file, "c").is_good


def test_a_process_without_a_store_has_no_version_of_hooks(tmp_path: Path) -> None:
    with phaseline.open(f"sqlite:///{tmp_path}/none.db") as client:
        assert client.app.last_reload() == 0
        assert not (tmp_path / "none.db").exists()
