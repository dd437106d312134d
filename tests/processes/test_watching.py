"""``--watch`` and ``--follow``: what changes is shown while it changes, until it is over, left alone, or Ctrl-C."""

import json
import signal
from pathlib import Path

import pytest
from tests.processes.shells import PATIENCE_S, Shell, installing
from tests.processes.test_command_line import shell
from tests.ptys import on_terminal

__all__ = ["shell"]


def test_a_watched_status_is_redrawn_on_a_screen_of_its_own_until_ctrl_c(shell: Shell) -> None:
    with (
        installing(shell) as process,
        on_terminal("status", "--watch=0.1", folder=shell.folder, environment=shell.environment) as seen,
    ):
        seen.until("install-1")
        shell.release_first()
        assert process.wait(PATIENCE_S) == 0
        seen.until("no execution")
        code, text = seen.interrupt()
    assert code == 0
    before, _, after = text.rpartition("\x1b[?1049l")
    assert "\x1b[?1049h" in before
    assert "no execution" in after, "what was shown last stays behind"
    assert "every 0.1 s" not in after


def test_in_a_pipe_a_watched_list_is_a_document_a_line_whenever_it_changes(shell: Shell) -> None:
    with installing(shell) as process:
        watched = shell.start("deployments", "list", "--watch", "0.1", "--json")
        assert watched.stdout is not None
        first = json.loads(watched.stdout.readline())
        assert first["deployments"][0]["status"] == "in_progress"
        shell.release_first()
        assert process.wait(PATIENCE_S) == 0
        while first["deployments"][0]["status"] != "good":
            second = json.loads(watched.stdout.readline())
            assert second != first
            first = second
        watched.send_signal(signal.SIGINT)
        watched.communicate(timeout=PATIENCE_S)
    assert watched.returncode == 0


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_followed_logs_come_while_it_runs_and_end_with_it(shell: Shell, form: list[str]) -> None:
    with installing(shell) as process:
        following = shell.start("executions", "logs", "install-1", "--follow", *form)
        shell.release_first()
        out, _ = following.communicate(timeout=PATIENCE_S)
        assert process.wait(PATIENCE_S) == 0
    assert following.returncode == 0
    if form:
        assert "told to go" in [json.loads(line)["text"] for line in out.splitlines()]
    else:
        assert "told to go" in out
    again = shell.run("executions", "logs", "-d", "shop", "-f", "--limit", "1")
    assert len(again.stdout.splitlines()) == 1, "of one that is over: its last lines, and no wait"


def test_followed_logs_are_sieved_as_others_are(shell: Shell) -> None:
    with installing(shell) as process:
        shell.release_first()
        assert process.wait(PATIENCE_S) == 0
    assert shell.run("executions", "logs", "install-1", "-f", "--node", "second").stdout == ""
    assert "told to go" in shell.run("executions", "logs", "install-1", "-f", "--node", "first").stdout


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_followed_events_come_while_it_runs_and_end_with_it(shell: Shell, form: list[str]) -> None:
    with installing(shell) as process:
        following = shell.start("executions", "events", "install-1", "-f", *form)
        assert following.stdout is not None
        head = following.stdout.readline()
        assert process.poll() is None, "it is told while it runs"
        shell.release_first()
        out = following.stdout.read()  # to its end
        following.communicate(timeout=PATIENCE_S)
        assert process.wait(PATIENCE_S) == 0
    assert following.returncode == 0
    lines = [head, *out.splitlines(keepends=True)]
    if form:
        told = [json.loads(line) for line in lines]
        everything = shell.ask("executions", "events", "install-1")["events"]
        names = [(one["instance"], one["operation"], one["text"]) for one in told]
        assert sorted(names) == sorted((one["instance"], one["operation"], one["text"]) for one in everything)
        assert told[0] == everything[0]
        assert told[-1] == everything[-1]
    else:
        assert sorted(lines) == sorted(shell.run("executions", "events", "install-1").stdout.splitlines(keepends=True))
        assert shell.run("executions", "events", "-d", "shop", "-f", "--limit", "1").stdout == lines[-1]


@pytest.mark.parametrize(("noun", "new"), [("logs", "told to go"), ("events", "Task succeeded")])
def test_with_limit_0_only_what_comes_from_now_on_is_told(shell: Shell, noun: str, new: str) -> None:
    with installing(shell) as process:
        following = shell.start("executions", noun, "install-1", "-f", "--limit", "0")
        shell.await_line(following.stderr, "(install-1: only new lines)")
        shell.release_first()
        out, _ = following.communicate(timeout=PATIENCE_S)
        assert process.wait(PATIENCE_S) == 0
    assert following.returncode == 0
    assert new in out
    assert "Starting 'install'" not in out, "that was before"
    assert shell.run("executions", noun, "install-1", "-f", "--limit", "0").stdout == "", "it is over"


def test_who_follows_what_a_killed_engine_left_is_told_so_and_how_to_resume(shell: Shell) -> None:
    with installing(shell) as process:
        following = [shell.start("executions", noun, "install-1", "-f") for noun in ("events", "logs")]
        watched = shell.start("status", "shop", "--watch=0.1")
        shell.await_line(following[0].stdout, "Starting")
        shell.await_line(watched.stdout, "install-1")
        process.kill()
        told = [one.communicate(timeout=PATIENCE_S) for one in (*following, watched)]
    assert [one.returncode for one in (*following, watched)] == [1, 1, 0]
    for _, beside in told[:2]:
        assert "no process works on install-1 of 'shop'" in beside
        assert "phaseline executions resume install-1" in beside
    assert "phaseline executions resume install-1" in told[2][0]


@pytest.mark.parametrize(
    "words", ["executions events install-1 -f", "executions logs install-1 -f", "status --watch 0.1"]
)
def test_who_follows_into_a_closed_pipe_ends_though_nothing_comes(shell: Shell, words: str) -> None:
    with installing(shell):
        following = shell.start(*words.split())
        assert following.stdout is not None
        if "logs" not in words:  # nothing is logged yet
            assert following.stdout.readline()
        following.stdout.close()
        assert following.wait(PATIENCE_S) == 0
        assert following.stderr is not None
        with following.stderr as said:
            assert said.read() == ""


def test_a_watched_deployment_is_shown_until_it_has_no_open_execution(shell: Shell) -> None:
    with (
        installing(shell) as process,
        on_terminal("status", "shop", "--watch=0.1", folder=shell.folder, environment=shell.environment) as seen,
    ):
        seen.until("install-1")
        watched = shell.start("status", "shop", "--watch", "0.1", "--json")
        assert watched.stdout is not None
        assert json.loads(watched.stdout.readline())["open_count"] == 1
        shell.release_first()
        assert process.wait(PATIENCE_S) == 0
        code, text = seen.end()
        out, _ = watched.communicate(timeout=PATIENCE_S)
    assert (code, watched.returncode) == (0, 0)
    assert "no execution" in text.rpartition("\x1b[?1049l")[2], "what was shown last stays behind"
    assert json.loads(out.splitlines()[-1])["open_count"] == 0
    assert shell.run("status", "other", "--watch").returncode == shell.run("status", "other").returncode == 1


def test_a_new_machine_is_watched_until_it_has_a_store(tmp_path: Path) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with on_terminal("deployments", "list", "--watch=0.1", folder=tmp_path, environment=environment) as seen:
        seen.until("phaseline init hello")
        assert seen.interrupt()[0] == 0
    assert not (tmp_path / "phaseline").exists()
