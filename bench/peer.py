"""Runs the peer in an environment of its own, made once beside ``.venv``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv-peer"
REQUIREMENT = "cloudify-common[dispatcher]==7.0.5"
SCRIPT = Path(__file__).parent / "peers" / "cloudify_local.py"


def make_ready() -> Path:
    """The Python that can import the peer; installed from the package registry the first time."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / ".ready"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
        stamp.touch()
    return python


def run(count: int, storage: str) -> dict[str, float]:
    """{part: seconds} of ``init``, ``install`` and ``uninstall`` of ``count`` instances; storage ``memory`` or ``files``."""
    done = subprocess.run(
        [str(make_ready()), str(SCRIPT), str(count), storage], check=True, capture_output=True, text=True
    )
    laps: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return laps
