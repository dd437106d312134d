"""Suspend, resume, check, snapshots, restore, export, abandon and adopt from the command line, with real functions (H44, H45, decision 24)."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import Terminal

from phaseline.plan.topology.stack_document import KEYS, RESOURCE_KEYS

OPS = """\
import json
from pathlib import Path

from phaseline import operation

HERE = Path(__file__).parent


def note(item, what):
    with (HERE / "ops").open("a") as file:
        file.write(f"{what} {item.node_id}\\n")


@operation(repeatable=True)
def create(item):
    note(item, "create")
    item.runtime_properties["external_id"] = f"vm-{item.instance_id}"
    if item.node_id == "db":
        item.runtime_properties["login"] = f"root:{item.inputs.get('password', '')}"
    item.runtime_properties["greeting"] = f"{item.inputs.get('word', '')} from {item.node_id}"


@operation(repeatable=True)
def delete(item):
    note(item, "delete")


@operation(repeatable=True)
def stop(item):
    note(item, "stop")


@operation(repeatable=True)
def start(item):
    note(item, "start")


@operation(repeatable=True)
def suspend(item):
    note(item, "suspend")


@operation(repeatable=True)
def resume(item):
    note(item, "resume")


@operation(repeatable=True)
def check(item):
    note(item, "check")
    gone = HERE / "gone"
    if gone.exists() and item.node_id in gone.read_text().split():
        item.fail(f"{item.runtime_properties['external_id']} is not there")


@operation(repeatable=True)
def save(item):
    note(item, f"save {item.inputs['snapshot_name']}")
    item.runtime_properties["saved"] = item.inputs["snapshot_name"]


@operation(repeatable=True)
def apply(item):
    note(item, f"apply {item.inputs['snapshot_name']}")


@operation(repeatable=True)
def unsave(item):
    note(item, f"unsave {item.inputs['snapshot_name']}")
"""
BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  word: {default: hello}
  password: {default: hush-hush, hidden: true}
plugins:
  ops: {executor: central_deployment_agent, install: false}
node_types:
  shop.Machine:
    derived_from: cloudify.nodes.Root
    properties: {size: {default: 1}}
    interfaces:
      cloudify.interfaces.validation: {check_status: ops.ops.check}
      cloudify.interfaces.lifecycle:
        create:
          implementation: ops.ops.create
          inputs: {word: {default: {get_input: word}}, password: {default: {get_input: password}}}
        delete: ops.ops.delete
        start: ops.ops.start
        stop: ops.ops.stop
node_templates:
  db:
    type: shop.Machine
    properties: {size: 2}
    interfaces:
      cloudify.interfaces.freeze: {suspend: ops.ops.suspend, resume: ops.ops.resume}
      cloudify.interfaces.snapshot: {create: ops.ops.save, apply: ops.ops.apply, delete: ops.ops.unsave}
  web:
    type: shop.Machine
    capabilities: {scalable: {properties: {default_instances: 2}}}
    relationships:
      - type: cloudify.relationships.connected_to
        target: db
outputs:
  said: {value: {get_attribute: [db, greeting]}}
  login: {value: {get_attribute: [db, login]}}
"""
CREATED = ["create db", "start db", "create web", "create web", "start web", "start web"]


class Shop:
    """An installed shop, and what was called of it since the last look."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.folder = terminal.folder / "plugins"
        self.folder.mkdir()
        (self.folder / "ops.py").write_text(OPS)
        self.blueprint = self.write(BLUEPRINT)
        assert self.do("install", self.blueprint, "-d", "shop") == 0, self.last.output
        assert sorted(self.calls()) == sorted(CREATED)

    def write(self, text: str, name: str = "blueprint.yaml") -> str:
        (self.terminal.folder / name).write_text(text)
        return str(self.terminal.folder / name)

    def do(self, *words: str) -> int:
        self.last = self.terminal.run(*words)
        return self.last.exit_code

    def calls(self) -> list[str]:
        """What was called since the last look."""
        file = self.folder / "ops"
        found = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    def gone(self, nodes: str) -> None:
        (self.folder / "gone").write_text(nodes)

    def status(self) -> str:
        return str(self.terminal.ask("deployments", "show", "shop")[1]["status"])

    def instances(self) -> dict[str, str]:
        return {one["id"]: one["state"] for one in self.terminal.ask("instances", "list", "-d", "shop")[1]["instances"]}

    def outputs(self) -> Any:
        return self.terminal.ask("deployments", "outputs", "shop", "--reveal")[1]

    def document(self) -> dict[str, Any]:
        return json.loads(self.terminal.run("export", "-d", "shop").stdout)

    def put(self, document: object, name: str = "shop.json") -> str:
        return self.write(json.dumps(document), name)


@pytest.fixture
def shop(terminal: Terminal) -> Shop:
    return Shop(terminal)


def without_seals(value: Any) -> Any:
    return json.loads(re.sub(r"phaseline-sealed:1:[^\"]+", "(sealed)", json.dumps(value)))


# -- suspend, resume, check --------------------------------------------------------------------------------------------


def test_h25_a_deployment_is_suspended_once_and_goes_on(shop: Shop) -> None:
    assert shop.do("suspend", "-d", "shop") == 0
    assert shop.calls() == ["stop web", "stop web", "suspend db"]
    assert (shop.status(), set(shop.instances().values())) == ("suspended", {"suspended"})
    assert shop.do("suspend", "-d", "shop") == 0
    assert shop.calls() == []
    assert shop.do("resume", "-d", "shop") == 0
    assert shop.calls() == ["resume db", "start web", "start web"]
    assert (shop.status(), set(shop.instances().values())) == ("good", {"started"})


@pytest.mark.parametrize(
    "words", [("executions", "start", "heal"), ("executions", "start", "scale", "-p", "scalable_entity_name=web")]
)
def test_d24_what_changes_what_runs_is_refused_while_it_is_suspended(shop: Shop, words: tuple[str, ...]) -> None:
    shop.do("suspend", "-d", "shop")
    assert shop.do(*words, "-d", "shop") == 1
    assert "PL-C080" in shop.last.stderr
    assert shop.do("deployments", "update", "shop", shop.blueprint, "-i", "word=hi") == 1
    assert "PL-C080" in shop.last.stderr


def test_d24_what_is_suspended_is_uninstalled_without_another_stop(shop: Shop) -> None:
    shop.do("suspend", "-d", "shop")
    shop.calls()
    assert shop.do("uninstall", "-d", "shop") == 0
    assert shop.calls() == ["delete web", "delete web", "delete db"]


def test_h25_check_tells_everything_that_is_wrong(shop: Shop) -> None:
    assert shop.do("check", "-d", "shop") == 0
    assert sorted(shop.calls()) == ["check db", "check web", "check web"]
    shop.gone("web db")
    assert shop.do("check", "-d", "shop") == 1
    assert "3 operations failed" in shop.last.stdout


@pytest.mark.parametrize("workflow", ["suspend", "check", "abandon"])
def test_the_plan_of_it_runs_nothing(shop: Shop, workflow: str) -> None:
    assert shop.do("plan", workflow, "-d", "shop") == 0
    assert shop.calls() == []
    assert set(shop.instances().values()) == {"started"}


# -- export, abandon, adopt --------------------------------------------------------------------------------------------


def test_h44_a_document_has_the_keys_of_the_ancestor_and_ours_beside_them(shop: Shop) -> None:
    document = shop.document()
    assert set(document) == {*KEYS, "phaseline"}
    assert all(set(one) == set(RESOURCE_KEYS) for one in document["resources"].values())
    assert {one["resource_id"] for one in document["resources"].values()} == {f"vm-{id}" for id in shop.instances()}
    assert document["environment"]["parameters"]["word"] == "hello"
    assert (document["name"], document["action"], document["status"]) == ("shop", "CREATE", "COMPLETE")
    assert set(json.loads(shop.terminal.run("export", "-d", "shop", "--heat").stdout)) == set(KEYS)


def test_d30_no_secret_stands_in_a_document(shop: Shop) -> None:
    assert "hush-hush" not in shop.terminal.run("export", "-d", "shop").stdout
    shop.do("snapshots", "create", "-d", "shop", "one")
    shop.do("abandon", "-d", "shop")
    assert "hush-hush" not in shop.last.stdout
    store = Path(shop.terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///"))
    assert not [file for file in store.parent.glob(store.name + "*") if b"hush-hush" in file.read_bytes()]


def test_h44_what_was_abandoned_is_adopted_again_without_creating_or_deleting_anything(shop: Shop) -> None:
    assert shop.do("executions", "start", "scale", "-d", "shop", "-p", "scalable_entity_name=web") == 0
    before, said, known = shop.instances(), shop.outputs(), shop.document()
    shop.calls()
    assert shop.do("abandon", "-d", "shop", "-o", "left.json") == 0
    assert shop.calls() == []
    assert shop.do("deployments", "show", "shop") == 1
    assert said["outputs"]["login"] == "root:hush-hush"
    assert shop.do("adopt", "left.json") == 0
    assert sorted(shop.calls()) == ["check db", "check web", "check web", "check web"]
    assert (shop.instances(), shop.outputs(), shop.status()) == (before, said, "adopted")
    again = shop.document()
    for one in (again, known):
        del one["phaseline"]["files"]  # what is called writes into the folder
    assert again["phaseline"] == known["phaseline"]
    assert without_seals(again["resources"]) == without_seals(known["resources"])
    assert shop.do("check", "-d", "shop") == 0


def test_h44_the_plan_of_an_adoption_stores_nothing_and_says_what_is_missing(shop: Shop) -> None:
    document = shop.document()
    shop.do("abandon", "-d", "shop")
    shop.calls()
    assert shop.do("plan", "adopt", shop.put(document)) == 0
    assert "check_status" in shop.last.stdout
    assert (shop.calls(), shop.do("deployments", "show", "shop")) == ([], 1)
    del document["resources"][next(iter(document["resources"]))]
    assert shop.do("plan", "adopt", shop.put(document)) == 1
    assert "PL-C083" in shop.last.stderr


def test_h44_life_goes_on_after_an_adoption(shop: Shop) -> None:
    shop.do("abandon", "-d", "shop", "-o", "left.json")
    shop.do("adopt", "left.json", "--no-check")
    shop.calls()
    assert shop.do("executions", "start", "scale", "-d", "shop", "-p", "scalable_entity_name=web") == 0
    assert shop.calls() == ["create web", "start web"]
    assert shop.do("uninstall", "-d", "shop") == 0
    assert sorted(shop.calls()) == ["delete db", *["delete web"] * 3, "stop db", *["stop web"] * 3]


def test_h44_a_document_is_kept_for_who_has_lost_it(shop: Shop) -> None:
    shop.do("abandon", "-d", "shop")
    lost = json.loads(shop.last.stdout)
    (left,) = shop.terminal.ask("abandoned", "list")[1]["abandoned"]
    begin, end = (datetime.fromisoformat(left[name]) for name in ("at", "until_at"))
    assert (left["deployment"], end - begin) == ("shop", timedelta(days=30))
    assert json.loads(shop.terminal.run("abandoned", "show", left["id"]).stdout) == lost
    assert shop.do("abandoned", "show", "abandon-99") == 1
    assert "PL-C090" in shop.last.stderr


def test_h44_another_name_another_blueprint_and_what_is_suspended_stays_so(shop: Shop) -> None:
    shop.do("suspend", "-d", "shop")
    before = shop.instances()
    shop.do("abandon", "-d", "shop", "-o", "left.json")
    shop.calls()
    assert shop.do("adopt", "left.json", "-d", "other", "--blueprint", shop.blueprint, "--no-check") == 0
    found = {one["id"]: one["state"] for one in shop.terminal.ask("instances", "list", "-d", "other")[1]["instances"]}
    assert found == before
    assert shop.calls() == []


def test_h45_inputs_given_win_over_those_of_the_document(shop: Shop) -> None:
    shop.do("abandon", "-d", "shop", "-o", "left.json")
    before = json.loads(Path("left.json").read_text())["resources"].keys()
    assert shop.do("adopt", "left.json", "-i", "word=servus") == 0
    assert shop.terminal.ask("deployments", "inputs", "shop")[1]["inputs"]["word"] == "servus"
    assert shop.instances().keys() == before
    shop.calls()


def test_h45_all_that_is_missing_is_told_at_once_and_nothing_is_stored(shop: Shop) -> None:
    document = shop.document()
    shop.do("abandon", "-d", "shop")
    first, second, *_ = sorted(document["resources"])
    document["resources"][first]["resource_id"] = None
    del document["resources"][second]
    assert shop.do("adopt", shop.put(document)) == 1
    assert [line for line in shop.last.stderr.splitlines() if "PL-C083" in line] == [
        f"PL-C083 error: {first}: Resource ID was not provided.",
        f"PL-C083 error: {second}: Resource ID was not provided.",
    ]
    assert shop.do("deployments", "show", "shop") == 1


def test_h45_another_type_is_refused_unless_it_is_meant(shop: Shop) -> None:
    document = shop.document()
    shop.do("abandon", "-d", "shop")
    for one in document["resources"].values():
        one["type"] = "shop.Oven"
    assert shop.do("adopt", shop.put(document)) == 1
    assert shop.last.stderr.count("PL-C084") == 3
    assert shop.do("adopt", "shop.json", "--allow-type-change") == 0


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ({"phaseline": {"format": 7}}, "PL-C082"),
        ({"phaseline": {}}, "PL-C081"),
        ({"phaseline": {"format": 1}}, "PL-C081"),
        ({"resources": []}, "PL-C081"),
        ({"resources": {"db": 3}}, "PL-C081"),
    ],
)
def test_h45_what_cannot_be_read_is_refused(shop: Shop, damage: dict[str, Any], code: str) -> None:
    document = {**shop.document(), **damage}
    assert shop.do("adopt", shop.put(document), "-d", "other") == 1
    assert code in shop.last.stderr
    assert "Traceback" not in shop.last.stderr


def test_h45_resources_that_belong_to_nobody_are_warnings(shop: Shop) -> None:
    document = shop.document()
    document["resources"]["oven"] = {"name": "oven", "resource_id": "o-1", "type": "shop.Oven"}
    del document["phaseline"]
    shop.do("abandon", "-d", "shop")
    assert shop.do("adopt", shop.put(document), "--blueprint", shop.blueprint) == 0
    assert "warning PL-C085 the resource 'oven' of the document belongs to no instance" in shop.last.stderr


def test_h45_a_document_of_the_ancestor_is_adopted_by_the_names_of_nodes(shop: Shop) -> None:
    resources = {
        "db": {"name": "db", "resource_id": "d-1", "type": "shop.Machine", "resource_data": {"greeting": "hi"}},
        "web_1": {"name": "web_1", "resource_id": "w-1", "type": "shop.Machine", "metadata": {"rack": 7}},
        "web_2": {"name": "web_2", "resource_id": "w-2", "type": "shop.Machine"},
    }
    document = {"name": "old", "resources": resources, "environment": {"parameters": {"word": "moin"}}}
    shop.calls()
    assert shop.do("adopt", shop.put(document, "old.json"), "--blueprint", shop.blueprint, "--no-check") == 0
    assert shop.calls() == []
    assert shop.terminal.ask("deployments", "outputs", "old")[1]["outputs"]["said"] == "hi"
    _, web = shop.terminal.ask("instances", "show", "web_1", "-d", "old")
    assert web["runtime_properties"] == {"metadata": {"rack": 7}, "resource_id": "w-1"}


def test_h27_an_adoption_whose_thing_is_gone_fails_and_can_be_let_go_of(shop: Shop) -> None:
    shop.do("abandon", "-d", "shop", "-o", "left.json")
    shop.gone("db")
    shop.calls()
    assert shop.do("adopt", "left.json", "--on-failure", "rollback") == 1
    assert "its records were deleted again, nothing outside was touched" in shop.last.stdout
    assert set(shop.calls()) == {"check db", "check web"}
    assert shop.do("deployments", "show", "shop") == 1
    shop.gone("")
    assert shop.do("adopt", "left.json") == 0


def test_h45_what_another_store_has_sealed_is_given_anew(shop: Shop, tmp_path: Path) -> None:
    shop.do("abandon", "-d", "shop", "-o", "left.json")
    shop.terminal.environment["PHASELINE_STORE_URL"] = f"sqlite:///{tmp_path}/other.db"
    assert shop.do("adopt", "left.json") == 1
    assert "PL-C086 error: the secrets in input 'password' were sealed by another store" in shop.last.stderr
    assert "PL-C086 error: the secrets in the runtime properties of db_" in shop.last.stderr
    document = json.loads(Path("left.json").read_text())
    for one in document["resources"].values():
        one["resource_data"].pop("login", None)
    assert shop.do("adopt", shop.put(document), "-i", "password=new-one") == 0
    assert set(shop.instances().values()) == {"started"}


# -- snapshots ---------------------------------------------------------------------------------------------------------


def test_decision_33_a_snapshot_has_no_name_that_may_do_harm(shop: Shop) -> None:
    assert shop.do("snapshots", "create", "-d", "shop", "../monday") == 1
    assert shop.terminal.ask("snapshots", "create", "-d", "shop", "a\x1bb")[1]["problems"][0]["code"] == "PL-C096"
    assert shop.terminal.ask("snapshots", "list", "-d", "shop")[1] == {"snapshots": []}


def test_d24_a_snapshot_is_taken_listed_and_deleted(shop: Shop) -> None:
    assert shop.do("snapshots", "create", "-d", "shop", "monday") == 0
    assert shop.calls() == ["save monday db"]
    (known,) = shop.terminal.ask("snapshots", "list", "-d", "shop")[1]["snapshots"]
    assert (known["name"], known["deployment"]) == ("monday", "shop")
    document = json.loads(shop.terminal.run("snapshots", "show", "-d", "shop", "monday").stdout)
    db = next(one for name, one in document["resources"].items() if name.startswith("db"))
    assert db["resource_data"]["saved"] == "monday"
    assert shop.do("snapshots", "create", "-d", "shop", "monday") == 1
    assert "PL-C089" in shop.last.stderr
    assert shop.do("snapshots", "delete", "-d", "shop", "monday") == 0
    assert shop.calls() == ["unsave monday db"]
    assert shop.terminal.ask("snapshots", "list", "-d", "shop")[1]["snapshots"] == []
    assert shop.do("restore", "-d", "shop", "monday") == 1
    assert "PL-C087" in shop.last.stderr


def test_d24_a_restore_brings_back_blueprint_inputs_and_counts_and_applies_the_snapshot(shop: Shop) -> None:
    shop.do("snapshots", "create", "-d", "shop", "monday")
    before = shop.document()
    shop.do("executions", "start", "scale", "-d", "shop", "-p", "scalable_entity_name=web")
    bigger = shop.write(BLUEPRINT.replace("size: 2", "size: 3"), "bigger.yaml")
    assert shop.do("deployments", "update", "shop", bigger, "-i", "word=servus") == 0
    shop.calls()
    assert shop.do("plan", "restore", "-d", "shop", "monday") == 0
    assert shop.calls() == []
    assert shop.do("restore", "-d", "shop", "monday") == 0
    assert shop.calls()[-1] == "apply monday db"
    after = shop.document()
    assert after["environment"] == before["environment"]
    assert after["phaseline"]["counts"] == before["phaseline"]["counts"]
    assert after["template"]["nodes"] == before["template"]["nodes"]
    assert len(shop.instances()) == 3


def test_d24_a_restore_installs_again_what_was_there(shop: Shop) -> None:
    shop.do("snapshots", "create", "-d", "shop", "monday")
    before = shop.instances()
    shop.do("uninstall", "-d", "shop")
    shop.calls()
    assert shop.do("restore", "-d", "shop", "monday") == 0
    assert sorted(shop.calls()) == sorted([*CREATED, "apply monday db"])
    assert shop.instances() == before


# -- marked by a person ------------------------------------------------------------------------------------------------


def test_h_who_is_marked_unhealthy_is_made_anew_by_the_next_heal_whatever_checks_find(shop: Shop) -> None:
    db, first, second = sorted(shop.instances())
    assert shop.do("instances", "mark-unhealthy", first, "--reason", "disk is slow") == 0
    assert shop.calls() == []
    health = {one["id"]: one["health"] for one in shop.terminal.ask("instances", "list")[1]["instances"]}
    assert health == {db: "", first: "unhealthy", second: ""}
    status = shop.terminal.ask("instances", "show", first)[1]["system_properties"]["status"]
    assert (status["ok"], status["result"], status["task"]) == (False, "disk is slow", "mark_unhealthy-2")
    assert shop.do("executions", "start", "heal", "-d", "shop") == 0
    calls = shop.calls()
    assert sorted(calls[:2]) == ["check db", "check web"]
    assert calls[2:] == ["stop web", "delete web", "create web", "start web"]
    health = {one["id"]: one["health"] for one in shop.terminal.ask("instances", "list")[1]["instances"]}
    assert health[first] == ""
    assert shop.do("instances", "mark-unhealthy", "oven") == 1
    assert shop.do("executions", "start", "mark_unhealthy", "-d", "shop") == 1
    assert "PL-P001" in shop.last.stderr


@pytest.mark.parametrize("between", ["check", "check_status", "restart", "suspend resume"])
def test_h25_a_mark_outlasts_whatever_does_not_make_anew(shop: Shop, between: str) -> None:
    marked = min(id for id in shop.instances() if id.startswith("web"))
    shop.do("instances", "mark-unhealthy", marked, "--reason", "disk is slow")
    for workflow in between.split():
        assert shop.do("executions", "start", workflow, "-d", "shop") == 0
    health = {one["id"]: one["health"] for one in shop.terminal.ask("instances", "list")[1]["instances"]}
    assert health.pop(marked) == "unhealthy"
    assert "unhealthy" not in health.values()
    assert shop.terminal.ask("instances", "show", marked)[1]["system_properties"]["status"]["result"] == "disk is slow"
    assert shop.do("executions", "start", "reinstall", "-d", "shop", "-p", f"node_instance_ids={marked}") == 0
    assert "unhealthy" not in shop.terminal.run("instances", "list").stdout
