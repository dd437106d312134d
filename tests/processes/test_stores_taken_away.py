"""A store that is removed, moved or replaced while commands use it: they end with a problem, and make no new one."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.started import Process

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  one:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: scripts/wait.sh}}
"""
WAIT = '#!/bin/sh\necho begun > "$HERE/begun"\nread word < "$HERE/go"\n'


class World:
    """Commands over a store in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "scripts").mkdir()
        (folder / "scripts" / "wait.sh").write_text(WAIT)
        (folder / "scripts" / "wait.sh").chmod(0o755)
        (folder / "blueprint.yaml").write_text(BLUEPRINT)
        (folder / "here").mkdir()
        for pipe in ("begun", "go"):
            os.mkfifo(folder / pipe)

    @property
    def store(self) -> Path:
        return self.folder / "here" / "store.db"

    def start(self, *words: str) -> Process:
        own = {
            "PHASELINE_STORE_URL": f"sqlite:///{self.store}",
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "HERE": str(self.folder),
        }
        return Process(
            [sys.executable, "-m", "phaseline", *words, "--json"],
            env={**os.environ, **own},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def begun(self) -> None:
        assert (self.folder / "begun").read_text() == "begun\n"

    def go_on(self) -> None:
        """Let the operation end, if it still runs."""
        try:
            handle = os.open(self.folder / "go", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return
        os.write(handle, b"go\n")
        os.close(handle)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.go_on()


def removed(store: Path) -> None:
    for file in store.parent.iterdir():
        file.unlink()


def only_the_file(store: Path) -> None:
    store.unlink()


def with_its_folder(store: Path) -> None:
    removed(store)
    store.parent.rmdir()


def moved(store: Path) -> None:
    store.parent.rename(store.parent.with_name("there"))


def replaced(store: Path) -> None:
    (store.parent / "other").write_bytes(b"")
    (store.parent / "other").replace(store)


def ended(process: Process) -> tuple[int, Any, str]:
    out, said = process.communicate(timeout=60)
    return process.returncode, json.loads(out), said


@pytest.mark.parametrize("take", [removed, only_the_file, with_its_folder, moved, replaced])
def test_whoever_runs_or_follows_ends_with_a_problem_and_makes_no_store(
    world: World, take: Callable[[Path], None]
) -> None:
    with world.start("install", "blueprint.yaml", "-d", "shop") as install:
        world.begun()
        with world.start("executions", "follow", "install-1") as follow:
            while not Path(f"{world.store}.waiting").exists():
                time.sleep(0.02)
            waiting = Path(f"{world.store}.waiting").stat().st_ino
            while f":{waiting} " not in Path("/proc/locks").read_text():
                time.sleep(0.02)
            take(world.store)
            for process in (follow, install):
                code, told, said = ended(process)
                assert code == 1
                assert [problem["code"] for problem in told["problems"]] == ["PL-S016"]
                assert "Traceback" not in said
    assert not world.store.exists() or world.store.stat().st_size == 0


def test_an_engine_that_idles_ends_with_a_problem(world: World) -> None:
    with world.start("engine", "run") as engine:
        while not Path(f"{world.store}.lock").exists():
            time.sleep(0.02)
        while str(engine.pid) not in Path(f"{world.store}.lock").read_text():
            time.sleep(0.02)
        removed(world.store)
        code, told, said = ended(engine)
    assert (code, [problem["code"] for problem in told["problems"]]) == (1, ["PL-S016"])
    assert "Traceback" not in said
    assert not world.store.exists()


def test_a_command_that_looks_at_a_store_that_was_removed_makes_none(world: World) -> None:
    with world.start("engine", "run") as engine:
        while not world.store.exists():
            time.sleep(0.02)
        engine.send_signal(signal.SIGTERM)
        ended(engine)
    removed(world.store)
    with world.start("deployments", "list") as looking:
        code, _, said = ended(looking)
    assert code in (0, 1)
    assert "Traceback" not in said
    assert not world.store.exists()
