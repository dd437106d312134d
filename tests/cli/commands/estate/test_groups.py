"""``phaseline groups …`` as a user types it (GR1, A45)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phaseline.cli.command_tree import root

PLAIN = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
inputs: {port: {type: integer, default: 80}}
node_templates: {net: {type: cloudify.nodes.Root}}
"""


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "blueprint.yaml").write_text(PLAIN)
    return f"sqlite:///{tmp_path}/store.db"


def typed(store: str, words: Sequence[str]) -> Result:
    return CliRunner().invoke(root, ["--store", store, *words])


def test_gr1_a_group_is_typed_and_listed_as_json(store: str, tmp_path: Path) -> None:
    file = str(tmp_path / "blueprint.yaml")
    made = typed(store, ["groups", "create", "shops", "--blueprint", file, "--count", "2", "-i", "port=1", "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["inputs"] == {"port": 1}
    found = json.loads(typed(store, ["groups", "list", "--json"]).stdout)
    assert [(one["name"], one["count"]) for one in found["groups"]] == [("shops", 2)]
    assert found["total"] == 1
    assert typed(store, ["groups", "delete", "shops"]).exit_code == 0


def test_a45_the_mistakes_of_a_file_are_printed_with_their_lines(store: str, tmp_path: Path) -> None:
    (tmp_path / "shops.csv").write_text("id,port\na,1\nb,x\nc,y\n")
    words = ["--blueprint", str(tmp_path / "blueprint.yaml"), "--each-inputs", str(tmp_path / "shops.csv")]
    refused = typed(store, ["groups", "create", "shops", *words])
    assert refused.exit_code == 1
    assert [f"shops.csv:{line}:1" in refused.output for line in (2, 3, 4)] == [False, True, True]
    assert typed(store, ["groups", "show", "shops"]).exit_code == 1


def test_gr6_a_run_is_typed_and_its_exit_code_is_that_of_its_executions(store: str, tmp_path: Path) -> None:
    file = str(tmp_path / "blueprint.yaml")
    assert typed(store, ["groups", "create", "shops", "--blueprint", file, "--count", "2"]).exit_code == 0
    held = typed(store, ["groups", "run", "shops", "install", "--concurrency", "0", "--json"])
    assert (held.exit_code, json.loads(held.stdout)["status"]) == (0, "paused")
    assert typed(store, ["groups", "cancel", "shops"]).exit_code == 1
    assert typed(store, ["groups", "retry", "run-1", "--only", "canceled"]).exit_code == 0
    assert typed(store, ["groups", "failures", "shops"]).exit_code == 0
    runs = json.loads(typed(store, ["groups", "runs", "shops", "--json"]).stdout)["runs"]
    assert [(one["id"], one["status"], one["counts"]) for one in runs] == [("run-1", "completed", {"completed": 2})]
    assert "workflow_succeeded" in typed(store, ["groups", "events", "run-1"]).output
    assert typed(store, ["groups", "run", "shops", "install", "--concurrency", "many"]).exit_code == 1
