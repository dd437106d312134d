"""What the pages tell a reader to type works, in the order in which it stands there, and answers what they say.

A block that follows a line ending in "`name`:" is written to that file. Lines after ``$`` in a console block are run by a
shell; what follows them is what they print, ``...`` standing for anything. Python blocks are run in one namespace for each
page. ``<!-- exit 1 -->`` before a block says how its last command ends, ``<!-- not run -->`` leaves a block out.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"(?P<before>[^\n]*)\n(?P<gap>\n?)^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PLAYED = [
    "api",
    "bulk",
    "ci",
    "coming-from-cfy",
    "coming-from-other-tools",
    "concepts",
    "crash-safety",
    "day-2",
    "first-plugin",
    "hooks",
    "install",
    "interruptions",
    "operators",
    "packages",
    "phase-handler",
    "phase-plugins",
    "real-cloud",
    "resources",
    "groups",
    "schedules",
    "secrets",
    "stack-actions",
    "stored-blueprints",
    "testing",
    "tutorial",
    "workflows",
    "writing-blueprints",
]
PATIENCE_S = 240


@dataclass(frozen=True)
class Block:
    """One block of a page. ``file``: it is to be written there."""

    kind: str
    text: str
    line: int
    file: str = ""
    exit: int = 0


def blocks(page: Path) -> Iterator[Block]:
    """Those that are written or run, in order."""
    text = page.read_text("utf-8")
    for found in BLOCK.finditer(text):
        before = found["before"].strip()
        if before == "<!-- not run -->":
            continue
        file = re.search(r"`([\w./-]+)`:$", before)
        code = re.fullmatch(r"<!-- exit (\d+) -->", before)
        line = text.count("\n", 0, found.start("kind")) + 1
        yield Block(found["kind"], found["text"], line, file[1] if file else "", int(code[1]) if code else 0)


class Reader:
    """Somebody who types what a page says, in a folder of their own."""

    def __init__(self, folder: Path, programs: Path = Path(sys.executable).parent) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "page"}
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("PHASELINE_", "PYTEST_", "COV_"))
            },
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "XDG_STATE_HOME": str(folder / ".state"),
            "NO_COLOR": "1",
        }

    def do(self, block: Block) -> None:
        """Write or run a block."""
        if block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
        elif block.kind == "console":
            self._type(block)
        elif block.kind == "python":
            exec(compile(block.text, f"line {block.line}", "exec"), self.names)

    def _type(self, block: Block) -> None:
        commands: list[tuple[str, list[str]]] = []
        for line in block.text.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif line.startswith("> "):
                commands[-1] = (f"{commands[-1][0]}\n{line[2:]}", commands[-1][1])
            else:
                commands[-1][1].append(line)
        for number, (command, expected) in enumerate(commands):
            self._run(command, expected, block, block.exit if number == len(commands) - 1 else 0)

    def _run(self, command: str, expected: list[str], block: Block, code: int) -> None:
        done = subprocess.run(
            ["bash", "-c", f"{command}\nresult=$?; pwd > '{self.folder}/.here'; exit $result"],
            cwd=self.here,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        told = f"line {block.line}: {command}\n{done.stdout}{done.stderr}"
        assert done.returncode == code, told
        if expected:
            printed = done.stdout if done.stdout.strip() else done.stderr
            assert re.fullmatch(pattern(expected), printed.rstrip("\n")), f"{told}\nexpected:\n" + "\n".join(expected)

    @property
    def here(self) -> Path:
        """The folder of the shell, which commands may have changed."""
        marker = self.folder / ".here"
        return Path(marker.read_text().strip()) if marker.exists() else self.folder


def pattern(expected: list[str]) -> str:
    """The expression that lines with ``...`` mean."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?[^\n]*")
        else:
            parts.append(r"[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[^\S\n]*")
    return r"\n".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("page", PLAYED)
def test_what_the_page_says_works(page: str, tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(tmp_path, programs)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("PHASELINE_")]:
        monkeypatch.delenv(name)
    for name in ("PHASELINE_STORE_URL", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, reader.environment[name])
    monkeypatch.syspath_prepend(str(tmp_path))
    played = list(blocks(DOCS / f"{page}.md"))
    assert any(block.kind in {"console", "python"} for block in played)
    for block in played:
        reader.do(block)


def test_a_page_that_says_something_else_is_found_out(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.do(Block("console", "$ echo one; echo two\no...\ntwo\n$ cd /\n$ pwd\n/\n", 1))
    with pytest.raises(AssertionError, match="expected"):
        reader.do(Block("console", "$ echo one\ntwo\n", 1))
    with pytest.raises(AssertionError):
        reader.do(Block("console", "$ false\n", 1))
    reader.do(Block("console", "$ false\n", 1, exit=1))


def test_the_index_of_the_documentation_has_every_page() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([\w./-]+\.md)\)", index))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.glob("*.md")} - {"README.md"}
    assert pages <= linked
