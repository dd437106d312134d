"""Several terminals on one store: one call for all of them, and nothing stops when one of them goes."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.processes.shells import BLUEPRINT, PATIENCE_S, QUICK, WAIT, Shell, installing, one_is_within

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.submission import SubmissionAnswer, ask

BULK = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins:
  many: {executor: central_deployment_agent, install: false}
node_types:
  Thing:
    derived_from: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: many.many.create}}
node_templates:
  first: {type: Thing}
  second:
    type: Thing
    relationships: [{type: cloudify.relationships.depends_on, target: first}]
"""
MANY = """\
import os
from pathlib import Path

from phaseline import operation

HERE = Path(os.environ["HERE"])


@operation(bulk=True, repeatable=True)
def create(batch):
    is_first = not (HERE / "calls").exists()
    with (HERE / "calls").open("a") as file:
        file.write(",".join(sorted(f"{item.deployment_id}.{item.node_id}" for item in batch)) + "\\n")
    if is_first:
        (HERE / "begun").write_text("begun\\n")
        (HERE / "go").read_text()
"""
LONG = """\
import os
from pathlib import Path

from phaseline import operation

HERE = Path(os.environ["HERE"])


@operation(bulk=True, repeatable=True)
def stand(batch):
    (HERE / "begun-long").write_text("begun\\n")
    (HERE / "go-long").read_text()


@operation(bulk=True)
def quick(batch):
    pass
"""
EFFECTIVE_WITHIN_S = 0.5
OWNER_WITHIN_S = 2


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with opened(tmp_path / "shop") as made:
        yield made


@contextmanager
def opened(folder: Path) -> Iterator[Shell]:
    (folder / "scripts").mkdir(parents=True)
    (folder / "plugins").mkdir()
    (folder / "blueprint.yaml").write_text(BLUEPRINT)
    (folder / "bulk.yaml").write_text(BULK)
    (folder / "plugins" / "many.py").write_text(MANY)
    for name, text in {"wait.sh": WAIT, "quick.sh": QUICK}.items():
        (folder / "scripts" / name).write_text(text)
        (folder / "scripts" / name).chmod(0o755)
    (folder / "plugins" / "long.py").write_text(LONG)
    for operation, name in {"configure": "stand", "start": "quick"}.items():
        text = BULK.partition("  second:")[0].replace("create: many.many.create", f"{operation}: many.long.{name}")
        (folder / f"{name}.yaml").write_text(text)
    for name in ("begun", "go", "begun-long", "go-long"):
        os.mkfifo(folder / name)
    made = Shell(folder)
    try:
        yield made
    finally:
        made.end_all()


def start_bulk(shell: Shell, name: str) -> "subprocess.Popen[str]":
    return shell.start("install", "bulk.yaml", "-d", name)


def at(shell: Shell) -> AbstractContextManager[RequestContext]:
    return open_context(Settings(shell.environment["PHASELINE_STORE_URL"]))


def taken_up(shell: Shell, count: int) -> bool:
    running = shell.ask("executions", "list", "--status", "running")
    return int(running["total"]) == count


def test_two_terminals_see_one_plugin_call_for_both(shell: Shell) -> None:
    with start_bulk(shell, "one") as first:
        shell.await_first()
        with start_bulk(shell, "two") as second, start_bulk(shell, "three") as third:
            shell.until(lambda: taken_up(shell, 3))
            shell.release_first()
            assert [process.wait(PATIENCE_S) for process in (first, second, third)] == [0, 0, 0]
    assert shell.calls() == ["one.first", "one.second,three.first,two.first", "three.second,two.second"]


def test_who_is_done_holds_nobody_up_while_a_long_call_of_somebody_else_runs_in_his_process(shell: Shell) -> None:
    with start_bulk(shell, "one") as first:
        shell.await_first()
        with shell.start("install", "stand.yaml", "-d", "two") as second:
            assert shell.heard("begun-long") == "begun\n"
            shell.release_first()
            shell.await_line(first.stderr, "install-1 has ended: completed. Calls of other executions are running")
            assert shell.run("install", "quick.yaml", "-d", "three").returncode == 0
            shell.say("go\n", "go-long")
            assert [process.wait(PATIENCE_S) for process in (first, second)] == [0, 0]


def test_a_second_ctrl_c_leaves_what_others_want_to_the_background(shell: Shell) -> None:
    with start_bulk(shell, "one") as process:
        shell.await_first()
        assert shell.run("install", "stand.yaml", "-d", "two", "--detach").returncode == 0
        assert shell.heard("begun-long") == "begun\n"
        process.send_signal(signal.SIGINT)
        shell.await_line(process.stderr, "waiting for the running calls")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 1
    assert shell.heard("begun-long") == "begun\n", "somebody goes on with it"
    shell.say("go\n", "go-long")
    assert shell.ask("executions", "follow", "install-2")["status"] == "completed"


def test_a_closed_terminal_hands_over_to_the_other_one(shell: Shell) -> None:
    with start_bulk(shell, "one") as first:
        shell.await_first()
        with start_bulk(shell, "two") as second:
            shell.until(lambda: taken_up(shell, 2))
            first.send_signal(signal.SIGHUP)
            shell.until(lambda: shell.ask("engine", "status")["somebody_waits"])
            shell.release_first()
            assert first.wait(PATIENCE_S) in {0, 1}, (
                "1: handed over; 0: the other one had it done before we could say so"
            )
            assert second.wait(PATIENCE_S) == 0
    assert shell.ask("executions", "follow", "install-1")["status"] == "completed"
    assert shell.calls()[0] == "one.first"
    assert len(shell.calls()) == len(set(shell.calls()))


def test_a_killed_engine_is_replaced_by_who_follows(tmp_path: Path) -> None:
    def replaced(number: int) -> float:
        with opened(tmp_path / str(number) / "shop") as shell, start_bulk(shell, "one") as first:
            shell.await_first()
            with start_bulk(shell, "two") as second, at(shell) as ctx:
                shell.until(lambda: taken_up(shell, 2))
                first.kill()
                killed = time.time()
                assert second.wait(PATIENCE_S) == 0
                [resumed] = [event.at for event in ctx.store.events(2) if event.type == "workflow_resumed"]
            assert shell.ask("executions", "follow", "install-1")["status"] == "completed"
        return resumed / 1000 - killed

    one_is_within(OWNER_WITHIN_S, replaced)


def test_the_last_terminal_leaves_an_engine_in_the_background(shell: Shell) -> None:
    with installing(shell) as process:
        process.send_signal(signal.SIGTERM)
        shell.await_line(process.stderr, "waiting for the running calls")
        shell.release_first()
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    [log] = [Path(line.rpartition(", log ")[2]) for line in out.splitlines() if "in the background" in line]
    shell.until(lambda: shell.status("install-1") == "completed")
    shell.until(lambda: not shell.ask("engine", "status")["is_running"])
    shell.until(lambda: "The engine stopped: idle" in log.read_text())
    assert log.stat().st_mode & 0o077 == 0


def test_detach_and_reattach(shell: Shell) -> None:
    left = shell.start("install", "blueprint.yaml", "-d", "shop", "--detach", "--json")
    shell.await_first()
    out, _ = left.communicate(timeout=PATIENCE_S)
    assert left.returncode == 0
    assert '"detached": true' in out
    with shell.start("executions", "follow", "install-1", "--json") as following:
        shell.release_first()
        assert following.wait(PATIENCE_S) == 0
    assert shell.calls() == ["first", "second"]


def test_a_follower_that_is_interrupted_leaves_the_execution_as_it_is(shell: Shell) -> None:
    with installing(shell) as process:
        with shell.start("executions", "follow", "install-1") as following:
            shell.until(lambda: shell.ask("engine", "status")["somebody_waits"])
            following.send_signal(signal.SIGINT)
            assert following.wait(PATIENCE_S) == 1
        assert shell.status("install-1") == "running"
        shell.release_first()
        assert process.communicate(timeout=PATIENCE_S)[0].startswith("install-1 of 'shop': completed")


def test_an_engine_that_is_asked_to_stop_leaves_what_is_open_to_the_next_command(shell: Shell) -> None:
    with shell.start("engine", "run", "--json") as engine:
        shell.until(shell.has_engine)
        assert shell.run("install", "blueprint.yaml", "-d", "shop", "--detach").returncode == 0
        shell.await_first()
        stopped = shell.ask("engine", "stop", "--drain", "0.2")
        assert (stopped["pid"], stopped["successor"]) == (engine.pid, 0)
        (given_up,) = stopped["given_up"]
        assert (given_up["execution"], given_up["count"], given_up["is_repeatable"]) == ("install-1", 1, False)
        assert given_up["operation"].endswith(".create")
        assert given_up["instances"][0].startswith("first_")
        assert engine.wait(PATIENCE_S) == 0
        assert json.loads(engine.communicate()[0])["given_up"] == [given_up]
    assert not shell.ask("engine", "status")["is_running"]
    assert shell.run("executions", "resume", "install-1").returncode == 1
    assert shell.status("install-1") == "attention"


def test_what_waits_for_a_person_keeps_no_engine(shell: Shell) -> None:
    with installing(shell) as process:
        process.kill()
    assert shell.run("executions", "resume", "install-1").returncode == 1
    left = shell.run("engine", "run", "--until-idle")
    assert left.returncode == 1
    assert "install-1 needs a person: phaseline executions show install-1" in left.stdout


def test_whoever_waits_to_be_the_engine_hides_no_call_that_was_given_up(shell: Shell) -> None:
    with shell.start("engine", "run") as one, shell.start("engine", "run") as other:
        shell.until(lambda: shell.has_engine() and shell.ask("engine", "status")["somebody_waits"])
        assert shell.run("install", "blueprint.yaml", "-d", "shop", "--detach").returncode == 0
        shell.await_first()
        answer = shell.run("engine", "stop", "--drain", "0").stdout
        assert " is no longer the engine" in answer
        assert "  given up: create of first_" in answer
        assert "(install-1); the next engine will ask what became of it" in answer
        shell.until(lambda: shell.status("install-1") == "attention")
        one.terminate()
        other.terminate()


@pytest.mark.parametrize(("how", "shown"), [("wait", "canceling"), ("force", "canceled"), ("kill", "canceled")])
def test_a_cancel_of_another_process_takes_effect_at_once(tmp_path: Path, how: str, shown: str) -> None:
    def canceled(number: int) -> float:
        with opened(tmp_path / str(number) / "shop") as shell, installing(shell) as process, at(shell) as ctx:
            row = ctx.store.execution("install-1")
            assert row is not None
            asked = time.monotonic()
            submission = ask(ctx, RequestKind.CANCEL, row, {"how": how})
            while ctx.store.execution("install-1").status.value != shown:
                assert time.monotonic() - asked < PATIENCE_S
                time.sleep(0.005)
            took = time.monotonic() - asked
            assert SubmissionAnswer(submission).has_come(ctx.store)
            if how == "wait":
                shell.release_first()
            assert process.wait(PATIENCE_S) == 1
            assert ctx.store.execution("install-1").status is ExecutionStatus.CANCELED
            assert shell.calls() == ["first"]
        return took

    one_is_within(EFFECTIVE_WITHIN_S, canceled)


@pytest.mark.parametrize("is_killed", [False, True])
def test_decision_1_a_retry_never_overlaps_with_a_call_that_was_given_up(shell: Shell, *, is_killed: bool) -> None:
    with shell.start("engine", "run") as engine:
        shell.until(shell.has_engine)
        assert shell.run("install", "blueprint.yaml", "-d", "shop", "--detach").returncode == 0
        shell.await_first()
        assert shell.run("executions", "cancel", "install-1", "--force").returncode == 0
        refused = shell.run("executions", "retry", "install-1")
        assert refused.returncode == 1
        assert "PL-C028" in refused.stderr
        assert "phaseline executions cancel install-1 --kill" in refused.stderr
        if is_killed:
            assert shell.run("executions", "cancel", "install-1", "--kill").returncode == 0
        else:
            shell.release_first()
        shell.until(lambda: "problems" not in shell.ask("executions", "retry", "install-1", "--detach"))
        shell.await_first()
        shell.release_first()
        shell.until(lambda: shell.status("install-1") == "completed")
        engine.terminate()
    assert shell.calls() == ["first", "first", "second"]


def test_a_second_retry_hears_that_the_first_made_the_execution_busy(shell: Shell) -> None:
    (shell.folder / "scripts" / "quick.sh").write_text("#!/bin/sh\nexit 126\n")
    with installing(shell) as process:
        shell.release_first()
        assert process.wait(PATIENCE_S) == 1
    (shell.folder / "scripts" / "quick.sh").write_text(QUICK)
    assert shell.ask("executions", "retry", "install-1")["status"] == "completed"
    refused = shell.ask("executions", "retry", "install-1")
    assert refused["problems"][0]["code"] == "PL-C017"
