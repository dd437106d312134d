"""Stores of schema 2 to 7, left by the programs of their time in the middle of their work: today's program goes on with all of it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.processes.test_read_only_stores import be_nobody_special
from tests.started import Process
from tests.store.old_stores import SCHEMAS, OldWorld

from phaseline.store.database import schema as present

PATIENCE_S = 120
ABANDONED = 8
"""Instances that are to be left alone."""
ONCE = ("create", "order", "configure", "start", "backup", "rules", "watch", "look", "keep", "copy", "tidy", "hung")
"""Calls of which each is completed once, whichever program made it."""


@pytest.fixture(params=SCHEMAS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> OldWorld:
    return OldWorld(request.param, tmp_path)


@contextmanager
def engine(world: OldWorld) -> Iterator[None]:
    """An engine of today at work."""
    line = [sys.executable, "-m", "phaseline", "engine", "run"]
    options: Any = {"cwd": world.folder, "env": world.environment, "stderr": subprocess.PIPE, "text": True}
    with Process(line, stdout=subprocess.DEVNULL, start_new_session=True, **options) as process:
        assert process.stderr is not None
        heard = iter(process.stderr.readline, "")
        assert any("The engine runs" in line for line in heard)
        yield
        world.say("engine", "stop")
        process.communicate()


def open_ones(world: OldWorld) -> dict[str, str]:
    """{deployment: its first open execution}."""
    rows = world.say("executions", "list")["executions"]
    is_open = ("queued", "running", "canceling", "attention")
    return {row["deployment"]: row["id"] for row in rows if row["status"] in is_open}


def instances(world: OldWorld, deployment: str, *nodes: str) -> list[str]:
    rows = world.say("instances", "list", "-d", deployment)["instances"]
    return [word for row in rows if row["node"] in nodes for word in ("--instance", row["id"])]


def test_everything_that_was_there_is_told(world: OldWorld) -> None:
    named = {row["name"] for row in world.say("deployments", "list")["deployments"]}
    assert world.say("store", "check")["findings"] == []
    assert {"old", "shop"} <= named
    assert open_ones(world)["shop"]
    assert world.say("executions", "show", "-d", "old")["status"] == "completed"
    assert world.say("executions", "events", "-d", "shop")["events"]
    assert world.say("deployments", "show", "old")["instance_count"] == 8
    assert world.say("deployments", "outputs", "old")
    why = world.say("instances", "why", instances(world, "shop", "polled")[1])
    assert "booting" in str(why)
    assert "no quota" in str(world.say("instances", "why", instances(world, "shop", "flaky")[1]))
    if world.schema >= 3:
        assert "asked for a machine" in str(world.say("resources", "why", "node-polled"))
        assert len(world.say("resources", "list")["resources"]) == 5
    if world.schema >= 4:
        assert [row["name"] for row in world.say("secrets", "list")["secrets"]] == ["token"]
        assert {row["blueprint"]["id"] for row in world.say("blueprints", "list")["blueprints"]} == {"shop", "unused"}
    if world.schema >= 5:
        told_of_schema_5(world)
    if world.schema >= 7:
        calm = ("shop/blueprint.yaml", "-i", "troubled=false", "-d", "old")
        assert world.say("--request-id", "first", "install", *calm)["is_repeated"] is True


def told_of_schema_5(world: OldWorld) -> None:
    stands = world.say("breakpoints", "list")
    for one in ("pre-create", "pre-start", "pre-Old.Configure", "pre-delete=last"):
        assert one in str(stands)
    assert len(world.say("plans", "list")["plans"]) >= 2
    assert "monday" in str(world.say("snapshots", "list", "-d", "old"))
    assert "gone" in str(world.say("abandoned", "list"))
    assert {"guard", "keeper"} <= {row["name"] for row in world.say("plugins", "list")}
    assert "in the way" in str(world.say("hooks", "show", "off"))
    assert "team" in str(world.say("deployments", "labels", "old"))
    assert "waits for approval" in str(world.say("executions", "logs", "-d", "asked"))


def test_what_was_open_goes_on_and_everything_is_removed(world: OldWorld) -> None:
    begun = open_ones(world)
    rest = [row["name"] for row in world.say("deployments", "list")["deployments"] if row["name"] != "night"]
    with engine(world):
        go_on(world, begun)
        if world.schema >= 5:
            apply_plan(world)
            world.say("breakpoints", "remove", "pre-delete=last", "-d", "old")
            world.say("hooks", "disable", "eyes", "--reason", "two have agreed once")
        assert twice(world) == {}
        for name in rest:
            world.say("uninstall", "-d", name)
            world.say("deployments", "delete", name)
        if world.schema >= 3:
            world.say("resources", "target", "Terminated", "--all", "-d", "night")
            until_all_are(world, "Terminated")
            world.say("resources", "delete", "--all", "-d", "night")
            for id in open_ones(world).values():  # the command does not wait until they are deleted
                world.say("executions", "follow", id)
            world.say("deployments", "delete", "night")
    assert world.say("deployments", "list")["deployments"] == []
    assert world.say("store", "check")["findings"] == []
    assert twice(world) == {}
    made, deleted = (
        {call.split()[1] for call in world.calls if call.startswith(f"{name} ")} for name in ("create", "delete")
    )
    assert len(made - deleted) == (ABANDONED if world.schema >= 5 else 0)


def twice(world: OldWorld) -> dict[str, int]:
    """What was completed more than once."""
    return {call: count for call, count in world.calls.items() if count > 1 and call.split()[0] in ONCE}


def go_on(world: OldWorld, begun: dict[str, str]) -> None:
    """Say to all that waits what it waits for, and see it end."""
    shop = begun["shop"]
    world.say("executions", "wake", "-d", "shop", *instances(world, "shop", "polled", "flaky"), codes=(0, 1))
    world.say("executions", "follow", shop, codes=(1,))
    assert world.say("executions", "show", shop)["status"] == "attention"
    careful = instances(world, "shop", "careful")
    world.say("executions", "complete", shop, *careful, "--reason", "it is there", codes=(0, 1))
    if world.schema >= 3:
        world.say("resources", "retry", "node-failed")  # first: its execution ends when nothing of it runs or sleeps
        world.say(
            "resources", "wake", "node-polled", codes=(0, 1)
        )  # an hour after the store was made it is due by itself
    if world.schema >= 5:
        for name in ("grown", "stopped", "night"):
            world.say("breakpoints", "clear", "*", "-d", name)
        world.say("executions", "approve", "-d", "asked", user="cid")
    for name, id in begun.items():
        world.say("executions", "follow", id)
        assert world.say("executions", "show", id)["status"] == "completed", name
    if world.schema >= 3:
        until_all_are(world, "Started")
    assert world.calls["create " + careful[1]] == 0, "a person vouches for it"


def apply_plan(world: OldWorld) -> None:
    """The plan that was kept for what was never installed."""
    (plan,) = [row for row in world.say("plans", "list")["plans"] if row["deployment"] == "planned"]
    world.say("plans", "apply", str(plan["id"]))
    assert world.say("executions", "show", "-d", "planned")["status"] == "completed"


def until_all_are(world: OldWorld, state: str) -> None:
    last = time.monotonic() + PATIENCE_S
    while {row["state"] for row in world.say("resources", "list")["resources"]} != {state}:
        assert time.monotonic() < last, world.say("resources", "list")
        time.sleep(0.1)


def test_a_store_that_may_only_be_read_stays_as_it_was(world: OldWorld) -> None:
    world.store.chmod(0o444)
    world.folder.chmod(0o555)
    before = world.store.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "phaseline", "executions", "list", "--json"],
        cwd=world.folder,
        env={**os.environ, **world.environment},
        preexec_fn=be_nobody_special,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    world.folder.chmod(0o755)
    assert world.store.read_bytes() == before
    if world.schema == present.SCHEMA_VERSION:
        assert done.returncode == 0
    else:
        assert done.returncode == 1
        (problem,) = json.loads(done.stdout)["problems"]
        assert problem["code"] == "PL-S005"
        assert f"it has schema {world.schema} and must be brought to schema" in problem["message"]
