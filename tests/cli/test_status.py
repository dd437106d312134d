"""One screen for the person on duty."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.cli.terminal import Terminal
from tests.processes.shells import Shell

from phaseline.app.app_context import SystemClock


def test_a_new_store_has_nothing_to_tell(terminal: Terminal) -> None:
    terminal.make_store()
    code, found = terminal.ask("status")
    assert (code, found["engine"], found["open_count"], found["needs"]) == (0, None, 0, [])
    assert found["store"]["size_bytes"] > 0
    text = terminal.run("status").stdout
    assert "none; commands start one when they need it" in text
    assert "Nothing needs a person." in text


def test_a_failed_execution_needs_a_person(terminal: Terminal) -> None:
    terminal.write()
    terminal.trouble("top")
    terminal.run("install", str(terminal.folder / "blueprint.yaml"))
    (need,) = terminal.ask("status")[1]["needs"]
    assert need == {"text": "install-1 of 'shop' failed", "mend": "phaseline executions show install-1"}
    assert "phaseline executions show install-1" in terminal.run("status").stdout


def test_the_engine_is_told_with_its_process_and_command(terminal: Terminal) -> None:
    from phaseline.store import open_store

    terminal.run("install", terminal.write())
    store = open_store(terminal.environment["PHASELINE_STORE_URL"], SystemClock())
    with store.own("phaseline engine run"):
        engine = terminal.ask("status")[1]["engine"]
        text = terminal.run("status").stdout
    store.close()
    assert engine["command"] == "phaseline engine run"
    assert engine["pid"] > 0
    assert engine["since_at"]
    assert f"process {engine['pid']} for" in text


PATIENCE_S = 60
SLOW = """\
import threading
from pathlib import Path

from phaseline import operation


@operation
def create(item):
    with open(Path(__file__).with_name("called"), "w") as pipe:
        pipe.write("called")
    threading.Event().wait(600)


@operation
def delete(item):
    pass
"""


@pytest.fixture
def killed(terminal: Terminal) -> Iterator[Terminal]:
    """An install whose engine was killed within a call that may not be repeated; nothing of it is left running."""
    started = Shell(terminal.folder)
    file = terminal.write()
    (terminal.folder / "plugins" / "made.py").write_text(SLOW)
    called = terminal.folder / "plugins" / "called"
    os.mkfifo(called)
    pipe = os.open(called, os.O_RDWR)  # for both, so that opening it waits for nobody
    process = subprocess.Popen(
        [sys.executable, "-m", "phaseline", "-q", "install", file],
        env={**terminal.environment, "PATH": "", "HOME": str(terminal.folder), "HERE": str(terminal.folder)},
        stdout=subprocess.DEVNULL,
    )
    try:
        ready, _, _ = select.select([pipe], [], [], PATIENCE_S)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert ready, "the operation was never called"
        yield terminal
    finally:
        os.close(pipe)
        started.end_all()


def test_what_nobody_runs_is_told_first_with_its_progress(killed: Terminal) -> None:
    found = killed.ask("status")[1]
    assert (found["engine"], found["open_count"]) == (None, 1)
    assert found["needs"][0] == {"text": "no process runs install-1", "mend": "phaseline executions resume install-1"}
    (standing,) = found["executions"]
    assert (standing["id"], standing["ended"], standing["counts"]["running"]) == ("install-1", 0, 1)
    assert "install-1  shop" in killed.run("status").stdout
    assert killed.ask("instances", "stuck")[1]["stuck"][0]["kind"] == "abandoned"


def test_the_doctor_warns_of_what_nobody_runs(killed: Terminal) -> None:
    code, found = killed.ask("doctor")
    assert (code, found["is_sound"]) == (0, True)
    (check,) = [check for check in found["checks"] if check["name"] == "engine"]
    assert (check["text"], check["mend"]) == ("no process runs 1 open execution", "phaseline engine run")


def test_the_screen_of_a_thousand_open_executions_is_bounded() -> None:
    from phaseline.cli.render.status import status_text
    from phaseline.model.graph.status import ExecutionStatus
    from phaseline.use_cases.queries.status import ExecutionProgress, Need, Status, StoreState

    one = ExecutionProgress("install-1", "install", "shop", ExecutionStatus.RUNNING, "ann", 0, 0, 9, {}, 0, 0)
    found = Status(
        1, StoreState("x", 0, 0, 2), None, "go", [one] * 200, 1_000, 200, 0, 0, needs=[Need("a", "b")], need_count=9
    )
    lines = status_text(found).splitlines()
    assert len(lines) < 25
    assert "and 990 more: phaseline executions list" in lines


def test_calls_of_which_nobody_knows_stay_on_the_list_when_their_execution_is_canceled(killed: Terminal) -> None:
    """Half-made things need a person until somebody retries, completes or uninstalls."""
    killed.run("executions", "resume", "install-1")
    assert killed.ask("executions", "cancel", "install-1")[1]["status"] == "canceled"
    (stuck,) = killed.ask("instances", "stuck")[1]["stuck"]
    assert (stuck["kind"], stuck["executions"]) == ("unsure", ["install-1"])
    assert killed.ask("status")[1]["needs"]


def test_w10_who_waits_for_a_person_is_told_so_and_let_go(killed: Terminal) -> None:
    killed.run("executions", "resume", "install-1")
    code, waiting = killed.ask("uninstall", "-d", "shop")
    assert (code, waiting["status"]) == (1, "queued")
    assert "install-1" in waiting["notices"][0]
    (queued,) = killed.ask("executions", "list", "--status", "queued")[1]["executions"]
    assert (queued["id"], queued["waits_for"]) == ("uninstall-2", "install-1")
    assert "waits for install-1" in killed.run("executions", "list").stdout
    assert killed.ask("executions", "cancel", "uninstall-2")[1]["status"] == "canceled"
