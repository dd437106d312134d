"""Decision 15: one deployment uses operations and phase plugins together; a whole engine, a real store, real plugin files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import phaseline
from phaseline.model.problems.problem import ProblemsError

BLUEPRINT = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
plugins: {ops: {executor: central_deployment_agent, install: false}}
node_types:
  acme.Server:
    derived_from: cloudify.nodes.Compute
    resource_type: Cloud.Node
    target_state: Started
    properties:
      MachineType: {default: small}
  acme.Volume:
    derived_from: cloudify.nodes.Root
    resource_type: acme.Disk
    target_state: Attached
    properties: {SizeGb: {default: 10}}
state_paths:
  acme.Disk:
    Attached: [Allocation, Attached]
    Terminated: [Deallocation, Terminated]
node_templates:
  server:
    type: acme.Server
    instances: {deploy: 2}
    interfaces:
      cloudify.interfaces.lifecycle: {create: ops.note.create, start: ops.note.start, stop: ops.note.stop, delete: ops.note.delete}
    relationships: [{type: cloudify.relationships.connected_to, target: volume}]
  volume: {type: acme.Volume}
  app:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: ops.note.create, delete: ops.note.delete}}
    relationships: [{type: cloudify.relationships.connected_to, target: server}]
"""
OPERATIONS = """
from phaseline import operation

def said(items, word):
    with open("{said}", "a") as file:
        file.writelines(f"{word} {item.node_id}\\n" for item in items)

@operation(bulk=True)
def create(items):
    said(items, "create")
    for item in items:
        item.runtime_properties["Zone"] = "z1"

@operation(bulk=True)
def start(items):
    said(items, "start")

@operation(bulk=True)
def stop(items):
    said(items, "stop")

@operation(bulk=True)
def delete(items):
    said(items, "delete")
"""
"""In bulk, so that the servers that were in one call come to the next state, and into one call of its phases, together."""
PHASE = """
import os
from pathlib import Path

def handle(handler):
    names = sorted(node.getAsString("Name").partition("_")[0] for node in handler.getResources())
    with open("{said}", "a") as file:
        file.write("{word} " + " ".join(names) + "\\n")
    for node in handler.getResources():
        {body}
"""


class Shop:
    """A blueprint, plugins and a store in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said_file = folder / "said"
        (folder / "plugins").mkdir()
        (folder / "plugins" / "note.py").write_text(OPERATIONS.replace("{said}", str(self.said_file)))
        self.blueprint(BLUEPRINT)
        self.open()

    def open(self) -> None:
        self.url = f"sqlite:///{self.folder}/store.db"
        self.phaseline = phaseline.open(self.url, plugins=[str(self.folder / "plugins")])

    def blueprint(self, text: str) -> None:
        (self.folder / "blueprint.yaml").write_text(text)

    def phase(
        self, name: str, state: str, *lines: str, body: str = "handler.setCompleted(node)", of: str = "Cloud.Node"
    ) -> None:
        """A phase that says its name and the nodes of its resources, then does ``body`` with each."""
        folder = self.folder / "plugins" / "phases"
        folder.mkdir(exist_ok=True)
        code = PHASE.replace("{said}", str(self.said_file)).replace("{word}", name).replace("{body}", body)
        (folder / f"{name.lower()}.py").write_text(code)
        said = [
            f"PhaseName = {name}",
            f"HandlesStates = {state}",
            f"ResourceType = {of}",
            "Phase.CoalesceWindow = 1",
            *lines,
        ]
        (folder / f"{name.lower()}.cfg").write_text("\n".join(said) + "\n")

    def install(self, name: str = "shop", **given):
        return self.phaseline.executions.install(str(self.folder / "blueprint.yaml"), name, **given)

    def failures(self, id: str) -> list[str]:
        """What phases that failed have said in an execution."""
        lines = self.phaseline.executions.events(id).lines
        return [word for line in lines for word in ("new", "seen") if line.text.endswith(f"-> {word}")]

    @property
    def said(self) -> list[str]:
        return self.said_file.read_text().splitlines() if self.said_file.exists() else []

    def states(self, name: str = "shop") -> list[tuple[str, str]]:
        return sorted((one.node, one.state) for one in self.phaseline.instances.list(deployment=name).items)

    def properties(self, node: str) -> list[dict[str, object]]:
        listed = self.phaseline.instances.list(node=node).items
        return [dict(self.phaseline.instances.show(one.id).runtime_properties) for one in listed]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.phaseline.close()


def test_decision15_operations_and_phases_of_one_deployment_run_together(shop: Shop) -> None:
    shop.phase("Validate", "Validation")
    shop.phase(
        "Make",
        "Allocation",
        body='node.setString("InstanceId", "i-" + node.getAsString("MachineType")); handler.setCompleted(node)',
    )
    shop.phase("Tune", "Installation", "Phase.Dependencies = Copy")
    shop.phase("Copy", "Installation")
    shop.phase("Buy", "Allocation", of="acme.Disk")
    shop.phase("Free", "Deallocation")
    shop.phase("Drop", "Deallocation", of="acme.Volume")
    done = shop.install()
    assert done.status == "completed"
    said = shop.said
    assert shop.states() == [("app", "started"), ("server", "Started"), ("server", "Started"), ("volume", "Attached")]
    assert said[0] == "Buy volume"  # who depends on the volume begins after it
    assert said[1] == "Validate server server"  # one call for all of them
    assert set(said[2:5]) == {"Make server server", "create server"}
    assert sorted(said[5:9]) == ["Copy server server", "Tune server server", "start server", "start server"]
    assert said.index("Copy server server") < said.index("Tune server server")
    assert said[9:] == ["create app"]
    assert shop.properties("server") == [{"InstanceId": "i-small", "Zone": "z1"}] * 2

    shop.said_file.unlink()
    assert shop.phaseline.executions.uninstall("shop").status == "completed"
    assert {state for _, state in shop.states()} == {"Terminated", "deleted"}
    said = shop.said
    assert said[0] == "delete app"
    assert said[1:3] == ["stop server", "stop server"]
    assert sorted(said[3:6]) == ["Free server server", "delete server", "delete server"]
    assert said[6:] == ["Drop volume"]
    assert shop.phaseline.deployments.list().items[0].status == "not_installed"
    shop.phaseline.deployments.delete("shop")


def test_decision15_resources_of_several_deployments_and_clusters_are_in_one_call(shop: Shop) -> None:
    shop.phase("Make", "Allocation", body="handler.setCompleted(node)")
    shop.phaseline.deployments.create(str(shop.folder / "blueprint.yaml"), "one")
    shop.phaseline.deployments.create(str(shop.folder / "blueprint.yaml"), "two")
    shop.phaseline.executions.start("install", "one", detach=True)
    shop.phaseline.executions.start("install", "two", detach=True)
    (shop.folder / "nodes.rec").write_text('AdType = "Cloud.Node"\nName = "n1"\nTargetState = "Started"\n')
    shop.phaseline.resources.apply(str(shop.folder / "nodes.rec"), cluster="night")
    shop.phaseline.engine.run(until_idle=True)
    assert [line for line in shop.said if line.startswith("Make")] == ["Make n1 server server server server"]
    assert ("server", "Started") in shop.states("one")
    assert ("server", "Started") in shop.states("two")


def test_decision15_a_phase_that_begins_to_apply_late_keeps_its_state(shop: Shop) -> None:
    shop.phase("Ask", "Allocation", body='node.setInteger("Needs", 2); handler.setCompleted(node)')
    shop.phase("Late", "Allocation", "ResourceConstraint := Needs > 1")
    shop.phase("Other", "Allocation", 'ResourceConstraint := Zone == "z9"')
    shop.phase("After", "Installation")
    assert shop.install().status == "completed"
    said = [line for line in shop.said if line.endswith("server server")]
    assert said == ["Ask server server", "Late server server", "After server server"]


def test_decision15_a_constraint_reads_properties_of_the_node_below_what_was_written(shop: Shop) -> None:
    shop.phase(
        "Small",
        "Validation",
        'ResourceConstraint := MachineType == "small"',
        body='node.setString("MachineType", "huge"); handler.setCompleted(node)',
    )
    shop.phase("Huge", "Allocation", 'ResourceConstraint := MachineType == "huge"')
    shop.phase("Never", "Allocation", 'ResourceConstraint := MachineType == "small"')
    assert shop.install().status == "completed"
    assert [line for line in shop.said if line.endswith("server server")] == [
        "Small server server",
        "Huge server server",
    ]


def test_decision15_a_phase_and_its_constraint_see_where_each_node_is_going(shop: Shop) -> None:
    tell = 'node.setString("Going", node.getAsString("TargetState")); handler.setCompleted(node)'
    shop.phase("Up", "Allocation", 'ResourceConstraint := TargetState == "Started"', body=tell)
    shop.phase("Disk", "Allocation", 'ResourceConstraint := TargetState == "Attached"', of="acme.Disk", body=tell)
    shop.phase("Down", "Deallocation", 'ResourceConstraint := TargetState == "Terminated"')
    shop.phase("Never", "Deallocation", 'ResourceConstraint := TargetState == "Started"')
    assert shop.install().status == "completed"
    assert [found["Going"] for found in shop.properties("server")] == ["Started", "Started"]
    assert [found["Going"] for found in shop.properties("volume")] == ["Attached"]
    assert shop.phaseline.executions.uninstall("shop").status == "completed"
    assert [line for line in shop.said if line.startswith(("Down", "Never"))] == ["Down server server"]


def test_decision15_a_failed_phase_holds_its_resource_and_a_retry_goes_on(shop: Shop) -> None:
    marker = shop.folder / "mended"
    shop.phase(
        "Make",
        "Allocation",
        body=f'(handler.setCompleted if Path("{marker}").exists() else lambda n: handler.setFailed(n, "no quota"))(node)',
    )
    failed = shop.install()
    assert failed.status == "failed"
    assert ("server", "Allocation") in shop.states()
    assert ("app", "uninitialized") in shop.states()
    assert "create app" not in shop.said
    marker.write_text("")
    assert shop.phaseline.executions.retry(failed.id).status == "completed"
    assert shop.states()[1] == ("server", "Started")
    assert shop.said.count("create server") == 2  # what has completed is not called again


def test_decision15_a_failed_phase_can_be_vouched_for(shop: Shop) -> None:
    shop.phase("Make", "Allocation", body='handler.setFailed(node, "no quota")')
    failed = shop.install()
    servers = [one.id for one in shop.phaseline.instances.list(node="server").items]
    done = shop.phaseline.executions.complete(failed.id, instances=servers, operations=["Make"], reason="made by hand")
    assert done.status == "completed"
    assert shop.states()[1] == ("server", "Started")


def test_decision15_ignored_failures_let_an_uninstall_reach_terminated(shop: Shop) -> None:
    shop.phase("Free", "Deallocation", body='handler.setFailed(node, "busy")')
    shop.install()
    assert shop.phaseline.executions.uninstall("shop").status == "failed"
    assert ("server", "Deallocation") in shop.states()
    assert shop.phaseline.executions.uninstall("shop", ignore_failure=True).status == "completed"
    assert ("server", "Terminated") in shop.states()


def test_decision15_types_and_targets_that_nobody_knows_are_refused_before_anything_is_stored(shop: Shop) -> None:
    shop.blueprint(
        BLUEPRINT.replace("target_state: Started", "target_state: Startd").replace(
            "acme.Disk:\n    Att", "acme.Disk:\n    Bett"
        )
    )
    with pytest.raises(ProblemsError) as raised:
        shop.install()
    assert {problem.code for problem in raised.value.problems} <= {"PL-P020", "PL-P021", "PL-B113"}
    shop.blueprint(BLUEPRINT.replace("target_state: Started", "target_state: Startd"))
    with pytest.raises(ProblemsError) as raised:
        shop.phaseline.blueprints.validate(str(shop.folder / "blueprint.yaml"))
    assert [(one.code, one.place.line) for one in raised.value.problems] == [("PL-P021", 6)]
    assert shop.phaseline.deployments.list().items == []


def test_decision15_a_retry_forgets_what_the_failed_phase_kept_and_an_uninstall_what_an_earlier_one_did(
    shop: Shop,
) -> None:
    body = 'data = handler.getResourcePhaseData(node); seen = data.isDefined("Seen"); data.setInteger("Seen", 1); '
    shop.phase("Make", "Allocation", body=body + 'handler.setFailed(node, "seen" if seen else "new")')
    shop.phase("Free", "Deallocation", body=body + 'handler.setFailed(node, "seen" if seen else "new")')
    failed = shop.install()
    again = shop.phaseline.executions.retry(failed.id)
    assert shop.failures(again.id) == ["new"] * 4
    for _ in range(2):
        gone = shop.phaseline.executions.uninstall("shop")
        assert shop.failures(gone.id) == ["new"] * 2


def test_decision15_an_engine_that_is_killed_in_a_phase_is_replaced_and_nothing_completed_is_called_again(
    shop: Shop,
) -> None:
    shop.phase("Validate", "Validation")
    tokens = shop.folder / "tokens"
    tokens.touch()
    token = (
        f'old = Path("{tokens}").read_text(); Path("{tokens}").write_text(old + handler.operationToken(node) + chr(10))'
    )
    first = f'first = not Path("{shop.folder}/killed").exists(); '
    then = f'; Path("{shop.folder}/killed").touch(); os.kill(os.getpid(), 9) if first else handler.setCompleted(node)'
    shop.phase("Make", "Configuration", body=first + token + then)
    shop.phase("Late", "Configuration", 'ResourceConstraint := Zone == "z1"')
    command = [sys.executable, "-m", "phaseline", "install", "blueprint.yaml", "-d", "shop"]
    settings = {"PHASELINE_STORE_URL": shop.url, "PHASELINE_PLUGINS_PATH": str(shop.folder / "plugins")}
    ended = subprocess.run(command, cwd=shop.folder, env={**os.environ, **settings}, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert ("server", "Configuration") in shop.states()
    assert shop.phaseline.executions.resume(deployment="shop").status == "completed"
    assert shop.states()[1] == ("server", "Started")
    said = shop.said
    assert (said.count("create server"), said.count("Validate server server")) == (2, 1)
    told = tokens.read_text().splitlines()
    assert told[0] in told[1:]


def test_decision15_a_paused_phase_holds_its_nodes_and_an_engine_that_is_idle_leaves(shop: Shop) -> None:
    shop.phase("Make", "Allocation")
    shop.phaseline.phases.pause("Make", reason="the cloud is down")
    shop.install(detach=True)
    shop.phaseline.engine.run(until_idle=True)
    assert ("server", "Allocation") in shop.states()
    assert "create server" in shop.said
    now = shop.phaseline.phases.show("Make").now
    assert (dict(now.counts), now.paused != "") == ({"Waiting": 2}, True)
    server = shop.phaseline.instances.list(node="server").items[0].id
    (reason,) = shop.phaseline.instances.why(server).reasons
    assert "paused" in reason.text
    assert reason.mend == "phaseline phases unpause Make"
    shop.phaseline.phases.unpause("Make")
    shop.phaseline.engine.run(until_idle=True)
    assert shop.states()[1] == ("server", "Started")


def test_decision15_a_node_shows_what_each_phase_says_of_it(shop: Shop) -> None:
    keep = 'handler.getResourcePhaseData(node).setString("Op", "op-1"); '
    shop.phase("Tag", "Validation", body=keep + "handler.setCompleted(node, 'tagged')")
    shop.phase("Make", "Allocation", body=keep + 'handler.setFailed(node, "no quota")')
    shop.phase("Never", "Allocation", 'ResourceConstraint := MachineType == "huge"')
    shop.phase("Late", "Configuration")
    shop.install()
    show = shop.phaseline.instances.show
    server, app = (shop.phaseline.instances.list(node=name).items[0].id for name in ("server", "app"))
    tag, make = show(server).phases
    assert (tag.phase, tag.state, tag.status, tag.message) == ("Tag", "Validation", "Completed", "tagged")
    assert (make.phase, make.state, make.status, make.message) == ("Make", "Allocation", "Failed", "no quota")
    assert (make.run_count, dict(make.data), make.started_at <= make.ended_at) == (1, {"Op": "op-1"}, True)
    assert list(show(app).phases) == []


def test_decision15_a_completed_phase_of_a_node_is_called_once_more_while_its_state_lasts(shop: Shop) -> None:
    marker = shop.folder / "mended"
    shop.phase("Tag", "Allocation")
    mend = f'(handler.setCompleted if Path("{marker}").exists() else lambda n: handler.setFailed(n, "no quota"))(node)'
    shop.phase("Make", "Allocation", body=mend)
    executions = shop.phaseline.executions
    failed = shop.install()
    server = shop.phaseline.instances.list(node="server").items[0].id
    assert executions.rerun(failed.id, instances=[server], phases=["Tag"]).status == "failed", (
        "Make has failed all the same"
    )
    assert [line for line in shop.said if line.startswith("Tag")] == ["Tag server server", "Tag server"]
    with pytest.raises(ProblemsError, match="PL-C027"):
        executions.rerun(failed.id, instances=[server], phases=["create"])
    with pytest.raises(ProblemsError, match="PL-C017"):
        executions.wake(failed.id, instances=[server])
    marker.touch()
    assert executions.retry(failed.id).status == "completed"
    with pytest.raises(ProblemsError, match="has left the state Allocation"):
        executions.rerun(failed.id, instances=[server], phases=["Tag"])


def test_decision15_a_canceled_install_goes_on_where_it_was(shop: Shop) -> None:
    shop.phase("Make", "Allocation")
    shop.phaseline.phases.pause("Make", reason="wait")
    begun = shop.install(detach=True)
    shop.phaseline.engine.run(until_idle=True)
    assert shop.phaseline.executions.cancel(begun.id).status == "canceled"
    shop.phaseline.phases.unpause("Make")
    assert shop.phaseline.executions.retry(begun.id).status == "completed"
    assert shop.said.count("create server") == 2


def test_decision15_a_listener_hears_of_nodes_that_have_arrived(shop: Shop) -> None:
    heard = shop.folder / "heard"
    folder = shop.folder / "plugins" / "listen"
    folder.mkdir()
    (folder / "hear.cfg").write_text(
        "ResourceStateListener = true\nResourceStates = Started\nResourceTypes = acme.Server\n"
    )
    (folder / "hear.py").write_text(
        "from pathlib import Path\ndef onStateTransition(event):\n"
        f"    Path({str(heard)!r}).write_text(' '.join(r.getAsString('MachineType') for r in event.getResources())\n"
        "        + ' to ' + event.getResources()[0].getAsString('TargetState'))\n"
    )
    assert shop.install().status == "completed"
    assert heard.read_text() == "small small to Started"


def test_decision15_a_plan_shows_states_and_phases_and_calls_nothing(shop: Shop) -> None:
    shop.phase("Make", "Allocation", 'ResourceConstraint := MachineType == "small"')
    shop.phase("Free", "Deallocation")
    text = shop.phaseline.blueprints.plan(str(shop.folder / "blueprint.yaml")).text
    lines = [line.rstrip() for line in text.splitlines()]
    at = next(number for number, line in enumerate(lines) if line.startswith("+ server"))
    shown = [line.split() for line in lines[at : at + 12]]
    assert ["Allocation", "create", "ops.note.create"] in shown
    assert ["Make", "phase,", "if", "it", "applies"] in shown
    assert ["Started"] in shown
    assert not any("Free" in line for line in lines)
    assert shop.said == []


def test_decision15_a_phase_that_nobody_can_use_holds_its_nodes_until_it_is_mended(shop: Shop) -> None:
    shop.phase("Make", "Allocation", "Phase.Dependencies = Missing")
    shop.install(detach=True)
    shop.phaseline.engine.run(until_idle=True)
    assert ("server", "Allocation") in shop.states()
    texts = {
        reason.text
        for one in shop.phaseline.instances.list(node="server").items
        for reason in shop.phaseline.instances.why(one.id).reasons
    }
    assert any("Missing" in text for text in texts)
    assert "Make server server" not in shop.said
    shop.phase("Missing", "Allocation")
    shop.phaseline.close()
    shop.open()
    assert shop.phaseline.executions.resume(deployment="shop").status == "completed"
    assert shop.said.index("Missing server server") < shop.said.index("Make server server")
