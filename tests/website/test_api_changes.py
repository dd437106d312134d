"""What ``make apicheck`` reports of a repository: nothing before the first tag, then each public name that was broken."""

import subprocess
from pathlib import Path

import pytest

from tools.website.pages import ROOT

PYTHON = ROOT / ".venv-site/bin/python"
FILES = {
    "__init__.py": '__all__ = ["open", "gone"]\n\ndef open(a, b=1):\n    """Public."""\n\ndef gone():\n    """Public."""\n',
    "planning.py": '__all__ = ["plan"]\n\ndef plan():\n    """Public."""\n',
    "inside.py": 'def free():\n    """Not public."""\n',
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    package = tmp_path / "src/phaseline"
    package.mkdir(parents=True)
    for name, text in FILES.items():
        (package / name).write_text(text, "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def check(repository: Path) -> tuple[int, list[str]]:
    words = [PYTHON, "-m", "tools.api_changes", repository]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


def test_without_a_tag_there_is_nothing_to_compare_with(repository: Path) -> None:
    code, (line,) = check(repository)
    assert code == 0
    assert line.startswith("no release is tagged yet")


def test_internal_names_are_free(repository: Path) -> None:
    git(repository, "tag", "v1.0.0")
    (repository / "src/phaseline/inside.py").write_text("", "utf-8")
    assert check(repository) == (0, ["nothing public is broken since v1.0.0"])


def test_each_broken_public_name_is_reported(repository: Path) -> None:
    git(repository, "tag", "v1.0.0")
    changed = '__all__ = ["open"]\n\ndef open(a, c):\n    """Public."""\n'
    (repository / "src/phaseline/__init__.py").write_text(changed, "utf-8")
    (repository / "src/phaseline/planning.py").unlink()
    code, lines = check(repository)
    assert code == 1
    for part in ("gone", "open(b)", "phaseline.planning: module was removed"):
        assert any(part in line for line in lines), lines
