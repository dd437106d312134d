"""``--watch`` and ``logs --follow``: what changes is shown while it changes, until it is over or Ctrl-C."""

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


def test_a_new_machine_is_watched_until_it_has_a_store(tmp_path: Path) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with on_terminal("deployments", "list", "--watch=0.1", folder=tmp_path, environment=environment) as seen:
        seen.until("phaseline init hello")
        assert seen.interrupt()[0] == 0
    assert not (tmp_path / "phaseline").exists()
