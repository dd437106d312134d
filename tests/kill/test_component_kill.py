"""Engines of Components killed wherever they write: all levels go on, and nothing is made twice (CO12, A4, A6)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.compat.cloudify.types.estates import INNER, Yard

from phaseline.cli.render.executions import execution_text
from phaseline.model.problems.problem import ProblemsError

LIFE = str(Path(__file__).with_name("component_life.py"))
POINTS = 40
AT_ONCE = 2


def begin(yard: Yard, blueprint: str, last: int) -> subprocess.Popen[str]:
    words = [sys.executable, LIFE, f"{yard.folder}/store.db", blueprint, str(last)]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(yard.folder), "XDG_STATE_HOME": str(yard.folder)}
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)


def go_on(yard: Yard, blueprint: str) -> None:
    """Continue what the killed engine has left, or begin if it had stored nothing."""
    client = yard.client
    try:
        done = client.executions.resume("install-1")
    except ProblemsError:  # nothing was stored, or nothing is left to do
        stored = client.executions.list().items
        done = (
            client.executions.show("install-1")
            if stored
            else client.executions.install(blueprint, "app", task_retries=0)
        )
    assert done.status == "completed", done


def as_after_an_install(yard: Yard) -> None:
    """What there must be, whatever happened on the way."""
    client = yard.client
    assert [row.name for row in client.deployments.list().items] == ["app", "db"]
    assert {row.id: row.status for row in client.executions.list().items} == {
        "install-1": "completed", "install-2": "completed"
    }  # fmt: skip
    assert [(str(row.blueprint), row.versions) for row in client.blueprints.list()] == [("app-db@1", 1)]
    assert client.deployments.capabilities("app") == {"endpoint": "10.0.0.1"}
    assert not client.app.store.causes.awaiting()
    tokens = set((yard.folder / "tokens.txt").read_text().splitlines())
    assert len(tokens) == 2  # a repeated call has the token of the first


@pytest.mark.kill
def test_a4_an_engine_killed_at_forty_points_of_an_install_leaves_what_the_next_one_completes(tmp_path: Path) -> None:
    whole = Yard(tmp_path / "whole")
    with begin(whole, whole.app(), 0) as process, whole.client:
        status, steps = process.communicate()[0].split()
        assert status == "completed"
        as_after_an_install(whole)
    killed = 0

    def one(number: int) -> int:
        yard = Yard(tmp_path / str(number))
        blueprint = yard.app()
        with begin(yard, blueprint, 1 + number * int(steps) // POINTS) as process:
            process.communicate()
        with yard.client:
            go_on(yard, blueprint)
            as_after_an_install(yard)
            assert yard.client.executions.uninstall("app").status == "completed"
            assert [row.name for row in yard.client.deployments.list().items] == ["app"]
            assert not yard.client.blueprints.list()
        return process.returncode

    with ThreadPoolExecutor(AT_ONCE) as pool:
        killed = sum(code == -signal.SIGKILL for code in pool.map(one, range(POINTS)))
    assert killed >= POINTS - 2  # a step more or less than in the first life


@pytest.mark.kill
def test_a6_an_inner_call_of_unknown_end_is_decided_inside_and_the_outer_goes_on_unasked(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.pipes()
    blueprint = yard.app(inner=INNER.replace("ours.steps.start", "ours.steps.once"))
    with begin(yard, blueprint, 0) as process:
        yard.await_call()
        os.killpg(process.pid, signal.SIGKILL)
    with yard.client as client:
        asks = client.executions.resume("install-1")
        assert client.executions.show("install-2").status == "attention"
        assert asks.status != "failed"
        assert "attention: the inner install-2" in execution_text(client.executions.show("install-1"))
        (instance,) = client.instances.list(deployment="db").items
        client.executions.complete("install-2", instances=[instance.id], reason="it is there")
        done = client.executions.watch("install-1")
        assert done.waits == ()
        assert done.status == "completed", done
        assert client.deployments.capabilities("app") == {"endpoint": "10.0.0.1"}
        assert yard.calls() == ["create db", "once db"]
