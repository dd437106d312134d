"""Hook classes on paths that end otherwise: busy, refused before anything was touched, killed (source 2, §4, §6)."""

import json
import os
import threading
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError
from phaseline.embedded.follow import follow
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

CLASSES = '''
from pathlib import Path


class Tells:
    """Writes down its calls, and refuses the actions named."""

    def __init__(self, log, refuses=()):
        self.log, self.refuses = log, refuses

    def say(self, *words):
        with Path(self.log).open("a") as file:
            file.write(" ".join(map(str, words)) + "\\n")

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        self.say("pre", action, stack.state)
        if action in self.refuses:
            raise PermissionError("not now")

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        states = "+".join(sorted({one.state for one in stack.resources.values()}))
        self.say("post", action, is_stack_failure, cnxt.hook.reason, stack.id, stack.status, states)
'''
OPERATIONS = '''
from pathlib import Path
from phaseline import operation


@operation
def create(item):
    """Meets the test at two pipes, if it is to."""
    if item.properties["waits"]:
        Path(__file__).with_name("begun").write_text("begun")
        Path(__file__).with_name("go").read_text()
'''
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs: {waits: {default: false}, size: {default: 1}}
plugins: {acme: {executor: central_deployment_agent, install: false}}
node_types:
  thing:
    derived_from: cloudify.nodes.Root
    properties: {waits: {default: false}, size: {default: 1}}
    interfaces: {cloudify.interfaces.lifecycle: {create: acme.waiting_operations.create}}
node_templates:
  web: {type: thing, properties: {waits: {get_input: waits}, size: {get_input: size}}}
"""


class House:
    """A folder with a blueprint, its operations, and one hook class."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "calls.txt"
        (folder / "telling.py").write_text(CLASSES)
        (folder / "waiting_operations.py").write_text(OPERATIONS)
        (folder / "blueprint.yaml").write_text(BLUEPRINT)
        self.file = str(folder / "blueprint.yaml")

    def open(self, *refuses: str) -> phaseline.Phaseline:
        options = {"log": str(self.log), "refuses": refuses}
        classes = json.dumps([{"name": "tells", "class": "telling:Tells", "options": options}])
        given = {"plugins.path": str(self.folder), "hooks.classes": classes}
        return phaseline.open(f"sqlite:///{self.folder}/store.db", settings=given)

    def calls(self) -> list[str]:
        found = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_h24_the_posts_of_an_uninstall_see_the_deployment(house: House) -> None:
    with house.open() as shop:
        shop.executions.install(house.file, "shop")
        house.calls()
        assert shop.executions.uninstall("shop").status == "completed"
    assert house.calls() == ["pre DELETE DELETE_IN_PROGRESS", "post DELETE False completed shop COMPLETE deleted"]


def test_h22_a_refused_update_changes_nothing(house: House) -> None:
    with house.open("UPDATE") as shop:
        shop.executions.install(house.file, "shop")
        house.calls()
        before = shop.deployments.show("shop")
        done = shop.deployments.update("shop", house.file, inputs={"size": 2})
        after = shop.deployments.show("shop")
        (web,) = shop.instances.list(deployment="shop").items
    assert (done.status, done.reason) == ("failed", "pre hook tells: not now")
    assert house.calls() == ["pre UPDATE CREATE_COMPLETE"]
    assert (after.status, after.inputs, after.states) == (before.status, before.inputs, before.states)
    assert web.state == "started"


def test_h23_a_refused_uninstall_stops_nobody_and_keeps_the_snapshots(house: House) -> None:
    with house.open("DELETE") as shop:
        shop.executions.install(house.file, "shop")
        before = shop.deployments.show("shop")
        assert shop.snapshots.create("shop", "kept").status == "completed"
        done = shop.executions.uninstall("shop")
        after = shop.deployments.show("shop")
        restored = shop.snapshots.restore("shop", "kept")
    assert (done.status, done.reason) == ("failed", "pre hook tells: not now")
    assert (after.status, after.states) == (before.status, before.states)
    assert restored.status == "completed", "what was saved is still there"


def test_h21_who_is_refused_because_others_are_at_work_calls_no_hook(house: House) -> None:
    for pipe in ("begun", "go"):
        os.mkfifo(house.folder / pipe)
    done: list[object] = []

    def install() -> None:
        with house.open() as shop:
            done.append(shop.executions.install(house.file, "shop", inputs={"waits": True}).status)

    at_work = threading.Thread(target=install)
    at_work.start()
    assert (house.folder / "begun").read_text() == "begun"
    house.calls()
    with house.open() as other, pytest.raises(ProblemsError, match="PL-C016"):
        follow(other.ctx, start(other.ctx, WorkflowStart("restart", "shop"), manner=ExecutionOptions(if_busy="refuse")))
    assert house.calls() == []
    (house.folder / "go").write_text("go")
    at_work.join()
    assert done == ["completed"]
    assert house.calls() == ["post CREATE False completed shop COMPLETE started"]


@pytest.mark.parametrize("how", ["force", "kill"])
def test_h52_posts_are_told_of_a_cancel_that_waits_for_nobody(house: House, how) -> None:
    for pipe in ("begun", "go"):
        os.mkfifo(house.folder / pipe)
    done: list[object] = []

    def install() -> None:
        with house.open() as shop:
            done.append(shop.executions.install(house.file, "shop", inputs={"waits": True}).status)

    at_work = threading.Thread(target=install)
    at_work.start()
    assert (house.folder / "begun").read_text() == "begun"
    with house.open() as other:
        assert other.executions.cancel("install-1", **{how: True}).status == "canceled"
    assert house.calls() == [
        "pre CREATE CREATE_IN_PROGRESS",
        "post CREATE True cancelled shop FAILED creating",
    ]
    (house.folder / "go").write_text("go")
    at_work.join()
    assert done == ["canceled"]
