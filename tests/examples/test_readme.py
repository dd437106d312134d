"""What the README tells a newcomer to type works, in the order in which it stands there."""

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.test_blocks import Reader, blocks

ROOT = Path(__file__).resolve().parents[2]


def test_what_the_readme_says_works(tmp_path: Path, programs: Path) -> None:
    """Its blueprint, its plugin and its commands; installing Phaseline is what ``make demo`` and ``make test`` did."""
    played = list(blocks(ROOT / "README.md"))
    assert [block.file for block in played if block.file] == ["farm/blueprint.yaml", "farm/plugins/cloud.py"]
    assert played[-1].text.count("$ phaseline ") == 3
    reader = Reader(tmp_path, programs)
    for block in played:
        reader.do(block)
    assert list((tmp_path / "farm/plugins/made").iterdir()) == []


def test_the_two_commands_of_the_readme_are_targets() -> None:
    commands = re.findall(r"^\$ make (\w+)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    targets = re.findall(r"^(\w+):.* ## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert commands == ["demo", "test"]
    assert set(commands) <= set(targets)


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
