"""``find(items)``: what a crash left open is settled by a plugin that can look up what it made (decision 1, P113)."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.run.plant import Plant

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import RequestKind

CODE = """
import os

HERE = "{folder}"

def say(file, *words):
    with open(os.path.join(HERE, file), "a") as told:
        told.write(" ".join(words) + chr(10))

def handle(handler):
    for node in handler.getResources():
        say("calls", node.getAsString("Name"), handler.operationToken(node))
        data = handler.getResourcePhaseData(node)
        data.setString("Step", "begun")
    handler.save()
    if not os.path.exists(os.path.join(HERE, "died")):
        say("died")
        with open(os.path.join(HERE, "go")) as go:
            go.read()
    handler.setCompleted(handler.getResources())
"""
FIND = """
def find(items):
    for item in items:
        say("sought", item.name, item.token, item.data["Step"])
        if item.name == "made":
            item.exists({"InstanceId": "i-1"})
        elif item.name == "missing":
            item.absent()
"""


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    made = Plant.__new__(Plant)
    made.folder = tmp_path / "plugins"
    made.plugin("Create", CODE.replace("{folder}", str(tmp_path)) + FIND)
    os.mkfifo(tmp_path / "go")
    plant = Plant(made.folder)
    yield plant
    plant.close()


def died(plant: Plant, folder: Path, *names: str) -> None:
    """The process dies in the middle of the first call of these, and another one goes on."""
    plant.start(*names)
    plant.until((folder / "died").exists)
    dead = plant.engine
    plant.crash()
    (folder / "go").write_text("go")  # the thread of the dead: what it says is heard by nobody
    dead.executor.stop(10)


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


def test_p113_a_plugin_that_finds_what_it_made_settles_what_a_crash_left_open(plant: Plant, tmp_path: Path) -> None:
    died(plant, tmp_path, "made", "missing", "odd")
    plant.until(lambda: plant.state("made") == "Started" and plant.state("missing") == "Started")
    plant.until_is("odd", "Create", "unsure")
    first, again = lines(tmp_path / "calls")[:3], lines(tmp_path / "calls")[3:]
    assert [name for name, _ in first] == ["made", "missing", "odd"]
    assert again == [first[1]], "the handler was called again for what was absent alone, with the same token"
    assert lines(tmp_path / "sought") == [[name, token, "begun"] for name, token in first]
    assert plant.data("made", "Create") == {"Step": "begun", "InstanceId": "i-1"}
    (row,) = plant.store.executions()
    plant.until(lambda: plant.status(row) is ExecutionStatus.ATTENTION)


def test_p113_of_what_nobody_knows_a_person_says_that_it_is_called_again(plant: Plant, tmp_path: Path) -> None:
    died(plant, tmp_path, "odd")
    plant.until_is("odd", "Create", "unsure")
    plant.about(RequestKind.RETRY, "Create", "odd")
    plant.until_in("Started", "odd")
    tokens = [token for _, token in lines(tmp_path / "calls")]
    assert len(set(tokens)) == 2, "a retry of a user has a token of its own"
    assert len(lines(tmp_path / "sought")) == 1, "what a person decided is not looked for again"


def test_p113_of_what_nobody_knows_a_person_says_that_it_is_done(plant: Plant, tmp_path: Path) -> None:
    died(plant, tmp_path, "odd")
    plant.until_is("odd", "Create", "unsure")
    plant.about(RequestKind.COMPLETE, "Create", "odd", reason="seen in the console")
    plant.until_in("Started", "odd")
    assert len(lines(tmp_path / "calls")) == 1


def test_p113_a_find_that_raises_knows_nothing(plant: Plant, tmp_path: Path) -> None:
    broken = (
        CODE.replace("{folder}", str(tmp_path))
        + "\ndef find(items):\n    items[0].absent()\n    raise OSError('no network')\n"
    )
    plant.plugin("Create", broken)
    plant.begin_engine()
    died(plant, tmp_path, "a", "b")
    plant.until_is("b", "Create", "unsure")
    plant.until_in("Started", "a")
    (row,) = plant.store.executions()
    assert any("no network" in line.text for line in plant.store.logs(row.number))


def test_p113_a_second_crash_before_anybody_looked_forgets_nothing(plant: Plant, tmp_path: Path) -> None:
    died(plant, tmp_path, "odd")
    plant.crash()
    plant.until_is("odd", "Create", "unsure")
    assert len(lines(tmp_path / "calls")) == 1


def test_without_find_a_lost_call_of_a_phase_is_called_again(plant: Plant, tmp_path: Path) -> None:
    plant.plugin("Create", CODE.replace("{folder}", str(tmp_path)))
    plant.begin_engine()
    died(plant, tmp_path, "odd")
    plant.until_in("Started", "odd")
    assert [name for name, _ in lines(tmp_path / "calls")] == ["odd", "odd"]


SETS = """
def find(items):
    for item in items:
        if item.name == "begun":
            item.unfinished({"OperationId": "op-1"}, attributes={"PublicIp": "10.0.0.1"})
        elif item.name == "made":
            item.exists({"InstanceId": "i-1"}, attributes={"PublicIp": "10.0.0.2"})
        else:
            item.exists(attributes={"State": "Started"})
"""


def test_find_sets_attributes_and_has_the_handler_poll_on_for_what_was_begun(plant: Plant, tmp_path: Path) -> None:
    plant.plugin("Create", CODE.replace("{folder}", str(tmp_path)) + SETS)
    plant.begin_engine()
    died(plant, tmp_path, "made", "begun", "wrong")
    plant.until_in("Started", "made", "begun")
    plant.until_is("wrong", "Create", "unsure")
    assert [name for name, _ in lines(tmp_path / "calls")[3:]] == ["begun"]
    assert plant.data("begun", "Create") == {"Step": "begun", "OperationId": "op-1"}
    assert [plant.document_of(name).get("PublicIp") for name in ("begun", "made")] == ["10.0.0.1", "10.0.0.2"]
