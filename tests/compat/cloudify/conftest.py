"""What tests of scripts share."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where scripts are executed: its path leaves room for a socket's, of which 107 bytes count. That of TMPDIR may not."""
    with TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("CFY_EXEC_TEMP", folder)
        yield Path(folder)
