"""Heal and checks from the command line: real functions, what is stored, shown and planned (W30-W37, W46, W64-W67)."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import Terminal

OPS = """\
import json
from pathlib import Path

from cloudify import ctx
from cloudify.exceptions import NonRecoverableError
from phaseline import operation

HERE = Path(__file__).parent


def calls():
    with (HERE / "ops").open() as file:
        return [json.loads(line) for line in file]


def note(**what):
    with (HERE / "ops").open("a") as file:
        file.write(json.dumps(what, sort_keys=True) + "\\n")


def ill():
    file = HERE / "ill"
    return file.read_text().split() if file.exists() else []


@operation(bulk=True, repeatable=True)
def check(items):
    for item in items:
        if item.node_id in ill():
            item.fail("no answer")
        else:
            item.complete({"answered": True})


def seen(**_):
    note(node=ctx.node.id, saw=ctx.instance.system_properties, drift=ctx.instance.drift)


def heal(**_):
    note(node=ctx.node.id, operation="heal")
    if f"{ctx.node.id}!" in ill():
        raise NonRecoverableError("beyond repair")


def drift(**_):
    return {"size": 7} if f"{ctx.node.id}~" in ill() else None


def tie_drift(**_):
    return "other port"


def step(**_):
    note(node=(ctx.node if ctx.type == "node-instance" else ctx.source.node).id, operation=ctx.operation.name.split(".")[-1])
"""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins:
  ops: {executor: central_deployment_agent, install: false}
relationships:
  tied:
    derived_from: cloudify.relationships.connected_to
    source_interfaces:
      cloudify.interfaces.relationship_lifecycle: {establish: ops.ops.step, check_drift: ops.ops.tie_drift}
node_templates:
  db:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.validation: {check_status: ops.ops.check}
      cloudify.interfaces.lifecycle: {create: ops.ops.step, heal: ops.ops.heal, check_drift: ops.ops.drift, start: ops.ops.step}
  web:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.validation: {check_status: ops.ops.check}
      cloudify.interfaces.lifecycle: {create: ops.ops.step, stop: ops.ops.seen}
    relationships: [{type: tied, target: db}]
"""


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    """A deployment ``shop`` that is installed; nothing is noted yet, and nobody is ill."""
    file = terminal.write(BLUEPRINT)
    (terminal.folder / "plugins" / "ops.py").write_text(OPS)
    assert terminal.run("install", file, "-d", "shop").exit_code == 0
    (terminal.folder / "plugins" / "ops").unlink()
    return terminal


def ill(terminal: Terminal, words: str) -> None:
    """``db``: its check fails; ``db!``: so does its heal; ``db~``: it has drifted."""
    (terminal.folder / "plugins" / "ill").write_text(words)


def noted(terminal: Terminal) -> list[dict[str, Any]]:
    file = terminal.folder / "plugins" / "ops"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def start(terminal: Terminal, *words: str) -> dict[str, Any]:
    return terminal.ask("executions", "start", *words, "-d", "shop")[1]


def instance(terminal: Terminal, node: str) -> dict[str, Any]:
    return terminal.ask("instances", "show", node, "-d", "shop")[1]


def test_w64_when_every_check_passes_heal_calls_nothing_else(shop: Terminal) -> None:
    answer = start(shop, "heal")
    assert (answer["status"], noted(shop)) == ("completed", [])
    assert answer["reason"] == "every instance is healthy, so there was nothing to heal"


def test_w32_what_a_check_found_is_shown_with_the_status_before(shop: Terminal) -> None:
    assert instance(shop, "db")["system_properties"] == {
        "status": {"ok": True, "timestamp": None, "task": None, "result": None}
    }
    assert start(shop, "check_status")["status"] == "completed"
    ill(shop, "db")
    answer = start(shop, "check_status")
    assert (answer["status"], answer["reason"]) == ("failed", "1 operation failed")
    found = instance(shop, "db")
    told = found["system_properties"]
    assert (found["health"], told["status"]["ok"], told["status"]["result"]) == ("unhealthy", False, "no answer")
    assert told["status"]["task"] == answer["id"]
    assert (told["previous_status"]["ok"], told["previous_status"]["result"]) == (True, {"answered": True})
    listed = {view["node"]: view["health"] for view in shop.ask("instances", "list")[1]["instances"]}
    assert listed == {"db": "unhealthy", "web": "healthy"}
    assert "unhealthy" in shop.run("instances", "list").stdout
    assert "system properties" in shop.run("instances", "show", "db").stdout


def test_w36_a_successful_heal_makes_the_status_healed(shop: Terminal) -> None:
    ill(shop, "db")
    answer = start(shop, "heal")
    assert (answer["status"], noted(shop)) == ("completed", [{"node": "db", "operation": "heal"}])
    assert answer["reason"] == f"healed {instance(shop, 'db')['id']}"
    told = instance(shop, "db")["system_properties"]["status"]
    assert (told["ok"], told["healed"], told["task"]) == (True, True, answer["id"])


def test_w37_a_failed_heal_reinstalls_and_ties_the_intact_one_anew(shop: Terminal) -> None:
    ill(shop, "db db!")
    answer = start(shop, "heal", "-p", "diagnose_value=disk full")
    assert answer["status"] == "completed"
    assert answer["reason"] == f"reinstalled {instance(shop, 'db')['id']}"
    assert [(call["node"], call["operation"]) for call in noted(shop)] == [
        ("db", "heal"), ("db", "create"), ("db", "start"), ("web", "establish"),
    ]  # fmt: skip
    told = instance(shop, "db")["system_properties"]
    assert (told["status"]["task"], told["previous_status"]["ok"]) == (None, False)
    events = shop.run("executions", "events", answer["id"]).stdout
    assert "Healing node instance (Diagnosis: disk full)" in events
    assert "Reinstalling node instance (Diagnosis: disk full)" in events


def test_a_heal_names_whom_it_healed_and_whom_it_reinstalled(shop: Terminal) -> None:
    ill(shop, "db web")
    answer = start(shop, "heal")
    db, web = (instance(shop, node)["id"] for node in ("db", "web"))
    assert (answer["status"], answer["reason"]) == ("completed", f"healed {db}; reinstalled {web}")
    assert f"\n  healed {db}; reinstalled {web}\n" in shop.run("executions", "show", answer["id"]).stdout
    again = start(shop, "heal", "-p", "force_reinstall=true", "-p", f"node_instance_id={db}")
    assert again["reason"].startswith(f"reinstalled {db}")


def test_w35_without_a_reinstall_heal_heals_first_and_then_fails(shop: Terminal) -> None:
    ill(shop, "db web")
    answer = start(shop, "heal", "-p", "allow_reinstall=false")
    assert answer["status"] == "failed"
    web = instance(shop, "web")["id"]
    assert answer["reason"] == f"allow_reinstall is false, and {web} must be reinstalled"
    assert noted(shop) == [{"node": "db", "operation": "heal"}]


def test_w46_drift_is_a_result_that_is_not_null_and_is_no_failure(shop: Terminal) -> None:
    ill(shop, "db~")
    answer = start(shop, "check_drift")
    assert answer["status"] == "completed"
    db, web = instance(shop, "db"), instance(shop, "web")
    drift = db["system_properties"]["configuration_drift"]
    assert (db["drift"], drift["ok"], drift["result"], drift["task"]) == ("drifted", True, {"size": 7}, answer["id"])
    tie = web["system_properties"]["source_relationships_configuration_drift"]
    assert {id: told["result"] for id, told in tie.items()} == {db["id"]: "other port"}
    assert web["drift"] == ""
    ill(shop, "")
    start(shop, "check_drift")
    assert instance(shop, "db")["drift"] == "none"


def test_c3_an_operation_reads_what_checks_have_found(shop: Terminal) -> None:
    ill(shop, "db~ web")
    start(shop, "check_drift", "-p", "node_ids=[db]")
    start(shop, "heal")
    (seen,) = [call for call in noted(shop) if "saw" in call]
    assert (seen["node"], seen["saw"]["status"]["result"], seen["drift"]) == ("web", "no answer", None)


def test_w35_the_plan_shows_what_follows_from_the_stored_results_and_says_that_it_depends(shop: Terminal) -> None:
    first = shop.run("plan", "heal", "-d", "shop").stdout
    assert "what 2 checks find cannot be foreseen" in first
    assert "! db" not in first
    ill(shop, "db web")
    start(shop, "check_status")
    code, plan = shop.ask("plan", "heal", "-d", "shop")
    assert (code, [item["workflow"] for item in plan["rounds"]]) == (
        0,
        ["check_status", "heal", "uninstall", "install"],
    )
    text = shop.run("plan", "heal", "-d", "shop", "-p", "allow_reinstall=false").stdout
    assert "! db  cloudify.nodes.Root × 1" in text
    assert "in the present state 'heal' will fail: allow_reinstall is false" in text
    assert noted(shop) == []


@pytest.mark.parametrize(
    ("words", "code", "mend"),
    [
        (["-p", "node_instance_id=dbb"], "PL-P001", "did you mean 'db_"),
        (["-p", "force_reinstall=true", "-p", "allow_reinstall=false"], "PL-P031", "leave one of them out"),
        (["-p", "check_status=maybe"], "PL-P004", "give it true or false"),
        (["-p", "node_instance_id=[db]"], "PL-P004", "give it the id of a node instance"),
        (["-p", "diagnose_valu=x"], "PL-P004", "did you mean 'diagnose_value'?"),
    ],
)
def test_w30_what_cannot_be_meant_is_refused(shop: Terminal, words: list[str], code: str, mend: str) -> None:
    exit_code, answer = shop.ask("executions", "start", "heal", "-d", "shop", *words)
    assert exit_code == 1
    (problem,) = answer["problems"]
    assert problem["code"] == code
    assert problem["mend"].startswith(mend)


LEAKING = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {leak: {executor: central_deployment_agent, install: false}}
node_templates:
  db:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        check_drift: {implementation: leak.leak.drift, inputs: {key: {get_secret: key}}, timeout: 60}
      cloudify.interfaces.validation:
        check_status: {implementation: leak.leak.check, inputs: {key: {get_secret: key}}}
"""
LEAK = """\
from cloudify import ctx
from cloudify.exceptions import NonRecoverableError


def drift(key, **_):
    return {"key": key, "before": ctx.instance.drift, "known": sorted(ctx.instance.system_properties)}


def check(key, **_):
    raise NonRecoverableError(f"{key} is refused")
"""


def test_decision_30_what_checks_say_holds_no_secret_and_a_worker_reads_it_as_well(terminal: Terminal) -> None:
    file = terminal.write(LEAKING)
    (terminal.folder / "plugins" / "leak.py").write_text(LEAK)
    assert terminal.run("secrets", "create", "key", "--value", "open-sesame").exit_code == 0
    assert terminal.run("install", file, "-d", "shop").exit_code == 0
    for _ in range(2):
        assert start(terminal, "check_drift")["status"] == "completed"
    assert start(terminal, "check_status")["status"] == "failed"
    told = instance(terminal, "db")["system_properties"]
    assert "open-sesame" not in json.dumps(told)
    assert told["status"]["result"].endswith("is refused")
    drift = told["configuration_drift"]["result"]
    assert drift["known"] == ["configuration_drift", "status"]
    assert drift["before"] is not None
    url = terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///")
    assert b"open-sesame" not in Path(url).read_bytes()
