"""An install that waits for somebody to agree, in real processes: killed while it waits, gone on with, approved by another user."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes.shells import BLUEPRINT, QUICK, Shell

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
        assert "It counts for nothing, because ann may not approve it: who wants it done" in own.stdout
        shell.until(lambda: "(ann may not approve it)" in waits(shell))
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
    assert not (shell.folder / "calls").exists(), "nothing was begun"
    approved = ask(shell, "executions", "approve", "install-1", "--reason", "seen", user="bob")
    assert approved.returncode == 0, approved.stderr
    assert "Nobody runs it now: phaseline executions resume install-1" in approved.stdout
    resumed = ask(shell, "executions", "resume", "install-1")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (shell.folder / "calls").read_text().split() == ["second", "second"]
    late = ask(shell, "executions", "approve", "install-1")
    assert (late.returncode, late.stderr.partition(" ")[0]) == (1, "PL-C017")
