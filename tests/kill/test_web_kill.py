"""The three-tier example, killed at each of its stages: decided about, carried on, seen, and removed without a trace."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.started import Process

from phaseline.demo.processes import end_processes_in, fetch_page, processes_in

PHASELINE = [sys.executable, "-c", "from phaseline.cli.main import main; main()"]
BLUEPRINT = Path(__file__).resolve().parents[2] / "examples" / "01-web" / "blueprint.yaml"
PATIENCE_S = 60

pytestmark = pytest.mark.kill


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db", "TMPDIR": str(folder)}


def phaseline(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PHASELINE, *words],
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    end_processes_in(tmp_path)


def files(folder: Path, pattern: str) -> int:
    return len(list(folder.glob(f"guestbook-*/{pattern}")))


STAGES = [("machine", ""), ("program", "data_*/program.py"), ("settings", "data_*/settings.json"), ("data", "data_*/pid"),
          ("back end", "back_end_*/pid"), ("page", "page_*/pid"), ("acquaintance", "page_*/back_end")]  # fmt: skip


@pytest.mark.parametrize("pattern", [pattern for _, pattern in STAGES], ids=[name for name, _ in STAGES])
def test_an_install_killed_at_this_stage_ends_well(pattern: str, folder: Path) -> None:
    command = [*PHASELINE, "install", str(BLUEPRINT), "-d", "web"]
    with Process(command, env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not files(folder, pattern) and time.monotonic() < deadline:
            time.sleep(0.002)
        process.kill()
    done = phaseline(folder, "executions", "resume", "-d", "web")
    if done.returncode:  # scripts must not be called twice unasked: a person decides
        done = phaseline(folder, "executions", "retry", "-d", "web")
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = json.loads(phaseline(folder, "deployments", "outputs", "web", "--json").stdout)["outputs"]
    assert "<li>Ada</li>" in fetch_page(outputs["url"])
    assert len([line for line in processes_in(folder) if "program.py" in line]) == 3
    assert phaseline(folder, "uninstall", "-d", "web").returncode == 0
    assert processes_in(folder) == []
    assert files(folder, "") == 0
