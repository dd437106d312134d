"""The configuration of whoever runs the tests, with their master key, is neither read nor written."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
