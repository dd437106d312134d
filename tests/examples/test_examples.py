"""Every example does what its expected output says, with the real command line in processes of its own."""

import difflib
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from phaseline.demo.processes import end_processes_in

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "try.sh").exists())

UNSTABLE = (
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"\bport \d+", "port PORT"),
    (r"\bprocess \d+", "process PID"),
    (r"\b\d{4}-\d\d-\d\d\b", "DATE"),
    (r"[·█]{40} *", "BAR "),
    (r"\b\d\d:\d\d:\d\d(\.\d+)?", "TIME"),
    (r"\b\d+(\.\d+)? ?(ms|s)\b", "SPAN"),
    (r"(?m)^ +SPAN ", "  SPAN "),
    (r", after waiting SPAN", ""),
    (r"/\S*/guestbook-\w+", "FOLDER"),
    (r'"describe": \d+', '"describe": SOME'),
    (r"--group [0-9a-f]{8}", "--group KEY"),
    (r"\b\d+ calls? made", "SOME calls made"),
    (r"(BAR +SPAN +\d+ entr(?:y|ies)) in \d+ calls?", r"\1 in SOME calls"),
    (r"(?m)^((?:describe|create) \w+|in all) +[\d,]+ +[\d,]+$", r"\1 SOME"),
    (r"bulk saved \d,\d+ API calls, 9\d %", "bulk saved THOUSANDS of API calls, NINETY %"),
    (r"(?m)^\d+ more were refused", "SOME more were refused"),
)
"""What differs from run to run, and what stands for it."""


def masked(text: str, example: str) -> str:
    """The text without what differs from run to run."""
    for pattern, word in UNSTABLE:
        text = re.sub(pattern, word, text)
    folders = (EXAMPLES / example, EXAMPLES / "01-web")  # others take its blueprint as it is
    for blueprint in (file for folder in folders for file in folder.glob("*.yaml")):
        for node in yaml.safe_load(blueprint.read_text("utf-8")).get("node_templates", ()):
            text = re.sub(rf"\b{node}_[a-z0-9]{{6}}\b", f"{node}_xxxxxx", text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def what_it_prints(example: str, folder: Path, programs: Path) -> str:
    """Standard output of the example's ``try.sh``, with a store of its own. The script must succeed.

    Progress goes to standard error; which lines of it appear depends on how busy the machine is.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PHASELINE_")}
    environment = {
        **inherited,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
        "TMPDIR": str(folder),
        "COLUMNS": "120",
    }
    try:
        done = subprocess.run(
            ["sh", str(EXAMPLES / example / "try.sh")],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    finally:
        end_processes_in(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return masked(done.stdout, example)


@pytest.mark.parametrize("example", NAMES)
def test_an_example_prints_what_is_expected(example: str, tmp_path: Path, programs: Path) -> None:
    expected = EXAMPLES / example / "expected.txt"
    found = what_it_prints(example, tmp_path, programs)
    if os.environ.get("PHASELINE_EXPECT") == "write":
        expected.write_text(found, "utf-8")
    difference = difflib.unified_diff(
        expected.read_text("utf-8").splitlines(), found.splitlines(), "expected", "printed", lineterm=""
    )
    assert found == expected.read_text("utf-8"), "\n".join(difference)


@pytest.mark.parametrize("example", NAMES)
def test_every_command_of_an_example_is_explained(example: str) -> None:
    script = (EXAMPLES / example / "try.sh").read_text("utf-8")
    text = (EXAMPLES / example / "README.md").read_text("utf-8")
    commands = re.findall(r"^say (phaseline(?: [a-z]+(?= ))+)", script, re.MULTILINE)
    assert commands
    assert [command for command in commands if command not in text] == []


TYPED = ["04-day2"]
"""Examples of which every line of the page's first block is typed as it is printed."""


@pytest.mark.parametrize("example", TYPED)
def test_the_page_of_an_example_can_be_typed_as_it_is_printed(example: str, tmp_path: Path, programs: Path) -> None:
    page = (EXAMPLES / example / "README.md").read_text("utf-8")
    block = page.partition("```console\n")[2].partition("```")[0]
    typed = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PHASELINE_")}
    own = {"PHASELINE_STORE_URL": f"sqlite:///{tmp_path}/store.db", "TMPDIR": str(tmp_path)}
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    fails = [line for line in typed if "and so fails" in line]
    lines = [f"if {line.partition('#')[0]}; then exit 9; fi" if line in fails else line for line in typed]
    try:
        done = subprocess.run(
            ["bash", "-e"],
            input="\n".join(lines),
            cwd=EXAMPLES / example,
            env={**inherited, **own, **path},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    finally:
        end_processes_in(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert fails
