"""What a hook may look up beyond its deployment: what others with the same label have, whom somebody has approved."""

import json
from pathlib import Path

import pytest

import phaseline
from phaseline.calls.deployments.hook_lookups import ExecutionHookLookup
from phaseline.model.blueprint.labels import Label
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request
from phaseline.model.rows.rows import Actor, NewDeployment, NewExecution
from phaseline.store.memory.store import MemoryStore
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.clock import VirtualClock

ANN = Actor("ann")

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs: {count: {default: 2}, team: {default: web}}
node_templates:
  machine:
    type: cloudify.nodes.Compute
    properties: {agent_config: {install_method: none}}
    instances: {deploy: {get_input: count}}
  disk: {type: cloudify.nodes.Volume}
labels: {team: {values: [{get_input: team}]}}
"""
COMPUTE = "cloudify.nodes.Compute"


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    return str(tmp_path / "blueprint.yaml")


def quota(most: int) -> dict[str, str]:
    options = {"key": "team", "most": most, "type": COMPUTE}
    return {
        "hooks.classes": json.dumps([{"name": "q", "class": "phaseline.policies.quotas:Quota", "options": options}])
    }


def test_instances_of_others_count_while_they_stand(file: str) -> None:
    with phaseline.open("memory:", settings=quota(4)) as shop:
        assert shop.executions.install(file, "one").status == "completed"
        assert shop.executions.install(file, "two").status == "completed"
        refused = shop.executions.install(file, "three", inputs={"count": 1})
        assert refused.reason == (
            f"pre hook q: team=web may have 4 instances of {COMPUTE}: 4 are there in 2 other deployments, "
            "and with three it would be 5"
        )
        assert shop.executions.install(file, "other", inputs={"team": "ops"}).status == "completed"
        shop.executions.uninstall("one")
        assert shop.executions.install(file, "four").status == "completed", "what is gone or was refused counts no more"


def test_a_scale_is_bounded_by_what_it_leads_to(file: str) -> None:
    with phaseline.open("memory:", settings=quota(3)) as shop:
        shop.executions.install(file, "one")
        wider = {"scalable_entity_name": "machine"}
        assert shop.executions.start("scale", "one", parameters=wider).status == "completed"
        refused = shop.executions.start("scale", "one", parameters=wider)
        assert refused.reason.endswith("and with one it would be 4")


def test_of_two_installs_that_ask_at_once_the_older_one_continues() -> None:
    """Both are stored and open when their hooks are asked: the younger one counts the older one, and not the other way round."""
    store = MemoryStore(VirtualClock())
    numbers = [_begun(store, name) for name in ("one", "two")]
    seen = [ExecutionHookLookup(number, store, lambda _: None, lambda: None).usage("team", "web") for number in numbers]
    assert [[one.count() for one in usage] for usage in seen] == [[0, 0], [2, 0]]
    preview = ExecutionHookLookup(0, store, lambda _: None, lambda: None).usage("team", "web")
    assert [one.count() for one in preview] == [2, 2]


def test_d41_a_quota_is_asked_before_a_deployment_gets_its_label(file: str) -> None:
    with phaseline.open("memory:", settings=quota(2)) as shop:
        assert shop.executions.install(file, "one").status == "completed"
        assert shop.executions.install(file, "two", inputs={"team": "ops"}).status == "completed"
        with pytest.raises(phaseline.ProblemsError, match=r"PL-H022 .*with two it would be 4"):
            shop.deployments.labels("two", add=["team=web"])
        assert shop.deployments.labels("two").labels == {"team": ["ops"]}
        told = shop.deployments.labels("two", add=["team=dev"], remove=["team"])
        assert (told.labels, told.added, told.removed) == ({"team": ["dev"]}, 1, 1)
        assert shop.deployments.show("two").labels == {"team": ["dev"]}


def _begun(store: MemoryStore, name: str) -> int:
    application = blueprint(node("web", instances=2))
    made = NewDeployment(name, application, {}, topology(application), CodeLocation(""), ANN, 5)
    number, _ = store.create_deployment(made)
    store.labels.add(number, [Label("team", "web")])
    return store.create_execution(NewExecution(number, Request("install"), ANN, 5)).number
