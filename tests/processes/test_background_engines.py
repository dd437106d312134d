"""An engine in the background: it imports nothing from where somebody happens to be, and one that dies is told of."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  one:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: scripts/quick.sh}}
"""
PROGRAM = "import sys; from phaseline.cli.main import main; sys.argv[0] = 'phaseline'; main()"
DIES = """\
import sys

if "--until-idle" in sys.orig_argv:
    raise SystemExit("there is no engine today")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "quick.sh").write_text("#!/bin/sh\ntrue\n")
    (tmp_path / "scripts" / "quick.sh").chmod(0o755)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    return tmp_path


def phaseline(folder: Path, *words: str, **more: str) -> tuple[int, Any]:
    own = {
        "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, *words, "--json"],
        cwd=folder,
        env={**os.environ, **own, **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def test_a_module_in_the_current_folder_is_not_executed(folder: Path) -> None:
    for name in ("json", "sqlite3", "phaseline", "subprocess", "click"):
        (folder / f"{name}.py").write_text(
            f"open({str(folder / 'executed')!r}, 'a').write('{name} ')\nraise SystemExit('{name}')\n"
        )
    code, told = phaseline(folder, "install", "blueprint.yaml", "-d", "shop", "--detach")
    assert code == 0
    code, _ = phaseline(folder, "executions", "follow", told["id"])
    assert code == 0
    assert not (folder / "executed").exists()


def test_an_engine_that_dies_is_told_of_with_its_last_words(folder: Path) -> None:
    (folder / "code").mkdir()
    (folder / "code" / "sitecustomize.py").write_text(DIES)
    code, told = phaseline(
        folder, "install", "blueprint.yaml", "-d", "shop", "--detach", PYTHONPATH=str(folder / "code")
    )
    assert code == 1
    (problem,) = told["problems"]
    assert problem["code"] == "PL-S015"
    assert problem["message"].endswith("there is no engine today")
    code, told = phaseline(folder, "executions", "resume", "install-1")
    assert (code, told["status"]) == (0, "completed")


def test_who_detaches_hears_when_the_engine_has_taken_the_execution(folder: Path) -> None:
    code, told = phaseline(folder, "install", "blueprint.yaml", "-d", "shop", "--detach")
    assert code == 0
    _, shown = phaseline(folder, "executions", "show", told["id"])
    assert shown["status"] in ("running", "completed")
    assert shown["started_at"] is not None
