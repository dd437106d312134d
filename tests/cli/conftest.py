"""Fixtures of the command line's tests."""

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in a folder named ``shop``."""
    made = Terminal.in_folder(tmp_path)
    monkeypatch.chdir(made.folder)
    return made
