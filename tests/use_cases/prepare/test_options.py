"""How often and when failed operations are tried again: as asked for, else as set, else as the blueprint's language has it."""

import json
from pathlib import Path

import pytest

import phaseline
from phaseline.app.app_context import SystemClock
from phaseline.app.settings import Settings, load_settings
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.store import open_store
from phaseline.store.codec.requests import from_json, to_json
from phaseline.use_cases.prepare.options import retries_of

BACKOFF = (2.0, 8.0, 30.0)
OWN, OTHERS = "phaseline_dsl_1_0", "cloudify_dsl_1_3"
BLUEPRINT = """
tosca_definitions_version: {language}
imports: [cloudify/types/types.yaml]
node_templates:
  one:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {{implementation: one.sh}}
        start: {{implementation: one.sh, max_retries: 7}}
        stop: {{implementation: one.sh, retry_interval: 5}}
"""


@pytest.mark.parametrize(
    ("language", "given", "asked", "expected"),
    [
        (OWN, {}, None, RetryPolicy(3, backoff_s=BACKOFF)),
        (OTHERS, {}, None, RetryPolicy(60, 15.0)),
        (OWN, {"run.task_retries": "5"}, None, RetryPolicy(5, backoff_s=BACKOFF)),
        (OTHERS, {"run.task_retries": "5"}, None, RetryPolicy(5, 15.0)),
        (OWN, {"run.task_retries": "5"}, -1, RetryPolicy(-1, backoff_s=BACKOFF)),
        (OTHERS, {}, 2, RetryPolicy(2, 15.0)),
        (OWN, {"run.task_retry_interval": "4"}, None, RetryPolicy(3, 4.0)),
        (OTHERS, {"run.task_retry_interval": "4"}, None, RetryPolicy(60, 4.0)),
    ],
)
def test_d34_the_option_wins_then_the_setting_then_the_language(
    language: str, given: dict[str, str], asked: int | None, expected: RetryPolicy
) -> None:
    settings = load_settings(given=given, environment={})
    assert retries_of(language, settings, asked) == expected
    passed_on = load_settings(environment=settings.variables())
    assert retries_of(language, passed_on, asked) == expected, "an engine in the background has the same"


@pytest.mark.parametrize(
    ("language", "create"), [(OWN, (3, 15_000, (2_000, 8_000, 30_000))), (OTHERS, (60, 15_000, ()))]
)
def test_d34_a_stored_execution_has_the_policy_and_an_operation_keeps_its_own(
    tmp_path: Path, language: str, create: tuple[int, int, tuple[int, ...]]
) -> None:
    file = tmp_path / "blueprint.yaml"
    file.write_text(BLUEPRINT.format(language=language))
    script = tmp_path / "one.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    store = f"sqlite:///{tmp_path}/store.db"
    with phaseline.open(store) as shop:
        assert shop.executions.install(str(file), "one").is_good
        assert shop.executions.uninstall("one").is_good
    opened = open_store(store, SystemClock())
    graphs = [opened.graph(row.id) for execution in (1, 2) for row in opened.graphs(execution)]
    opened.close()
    found = {policy.lane.phase.rpartition(".")[2]: policy for graph in graphs for policy in graph.policies}
    told = {name: (one.max_retries, one.retry_interval_ms, one.backoff_ms) for name, one in found.items()}
    assert told["create"] == create
    assert told["start"] == (7, *create[1:])
    assert told["stop"] == (create[0], 5_000, ())


def test_d34_a_request_of_before_keeps_its_policy() -> None:
    old = json.loads(to_json(Request("install", retries=RetryPolicy(60, 15.0))))
    assert "backoff_s" not in old["retries"], "older versions read it, too"
    assert from_json(json.dumps(old)).retries == RetryPolicy(60, 15.0)
    new = Request("install", retries=RetryPolicy(3, backoff_s=BACKOFF))
    assert from_json(to_json(new)) == new


def test_settings_that_say_nothing_of_retries_leave_it_to_the_language() -> None:
    assert Settings("sqlite://").task_retries is None
