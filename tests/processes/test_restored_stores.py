"""A backup put back: a cloud that honours client tokens gives nobody the machines of another deployment (rules BK4, BK5)."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.started import Process

from phaseline.testing.fake_cloud import CloudServer, Pace, open_cloud

BLUEPRINT = Path(__file__).resolve().parents[2] / "examples/02-bulk/blueprint.yaml"
COUNT = 3
MADE = COUNT + 1
"""Machines of a deployment and its network."""


class World:
    """Real commands over one store, and a cloud that remembers tokens."""

    def __init__(self, folder: Path, server: CloudServer) -> None:
        self.folder, self.server = folder, server
        self.store = folder / "here" / "store.db"

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "PHASELINE_STORE_URL": f"sqlite:///{self.store}",
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        return {**os.environ, **own}

    def say(self, *words: str, code: int = 0) -> Any:
        """The document that a command answers."""
        line = [sys.executable, "-m", "phaseline", *words, "--json"]
        done = subprocess.run(
            line, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def install(self, name: str, *words: str) -> Any:
        return self.say("install", str(BLUEPRINT), "-d", name, *self.inputs, *words)

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("-i", f"count={COUNT}", "-i", f"cloud={self.server.url}")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    (tmp_path / "here").mkdir()
    with open_cloud(tmp_path / "cloud", Pace(boot_ms=1)) as cloud, CloudServer(cloud) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield World(tmp_path, server)
        finally:
            cloud.pace = Pace(boot_ms=1)
            server.shutdown()
            serving.join()


def by_the_command(world: World, backup: Path) -> None:
    told = world.say("store", "restore", str(backup))
    assert Path(told["kept"]).exists()


def over_its_bytes(world: World, backup: Path) -> None:
    world.store.write_bytes(backup.read_bytes())


def as_a_new_file(world: World, backup: Path) -> None:
    world.store.unlink()
    shutil.copy2(backup, world.store)


def in_another_folder(world: World, backup: Path) -> None:
    there = world.store.parent.with_name(f"{world.store.parent.name}-too")
    shutil.copytree(world.store.parent, there)
    world.store = there / "store.db"
    over_its_bytes(world, backup)


def without_its_lock_file(world: World, backup: Path) -> None:
    shutil.rmtree(world.store.parent)
    world.store.parent.mkdir()
    shutil.copy2(backup, world.store)


def backup_of(world: World, name: str) -> Path:
    backup = world.folder / name
    world.say("store", "backup", str(backup))
    return backup


def raw_copy_of(world: World, name: str) -> Path:
    return Path(shutil.copy2(world.store, world.folder / name))


@pytest.mark.parametrize(
    ("copy", "put_back"),
    [
        (backup_of, by_the_command),
        (backup_of, over_its_bytes),
        (backup_of, without_its_lock_file),
        (raw_copy_of, over_its_bytes),
        (raw_copy_of, as_a_new_file),
        (raw_copy_of, in_another_folder),
    ],
)
def test_bk4_nothing_made_after_the_backup_is_handed_to_another_deployment(
    world: World, put_back: Callable[[World, Path], None], copy: Callable[[World, str], Path]
) -> None:
    world.install("alpha")
    backup = copy(world, "backup.db")
    world.install("beta")
    put_back(world, backup)
    world.install("gamma")
    put_back(world, backup)  # the same once more: what was made since the first time is lost, too
    world.install("delta")
    report = world.server.cloud.report()
    assert (report.created, report.tokens_again) == (4 * MADE, 0)
    assert world.say("store", "check")["findings"] == []


def test_bk4_a_store_set_back_with_all_its_folder_is_restored_from_itself(world: World) -> None:
    world.install("alpha")
    frozen = world.folder / "frozen"
    shutil.copytree(world.store.parent, frozen)
    world.install("beta")
    for (
        file
    ) in world.store.parent.iterdir():  # as a snapshot of the file system does it: the same inodes, the same lock file
        kept = frozen / file.name
        file.write_bytes(kept.read_bytes() if kept.exists() else b"")
    world.say("store", "restore", str(world.store))
    world.install("gamma")
    assert world.server.cloud.report().tokens_again == 0


def test_bk4_a_store_that_was_only_moved_keeps_its_name(world: World) -> None:
    world.install("alpha")
    there = world.folder / "there"
    world.store.parent.rename(there)
    world.store = there / "store.db"
    world.install("beta")
    tokens = [resource.token for resource in world.server.cloud._resources.values()]
    assert len({token.split("-")[0] for token in tokens}) == 1
    assert not any("." in token for token in tokens)


def test_bk4_a_copy_has_tokens_of_its_own_beside_the_store_that_goes_on(world: World) -> None:
    world.install("alpha")
    here = world.store
    shutil.copytree(here.parent, world.folder / "there")
    world.store = world.folder / "there" / "store.db"
    world.install("beta")
    world.store = here
    world.install("gamma")
    assert world.server.cloud.report().tokens_again == 0


def half_made(world: World) -> str:
    """The id of an install that a killed engine has left while the cloud was making its machines."""
    world.server.cloud.pace = Pace(boot_ms=1, make_ms=1, most=2)
    line = [sys.executable, "-m", "phaseline", "install", str(BLUEPRINT), "-d", "alpha", *world.inputs]
    with Process(line, env=world.environment, cwd=world.folder, stderr=subprocess.DEVNULL, text=True) as engine:
        while world.server.cloud.report().created < 2:
            assert engine.poll() is None
            time.sleep(0.01)
        engine.send_signal(signal.SIGKILL)
    return "install-1"


def test_bk5_what_was_open_at_the_backup_waits_and_what_was_running_is_unsure(world: World) -> None:
    id = half_made(world)
    backup = backup_of(world, "backup.db")
    by_the_command(world, backup)
    world.server.cloud.pace = Pace(boot_ms=1)

    for words in (
        ("executions", "resume", id),
        ("executions", "follow", id),
        ("executions", "cancel", id),
        ("uninstall", "-d", "alpha"),
    ):
        told = world.say(*words, code=1)
        assert [problem["code"] for problem in told["problems"]] == ["PL-S013"], words
    world.install("beta")
    assert world.say("executions", "show", id)["status"] == "running"
    (need,) = world.say("status")["needs"]
    assert need["mend"] == "phaseline store restore --go-on"
    checks = {check["name"]: check for check in world.say("doctor")["checks"]}
    assert checks["restore"]["mend"] == "phaseline store restore --go-on"
    assert checks["engine"]["level"] == "ok"

    assert world.say("store", "restore", "--go-on")["executions"] == [id]
    told = world.say("executions", "resume", id, code=1)
    assert told["status"] == "attention", "repeatable, but nobody knows what became of it since the backup"
    world.say("executions", "retry", id)
    assert world.say("executions", "show", id)["status"] == "completed"
    assert world.say("store", "check")["findings"] == []
    assert world.say("store", "restore", "--go-on")["executions"] == []


def test_bk5_an_engine_that_is_at_work_takes_up_what_is_let_go_on(world: World) -> None:
    id = half_made(world)
    by_the_command(world, backup_of(world, "backup.db"))
    line = [sys.executable, "-m", "phaseline", "engine", "run"]
    with Process(line, env=world.environment, cwd=world.folder, stderr=subprocess.DEVNULL, text=True) as engine:
        while not world.say("status")["engine"]:
            time.sleep(0.05)
        world.say("store", "restore", "--go-on")
        while world.say("executions", "show", id)["status"] != "attention":
            assert engine.poll() is None
            time.sleep(0.05)
        told = world.say("store", "restore", str(world.folder / "backup.db"), code=1)
        assert told["problems"][0]["code"] == "PL-S004"
        engine.send_signal(signal.SIGTERM)


def test_a_file_that_is_no_backup_changes_nothing(world: World) -> None:
    world.install("alpha")
    before = world.store.read_bytes()
    text = world.folder / "text.db"
    text.write_text("no store")
    other = world.folder / "other.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("create table mine (x)")
    for file in (text, other, world.folder / "missing.db", world.folder):
        told = world.say("store", "restore", str(file), code=1)
        assert told["problems"][0]["code"] == "PL-S014"
    assert world.store.read_bytes() == before
    assert sorted(each.name for each in world.store.parent.iterdir() if "rest" in each.name) == []
