"""``phaseline schedules …`` as a user types it (SC11)."""

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
node_templates: {net: {type: cloudify.nodes.Root}}
"""


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "blueprint.yaml").write_text(PLAIN)
    url = f"sqlite:///{tmp_path}/store.db"
    assert typed(url, ["deployments", "create", str(tmp_path / "blueprint.yaml"), "-d", "shop"]).exit_code == 0
    return url


def typed(store: str, words: Sequence[str]) -> Result:
    return CliRunner().invoke(root, ["--store", store, *words])


def test_sc11_a_schedule_is_typed_and_listed_as_json(store: str) -> None:
    words = ["schedules", "create", "nightly", "-d", "shop", "--workflow", "heal", "--cron", "0 2 * * *", "-p", "a=1"]
    refused = typed(store, words)
    assert refused.exit_code == 1
    assert "'a'" in refused.output
    made = typed(store, [*words[:-2], "--no-stop-on-fail", "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["rule"] == {"cron": "0 2 * * *"}
    found = json.loads(typed(store, ["schedules", "list", "--json"]).stdout)
    assert (found["total"], found["schedules"][0]["name"]) == (1, "nightly")
    assert found["schedules"][0]["next_at"].endswith("02:00:00.000Z")


def test_sc11_updates_keep_the_parameters_that_are_not_given(store: str) -> None:
    create = ["schedules", "create", "nightly", "-d", "shop", "--workflow", "execute_operation", "--every", "1d"]
    assert typed(store, [*create, "-p", "operation=cloudify.interfaces.lifecycle.start"]).exit_code == 0
    done = typed(store, ["schedules", "update", "nightly", "-d", "shop", "--slip", "5", "--json"])
    assert json.loads(done.stdout)["parameters"] == {"operation": "cloudify.interfaces.lifecycle.start"}
    assert json.loads(done.stdout)["slip_min"] == 5


def test_bad_input_is_refused_with_a_code(store: str) -> None:
    for words, code in (
        (["show", "nightly", "-d", "shop"], 1),
        (["create", "nightly", "-d", "shop", "--every", "1d"], 2),
        (["create", "nightly", "-d", "shop", "--workflow", "heal", "--every", "2 fortnights"], 1),
        (["preview", "nightly", "-d", "shop", "--count", "0"], 2),
    ):
        assert typed(store, ["schedules", *words]).exit_code == code, words
