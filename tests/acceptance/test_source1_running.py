"""Source document 1: its samples run in a whole engine, over resources that move from state to state."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.acceptance.source1_samples import ASYNCHRONOUS, FIRST, IN_BULK, ONE_BY_ONE, on_this_machine
from tests.run.plant import Plant

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import RequestKind

LEFT_OUT = """
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
    yard = plant(create=(FIRST + LEFT_OUT, *lines))
    row = yard.start("n1", "n2", Provider="acme", Credentials="key")
    yard.start("n3", Provider="other")
    yard.until(lambda: yard.status(row) is ExecutionStatus.COMPLETED)
    assert made.read_text().splitlines() == ["key n1", "key n2"]
    assert [yard.document_of(name).get("InstanceId") for name in ("n1", "n2", "n3")] == ["i-n1", "i-n2", None]
    assert yard.state("n3") == "Started"


CONFIGURATION = ("HandlesStates = Configuration", "PhaseName = Example.CreateFile")


def test_the_host_files_are_created_one_by_one(plant: Callable[..., Plant], tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.mkdir()
    yard = plant(files=(on_this_machine(ONE_BY_ONE, str(hosts)), *CONFIGURATION))
    yard.start("n1", "n2")
    yard.start("no/such/folder")
    yard.until_in("Started", "n1", "n2")
    yard.until_is("no/such/folder", "Example.CreateFile", "failed")
    assert sorted(file.name for file in hosts.iterdir()) == ["n1", "n2"]
    assert yard.message("no/such/folder", "Example.CreateFile").startswith("Failed to create file: Command ")


def test_p18_p26_the_host_files_are_created_together_or_all_fail(plant: Callable[..., Plant], tmp_path: Path) -> None:
    yard = plant(files=(on_this_machine(IN_BULK, str(tmp_path / "hosts")), *CONFIGURATION))
    row = yard.start("n1", "n2")
    yard.until(lambda: yard.status(row) is ExecutionStatus.FAILED)
    assert yard.message("n1", "Example.CreateFile").startswith("CalledProcessError: Command ")
    assert yard.row(row).reason.endswith("2 in Configuration, 2 failed Example.CreateFile")
    (tmp_path / "hosts").mkdir()
    yard.ask(RequestKind.RETRY, row)
    yard.until_in("Started", "n1", "n2")
    assert len(list((tmp_path / "hosts").iterdir())) == 2


LOOKED_AT = """
import os
import tempfile

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
        install=(
            (ASYNCHRONOUS + LOOKED_AT).replace("{folder}", str(tmp_path)),
            "HandlesStates = Installation",
            "PhaseName = Install",
        )
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
