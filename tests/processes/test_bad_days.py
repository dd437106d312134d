"""A disk that is full, a file that may not be written, a store of an older version: told clearly, and nothing is lost."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.processes.test_read_only_stores import be_nobody_special

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins:
  made: {executor: central_deployment_agent, install: false}
node_templates:
  one:
    type: cloudify.nodes.Root
    capabilities: {scalable: {properties: {default_instances: 500}}}
    interfaces: {cloudify.interfaces.lifecycle: {create: made.made.create}}
"""
PLUGIN = """\
import os
from pathlib import Path

from phaseline import operation


@operation(repeatable=True)
def create(item):
    with (Path(__file__).parent / "calls").open("a") as file:
        file.write(f"{item.instance_id}\\n")
    item.runtime_properties["padding"] = os.urandom(500).hex()
"""
OLD = Path(__file__).resolve().parents[1] / "store/data/store-v1.db"
LIMIT_KIB = 600
"""So large may files become on the day on which the disk is full."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    own = {
        "PHASELINE_STORE_URL": f"sqlite:///{folder}/store.db",
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    return {**os.environ, **own}


def phaseline(folder: Path, *words: str, before: Callable[[], None] | None = None) -> tuple[int, Any, str]:
    """(exit code, the document on stdout, stderr) of the real command."""
    done = subprocess.run(
        [sys.executable, "-m", "phaseline", *words, "--json"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=before,
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def limit_files() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_KIB * 1024, resource.RLIM_INFINITY))


def test_a_full_disk_stops_an_install_which_goes_on_when_there_is_room(folder: Path) -> None:
    code, answer, _ = phaseline(folder, "install", "blueprint.yaml", "-d", "shop", before=limit_files)
    (problem,) = answer["problems"]
    assert (code, problem["code"]) == (1, "PL-S005")
    assert "resume" in problem["mend"]
    assert phaseline(folder, "store", "check")[0] == 0
    status = phaseline(folder, "status")[1]
    assert status["needs"][0]["text"] == "no process runs install-1"
    code, view, _ = phaseline(folder, "executions", "resume", "install-1")
    assert (code, view["status"], view["counts"]["completed"]) == (0, "completed", 500)
    calls = (folder / "plugins" / "calls").read_text().split()
    assert len(set(calls)) == 500
    assert "PL-S005" in (folder / "store.db.log").read_text("utf-8")


def test_a_disk_without_room_for_a_store_is_told(folder: Path) -> None:
    def hardly_any() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, resource.RLIM_INFINITY))

    code, answer, _ = phaseline(folder, "install", "blueprint.yaml", before=hardly_any)
    assert (code, answer["problems"][0]["code"]) == (1, "PL-S005")
    assert phaseline(folder, "install", "blueprint.yaml", "-d", "shop")[0] == 0


def test_a_file_that_may_not_be_written_is_told_and_left_as_it_is(folder: Path) -> None:
    assert phaseline(folder, "install", "blueprint.yaml", "-d", "shop")[0] == 0
    file = folder / "store.db"
    before = file.read_bytes()
    file.chmod(0o444)
    code, answer, stderr = phaseline(folder, "deployments", "delete", "shop", "--force", before=be_nobody_special)
    (problem,) = answer["problems"]
    assert (code, problem["code"]) == (1, "PL-S005"), stderr
    assert "read-only" in problem["message"]
    assert file.read_bytes() == before


def test_an_older_store_is_upgraded_and_the_copy_before_it_is_named(folder: Path) -> None:
    shutil.copy(OLD, folder / "store.db")
    assert phaseline(folder, "doctor")[0] == 0
    assert len(list(folder.glob("store*"))) == 1
    code, found, stderr = phaseline(folder, "executions", "list")
    assert code == 0
    assert found["total"] > 0
    (copy,) = (path for path in folder.glob("store*") if path.suffix != ".lock" and path.name != "store.db")
    assert str(copy) in stderr
    assert phaseline(folder, "executions", "list")[2] == ""
