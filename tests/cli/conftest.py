"""Fixtures of the command line's tests."""

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in a folder named ``shop``."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    environment = {
        "PHASELINE_STORE_URL": f"sqlite:///{tmp_path}/store.db",
        "PHASELINE_RUN_TASK_RETRY_INTERVAL": "0.01",
        "PHASELINE_PLUGINS_PATH": "",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    return Terminal(folder, environment)
