"""A phase that runs in an engine of another process: what users see and change meanwhile."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.clusters import record
from tests.processes.shells import Shell
from tests.processes.test_sleeping_resources import PhaseShell
from tests.started import Process

PHASE = "HandlesStates = Allocation\nResourceType = Cloud.Node\nPhaseName = Acme.Wait\n"
CODE = """
import os
from pathlib import Path

HERE = Path(os.environ["HERE"])


def handle(handler):
    for node in handler.getResources():
        node.setString("InstanceId", "i-1")
        handler.setMessage(node, "half of it is done")
    (HERE / "begun").write_text("begun")
    word = (HERE / "go").read_text().strip()
    for node in handler.getResources():
        handler.log("info", "canceling" if handler.isCanceling(node) else "wanted", node)
        handler.setFailed(node, "no room") if word == "fail" else handler.setCompleted(node)
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    for pipe in ("begun", "go"):
        os.mkfifo(tmp_path / pipe)
    (tmp_path / "phases").mkdir()
    (tmp_path / "phases" / "wait.cfg").write_text(PHASE)
    (tmp_path / "phases" / "wait.py").write_text(CODE)
    (tmp_path / "nodes.rec").write_text(record("n1", Size=1))
    made = PhaseShell(tmp_path)
    yield made
    made.end_all()


@pytest.fixture
def engine(shell: Shell) -> Iterator[Process]:
    """An engine whose phase has been called with the one resource and waits for a word."""
    assert shell.run("resources", "apply", "nodes.rec", "-d", "night").returncode == 0
    with shell.start("engine", "run") as process:
        assert shell.heard() == "begun"
        yield process
        process.terminate()


def show(shell: Shell) -> Any:
    return shell.ask("resources", "show", "n1")


def entry(shell: Shell) -> Any:
    return show(shell)["record"]["PhaseMap"]["Acme.Wait"]


def test_p36_p38_a_message_is_seen_and_an_edit_is_kept_while_the_call_runs(shell: Shell, engine: Process) -> None:
    shell.until(lambda: entry(shell).get("Message") == "half of it is done")
    assert entry(shell)["Status"] == "Running"
    assert shell.ask("phases", "show", "Acme.Wait")["now"]["activity"] == "Running"
    assert shell.ask("resources", "why", "n1")["phases"][0]["text"].startswith("run 1")
    (shell.folder / "edit.rec").write_text(record("n1", Size=2, Color="blue"))
    assert shell.run("resources", "apply", "edit.rec", "-d", "night").returncode == 0
    assert show(shell)["record"]["Size"] == 2
    shell.say("go\n")
    shell.until(lambda: show(shell)["state"] == "Started")
    after = show(shell)["record"]
    assert (after["InstanceId"], after["Size"], after["Color"]) == ("i-1", 2, "blue")


def test_p66_p70_another_target_awaits_the_call_and_its_failure_counts_for_nothing(
    shell: Shell, engine: Process
) -> None:
    assert shell.run("resources", "target", "Terminated", "n1").returncode == 0
    canceling = show(shell)
    assert (entry(shell)["Status"], canceling["state"], canceling["target"]) == (
        "Canceling",
        "Allocation",
        "Terminated",
    )
    now = shell.ask("phases", "show", "Acme.Wait")["now"]
    assert (now["activity"], now["counts"]) == ("Canceling", {"Canceling": 1})
    why = shell.ask("resources", "why", "n1")
    assert [(one["status"], one["text"]) for one in why["phases"]] == [
        ("Canceling", "run 1 is awaited before it goes its new way")
    ]
    shell.say("fail\n")
    shell.until(lambda: show(shell)["state"] == "Terminated")
    after = show(shell)
    assert (after["is_failed"], after["record"]["InstanceId"], entry(shell)["Status"]) == (False, "i-1", "Canceled")


def test_pd44_a_resource_that_is_deleted_while_it_runs_goes_when_the_call_has_ended(
    shell: Shell, engine: Process
) -> None:
    assert shell.run("resources", "delete", "n1").returncode == 0
    assert entry(shell)["Status"] == "Canceling"
    shell.say("go\n")
    shell.until(lambda: shell.ask("resources", "list")["total"] == 0)


def test_p109_a_phase_is_paused_while_it_runs_and_the_next_waits(shell: Shell, engine: Process) -> None:
    assert shell.run("phases", "pause", "Acme.Wait").returncode == 0
    (shell.folder / "more.rec").write_text(record("n2"))
    assert shell.run("resources", "apply", "more.rec", "-d", "night").returncode == 0
    shell.say("go\n")
    shell.until(lambda: show(shell)["state"] == "Started")
    shell.until(lambda: shell.ask("resources", "show", "n2")["state"] == "Allocation")
    assert "paused by" in shell.ask("resources", "show", "n2")["entries"][0]["note"]
    assert shell.run("phases", "unpause", "Acme.Wait").returncode == 0
    assert shell.heard() == "begun"
    shell.say("go\n")
    shell.until(lambda: shell.ask("resources", "show", "n2")["state"] == "Started")
