"""What the README tells a newcomer to type works, in the order in which it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_five_minutes_of_the_readme_work(tmp_path: Path, programs: Path) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"^## Five minutes.*?^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    commands = [line.removeprefix("$ ") for line in block[1].splitlines() if "pip install" not in line]
    assert len(commands) >= 6
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(commands)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PHASELINE_STORE_URL": f"sqlite:///{tmp_path}/store.db"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_of_the_readme_is_one(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    words = set(re.findall(r"(?:^\$ |`)phaseline ([a-z]+)", text, re.MULTILINE))
    done = subprocess.run(
        [sys.executable, "-c", "from phaseline.cli.main import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert words <= set(re.findall(r"^  ([a-z]+) ", done.stdout, re.MULTILINE))
