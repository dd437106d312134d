"""An install that waits for somebody to agree, in real processes: killed while it waits, gone on with, approved by another user."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes.shells import BLUEPRINT, QUICK, Shell

from phaseline.policies.approvals import LOOK_S

SETTINGS = """
[[hooks.classes]]
name = "four-eyes"
class = "phaseline.policies.approvals:RequireApproval"
options = { actions = ["CREATE"] }
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "scripts").mkdir()
    for name in ("wait.sh", "quick.sh"):
        (tmp_path / "scripts" / name).write_text(QUICK)
        (tmp_path / "scripts" / name).chmod(0o755)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    (tmp_path / "phaseline.toml").write_text(SETTINGS)
    return Shell(tmp_path)


def ask(shell: Shell, *words: str, user: str = "ann") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "phaseline", *words],
        cwd=shell.folder,
        env={**shell.environment, "LOGNAME": user},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def waits(shell: Shell) -> str:
    """What the install waits for; nothing if it does not."""
    found = ask(shell, "executions", "show", "install-1", "--json")
    return (json.loads(found.stdout)["waits"] or [""])[0] if not found.returncode else ""


def test_an_approval_outlives_the_engine_that_waits_for_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    with shell.start("install", "blueprint.yaml", "-d", "shop") as first:
        shell.until(lambda: waits(shell))
        own = ask(shell, "executions", "approve", "install-1")
        assert own.returncode == 1, own.stderr
        assert "The approval has no effect, because ann may not approve it: the requesting user" in own.stdout
        shell.until(lambda: "(ann may not approve it)" in waits(shell))
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
    assert not (shell.folder / "calls").exists(), "nothing was begun"
    approved = ask(shell, "executions", "approve", "install-1", "--reason", "seen", user="bob")
    assert approved.returncode == 0, approved.stderr
    assert "No process runs it; resume it: phaseline executions resume install-1" in approved.stdout
    resumed = ask(shell, "executions", "resume", "install-1")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (shell.folder / "calls").read_text().split() == ["second", "second"]
    late = ask(shell, "executions", "approve", "install-1")
    assert (late.returncode, late.stderr.partition(" ")[0]) == (1, "PL-C017")


def test_an_engine_in_the_background_awaits_the_approval_and_goes_on(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    begun = ask(shell, "install", "blueprint.yaml", "-d", "shop", "--detach")
    assert begun.returncode == 0, begun.stderr
    shell.until(lambda: waits(shell))
    approved = ask(shell, "executions", "approve", "install-1", user="bob")
    assert approved.returncode == 0, approved.stderr
    assert "No process runs it" not in approved.stdout
    shell.until(
        lambda: json.loads(ask(shell, "executions", "show", "install-1", "--json").stdout)["status"] == "completed"
    )
    assert (shell.folder / "calls").read_text().split() == ["second", "second"]


SLOW = """
import os
from pathlib import Path
from phaseline.policies.approvals import RequireApproval

HERE = Path(__file__).parents[1]


class Slow(RequireApproval):
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        if cnxt.data.get("plan") and (HERE / "gate").exists():
            (HERE / "awake").write_text("")
            (HERE / "gate").read_text()
            (HERE / "gate").unlink()
        super().do_pre_op(cnxt, stack, current_stack, action)
"""


def test_an_approval_that_comes_while_its_hook_is_awake_counts_as_soon_as_that_has_returned(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    (shell.folder / "plugins").mkdir()
    (shell.folder / "plugins" / "slow.py").write_text(SLOW)
    file = shell.folder / "phaseline.toml"
    file.write_text(file.read_text().replace("phaseline.policies.approvals:RequireApproval", "slow:Slow"))
    monkeypatch.setenv("PHASELINE_PLUGINS_PATH", str(shell.folder / "plugins"))
    os.mkfifo(shell.folder / "gate")
    with shell.start("install", "blueprint.yaml", "-d", "shop") as first:
        shell.until(lambda: waits(shell))
        ask(shell, "executions", "approve", "install-1")  # counts for nothing, and wakes it
        shell.until((shell.folder / "awake").exists)
        approved = ask(shell, "executions", "approve", "install-1", user="bob")
        assert approved.returncode == 0, approved.stderr
        (shell.folder / "gate").write_text("go on")
        first.communicate(timeout=LOOK_S / 2)  # not when it would have looked by itself
    assert first.returncode == 0
    assert (shell.folder / "calls").read_text().split() == ["second", "second"]
