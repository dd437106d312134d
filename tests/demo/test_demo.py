"""The whole demonstration, as a user plays it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phaseline.demo.acts import BULK, WEB, examples_folder


def test_the_examples_are_found_from_a_clone() -> None:
    assert all((examples_folder() / example / "blueprint.yaml").is_file() for example in (WEB, BULK))


@pytest.mark.slow
def test_every_claim_of_the_demonstration_holds(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "phaseline.demo"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("✔") >= 15
    assert [path.name for path in tmp_path.iterdir()] == []
