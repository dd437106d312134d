"""``init plugin`` writes a package whose own test passes with plain pytest, and whose blueprint installs."""

import os
import subprocess
import sys
from pathlib import Path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PHASELINE_", "PYTEST_", "COV_"))
    }
    environment["PHASELINE_STORE_URL"] = f"sqlite:///{folder}/store.db"
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


def phaseline(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, "-m", "phaseline", *words)


def test_the_written_plugin_is_tested_tried_and_installed(tmp_path: Path) -> None:
    assert phaseline(tmp_path, "init", "plugin", "my-plugin").returncode == 0
    folder = tmp_path / "my-plugin"

    tested = run(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert tested.returncode == 0, tested.stdout
    assert "4 passed" in tested.stdout

    place = tmp_path / "made"
    tried = phaseline(
        folder,
        "plugins",
        "try",
        "my_plugin:create",
        "--plugins",
        ".",
        "--properties",
        f"{{folder: {place}}}",
        "--count",
        "3",
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert len(list(place.iterdir())) == 3

    other = tmp_path / "installed"
    words = ("blueprint.yaml", "-d", "shelf", "--plugins", ".", "-i", f"folder={other}")
    installed = phaseline(folder, "install", *words)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    assert len(list(other.iterdir())) == 3
    assert phaseline(folder, "uninstall", "-d", "shelf").returncode == 0
    assert not list(other.iterdir())
