"""The whole demonstration, as a user plays it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from phaseline.demo.acts import BULK, FOLDER, WEB, examples_folder, make_folder
from phaseline.demo.processes import processes_in
from tools.pictures.__main__ import CAST
from tools.pictures.cast import acts_of, words


def test_the_examples_are_found_from_a_clone() -> None:
    assert all((examples_folder() / example / "blueprint.yaml").is_file() for example in (WEB, BULK))


@pytest.mark.slow
def test_every_claim_of_the_demonstration_holds(tmp_path: Path) -> None:
    done = demo(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("✔") >= 18
    assert "would run" in done.stdout
    assert "the quota of" in done.stdout  # the reason that `instances why` names
    _, *acts, _ = done.stdout.split("\n\n")
    drawn = [words(lines) for lines in acts_of(CAST.read_text("utf-8")).values()]
    assert [words(act.splitlines()) for act in acts] == [drawn[0][1:], *drawn[1:]], "make pictures draws it anew"
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]
    assert processes_in(tmp_path) == []
    listed = run_in(tmp_path / FOLDER, "executions", "list", "--json")
    found = {one["deployment"] for one in json.loads(listed.stdout)["executions"]}
    assert {"web", "quota", "crash"} <= found


def test_a_folder_that_no_demonstration_left_is_kept(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "phaseline.toml").write_text("[run]\nthreads = 3\n")
    done = run_in(tmp_path, "demo")
    assert (done.returncode, done.stderr.count("PL-C119")) == (1, 1)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["phaseline.toml"]


def test_the_folder_of_an_earlier_demonstration_is_made_anew(tmp_path: Path) -> None:
    (make_folder(tmp_path / "there") / "left").write_text("")
    assert [path.name for path in make_folder(tmp_path / "there").iterdir()] == ["phaseline.toml"]
    assert (tmp_path / "there").stat().st_mode & 0o077 == 0


def demo(folder: Path) -> subprocess.CompletedProcess[str]:
    return started(folder, "-m", "phaseline.demo")


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return started(folder, "-m", "phaseline", *words)


def started(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "TMPDIR": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
