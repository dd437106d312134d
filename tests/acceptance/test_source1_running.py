"""Source document 1: its samples run in a whole engine, over resources that move from state to state."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.run.plant import Plant

from phaseline.model.rows import RequestKind
from phaseline.model.status import ExecutionStatus

FIRST = """
import acme

def handle(handler):
  for node in handler.getResources():
    # convert node settings to the format that acme uses
    instance_params = _convert_node_to_instance(node)
    # look up the keys for this node
    creds = _lookup_credentials(node.getAsString("Credentials"))
    # create the instance
    instance_id = acme.create_instance(creds, instance_params)
    # update the node with the instance id
    node.setString("InstanceId", instance_id)
    handler.setCompleted(node)

def _convert_node_to_instance(node):
    return {"name": node.getAsString("Name")}

def _lookup_credentials(name):
    return name
"""


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Callable[..., Plant]]:
    made: list[Plant] = []

    def begin(**plugins: tuple[str, ...]) -> Plant:
        folder = tmp_path / "plugins"
        writer = Plant.__new__(Plant)
        writer.folder = folder
        for name, (code, *lines) in plugins.items():
            writer.plugin(name, code, *lines)
        made.append(Plant(folder))
        return made[-1]

    yield begin
    for one in made:
        one.close()


ACME = """
def create_instance(creds, params):
    with open("{file}", "a") as made:
        made.write(creds + " " + params["name"] + chr(10))
    return "i-" + params["name"]
"""


def test_p17_the_first_plugin_creates_an_instance_for_each_node(plant: Callable[..., Plant], tmp_path: Path) -> None:
    made = tmp_path / "made"
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "acme.py").write_text(ACME.replace("{file}", str(made)))
    lines = ("PhaseName = Acme.CreateInstance", "Phase.Description = Starting Acme instance", "ForProvider = acme")
    yard = plant(create=(FIRST, *lines))
    row = yard.start("n1", "n2", Provider="acme", Credentials="key")
    yard.start("n3", Provider="other")
    yard.until(lambda: yard.status(row) is ExecutionStatus.COMPLETED)
    assert made.read_text().splitlines() == ["key n1", "key n2"]
    assert [yard.document_of(name).get("InstanceId") for name in ("n1", "n2", "n3")] == ["i-n1", "i-n2", None]
    assert yard.state("n3") == "Started"


TOUCH = """
import subprocess

def handle(handler):
    for resource in handler.getResources():
        try:
            subprocess.check_call(["touch", "{folder}/" + resource.getAsString("Name")])
            handler.setCompleted(resource)
        except subprocess.CalledProcessError as e:
            handler.setFailed(resource, "Failed to create file: %s" % e)
"""
CONFIGURATION = ("HandlesStates = Configuration", "PhaseName = Example.CreateFile")


def test_the_host_files_are_created_one_by_one(plant: Callable[..., Plant], tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.mkdir()
    yard = plant(files=(TOUCH.replace("{folder}", str(hosts)), *CONFIGURATION))
    yard.start("n1", "n2")
    yard.start("no/such/folder")
    yard.until_in("Started", "n1", "n2")
    yard.until_is("no/such/folder", "Example.CreateFile", "failed")
    assert sorted(file.name for file in hosts.iterdir()) == ["n1", "n2"]
    assert yard.message("no/such/folder", "Example.CreateFile").startswith("Failed to create file: Command ")


BULK = """
import subprocess

def handle(handler):
    args = ["touch"]
    args.extend(["{folder}/" + resource.getAsString("Name") for resource in handler.getResources()])
    subprocess.check_call(args)
    handler.setCompleted(handler.getResources())
"""


def test_p18_p26_the_host_files_are_created_together_or_all_fail(plant: Callable[..., Plant], tmp_path: Path) -> None:
    yard = plant(files=(BULK.replace("{folder}", str(tmp_path / "hosts")), *CONFIGURATION))
    row = yard.start("n1", "n2")
    yard.until(lambda: yard.status(row) is ExecutionStatus.FAILED)
    assert yard.message("n1", "Example.CreateFile").startswith("CalledProcessError: Command ")
    assert yard.row(row).reason.endswith("2 in Configuration, 2 failed Example.CreateFile")
    (tmp_path / "hosts").mkdir()
    yard.ask(RequestKind.RETRY, row)
    yard.until_in("Started", "n1", "n2")
    assert len(list((tmp_path / "hosts").iterdir())) == 2


LATER = """
import os
import tempfile

def handle(handler):
    for node in handler.getResources():
        phase_data = handler.getResourcePhaseData(node)

        if not phase_data.isDefined("Directory"):
            # run the command and get the temporary directory with its output
            dirname = _call_remote_command(node)
            phase_data.setString("Directory", dirname)
        else:
            dirname = phase_data.getAsString("Directory")
            # ssh to the machine and determine if done
            completed, error = _check_command(dirname, node)
            if completed:
                if error is not None:
                    handler.setFailed(node, error)
                else:
                    handler.setCompleted(node)
            else:
                # still not done, so CycleCloud will call again later for this resource
                pass

def _call_remote_command(node):
    return tempfile.mkdtemp(dir="{folder}")

def _check_command(dirname, node):
    if not os.path.exists(os.path.join(dirname, "status")):
        return False, None
    with open(os.path.join(dirname, "status")) as file:
        text = file.read()
    return True, None if text == "ok" else text
"""


def test_p35_p76_the_asynchronous_plugin_starts_once_and_looks_until_it_is_done(
    plant: Callable[..., Plant], tmp_path: Path
) -> None:
    yard = plant(
        install=(LATER.replace("{folder}", str(tmp_path)), "HandlesStates = Installation", "PhaseName = Install")
    )
    row = yard.start("n1", "n2")
    yard.until_is("n1", "Install", "sleeping")
    folders = {name: Path(yard.data(name, "Install")["Directory"]) for name in ("n1", "n2")}
    assert yard.engine.wakes_at == yard.clock.now() + 15_000
    yard.pass_time(15)
    yard.until_is("n1", "Install", "sleeping")
    (folders["n1"] / "status").write_text("ok")
    (folders["n2"] / "status").write_text("disk full")
    yard.pass_time(15)
    yard.until(lambda: yard.status(row).is_ended)
    assert (yard.state("n1"), yard.stay("n2")) == ("Started", {"Install": "failed"})
    assert yard.message("n2", "Install") == "disk full"
    assert [Path(yard.data(name, "Install")["Directory"]) for name in ("n1", "n2")] == list(folders.values())
    yard.ask(RequestKind.RETRY, row)
    yard.until_is("n2", "Install", "sleeping")
    assert Path(yard.data("n2", "Install")["Directory"]) != folders["n2"]
