"""Two, then eight real processes on one store under random kills: nothing is lost, nothing done twice, nothing left without an owner."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.shells import PATIENCE_S, Shell, one_is_within

from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.model.graph.status import ExecutionStatus

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
plugins:
  made: {executor: central_deployment_agent, install: false}
node_types:
  Many:
    derived_from: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: made.made.many}}
  Once:
    derived_from: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: made.made.once, start: script.sh}}
node_templates:
  first:
    type: Many
    capabilities: {scalable: {properties: {default_instances: 3}}}
  second:
    type: Once
    capabilities: {scalable: {properties: {default_instances: 2}}}
    relationships: [{type: cloudify.relationships.depends_on, target: first}]
"""
PLUGIN = """\
import os
import time
from pathlib import Path

from phaseline import operation

CALLS = os.open(Path(os.environ["HERE"]) / "calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def note(word, item):
    os.write(CALLS, f"{word} {item.deployment_id} {item.token}\\n".encode())


@operation(bulk=True, repeatable=True)
def many(batch):
    for item in batch:
        note("many", item)
    time.sleep(0.15)


@operation
def once(item):
    note("once", item)
    time.sleep(0.15)
"""
SCRIPT = "#!/bin/sh\nsleep 0.05\nctx logger info done\n"
SETTLES_WITHIN_S = 60
IDLE_S = 20
OWNER_WITHIN_S = 2.0
STALLED_S = 10.0
"""The same for the one time at which this machine may have done something else."""
STATUSES = {"completed", "failed", "canceled", "attention"}


class Watch(threading.Thread):
    """Measures how long something that goes on without a person has no owner although somebody waits to be it, each time."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.url = url
        self.is_over = threading.Event()
        self.spans_s: list[float] = []

    def run(self) -> None:
        with open_context(Settings(self.url)) as ctx:
            since: float | None = None
            while not self.is_over.wait(0.05):
                rows = ctx.store.executions(only_open=True)
                moves = any(row.status is not ExecutionStatus.ATTENTION for row in rows)
                is_orphan = moves and ctx.store.owner() is None and ctx.store.somebody_waits()
                if is_orphan and since is None:
                    since = time.monotonic()
                elif not is_orphan and since is not None:
                    self.spans_s.append(time.monotonic() - since)
                    since = None
            if since is not None:
                self.spans_s.append(time.monotonic() - since)


class Crowd:
    """Keeps so many processes at work on one store, and kills one of them, or a worker of theirs, now and then."""

    def __init__(self, shell: Shell, size: int, seed: int) -> None:
        self.shell, self.size, self.dice = shell, size, random.Random(seed)
        self.members: list[subprocess.Popen[bytes]] = []
        self.begun = 0

    def command(self) -> list[str]:
        """What the next process does."""
        kind = self.dice.choices(["install", "detach", "follow", "engine", "cancel", "retry"], [8, 4, 2, 1, 2, 2])[0]
        some = f"install-{self.dice.randint(1, max(1, self.begun))}"
        if kind in {"install", "detach"}:
            self.begun += 1
            more = ["--detach"] if kind == "detach" else []
            return ["install", "blueprint.yaml", "-d", f"d{self.begun}", "--task-retries", "2", *more]
        if kind == "engine":
            return ["engine", "run", *self.dice.choice([["--until-idle"], ["--until-idle"], []])]
        if kind == "cancel":
            return ["executions", "cancel", some, *self.dice.choice([[], ["--force"], ["--kill"]])]
        return ["executions", kind, some]

    def work(self, seconds: float) -> None:
        """Let them work and die, from the first call on, which may take a while to come."""
        until = time.monotonic() + PATIENCE_S
        next_kill = until
        has_begun = False
        with (self.shell.folder / "errors").open("ab") as errors:
            while time.monotonic() < until:
                if not has_begun and self.shell.calls():
                    has_begun = True
                    until, next_kill = time.monotonic() + seconds, time.monotonic() + 0.5
                self.members = [member for member in self.members if member.poll() is None]
                while len(self.members) < self.size:
                    command = [sys.executable, "-m", "phaseline", *self.command(), "--json"]
                    settings = {"cwd": self.shell.folder, "env": self.shell.environment}
                    self.members.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, **settings))
                if time.monotonic() >= next_kill:
                    self.kill_one()
                    next_kill = time.monotonic() + self.dice.uniform(0.3, 1.5)
                time.sleep(0.02)

    def kill_one(self) -> None:
        """Members, background engines and workers alike."""
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(self.dice.choice(self.shell.processes()), signal.SIGKILL)

    def end(self) -> None:
        """Kill whoever is left."""
        self.shell.end_all()
        for member in self.members:
            member.wait()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    folder = tmp_path / "crowd"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "made.py").write_text(PLUGIN)
    (folder / "blueprint.yaml").write_text(BLUEPRINT)
    (folder / "script.sh").write_text(SCRIPT)
    (folder / "script.sh").chmod(0o755)
    (folder / "calls").touch()
    made = Shell(folder)
    made.run("engine", "status")  # makes the store
    yield made
    made.end_all()


def survive(shell: Shell, size: int, seconds: float, seed: int) -> None:
    """Let a crowd work, and hold the store to what it promises."""
    url = shell.environment["PHASELINE_STORE_URL"]
    watch, crowd = Watch(url), Crowd(shell, size, seed)
    watch.start()
    try:
        crowd.work(seconds)
    finally:
        watch.is_over.set()
        crowd.end()
        watch.join()
    last = shell.run("engine", "run", "--until-idle")
    assert last.returncode in {0, 1}, last.stderr  # 1: something waits for a person
    told = shell.ask("executions", "list", "--limit", "100000")["executions"]
    assert told, "somebody began something"
    assert {one["status"] for one in told} <= STATUSES
    with open_context(Settings(url)) as ctx:
        assert not ctx.store.requests(), "every request has its answer"
        for row in ctx.store.executions():
            assert all(request.answer is not None for request in ctx.store.requests_of(row.number))
    assert "Traceback" not in (shell.folder / "errors").read_text()
    *others, longest = [0.0, *sorted(watch.spans_s)]
    assert max(others, default=0.0) < OWNER_WITHIN_S
    assert longest < STALLED_S
    hold_calls(shell.calls_made())


def hold_calls(calls: list[list[str]]) -> None:
    """What may not be repeated was called once for each token; nothing completed was called again."""
    once = [token for word, _, token in calls if word == "once"]
    assert len(once) == len(set(once))
    done: set[str] = set()
    for word, deployment, _ in calls:
        assert word == "once" or deployment not in done, "those who needed it had begun: it was completed"
        if word == "once":
            done.add(deployment)


@pytest.mark.alone
@pytest.mark.slow
def test_an_idle_engine_uses_less_than_half_a_percent_of_a_core(shell: Shell) -> None:
    with shell.start("engine", "run") as engine:
        shell.until(shell.has_engine)
        one_is_within(0.005, lambda _: share_of_a_core(engine.pid))
        engine.terminate()
        assert engine.wait(SETTLES_WITHIN_S) == 0


def share_of_a_core(pid: int) -> float:
    """What a process uses of one; not much, so it is looked at for a while."""
    clock = (~pid << 3) | 2  # the kernel's number for the processor time of a process
    before, since = time.clock_gettime(clock), time.monotonic()
    time.sleep(IDLE_S)
    return (time.clock_gettime(clock) - before) / (time.monotonic() - since)


@pytest.mark.kill
@pytest.mark.parametrize(("size", "seconds"), [(2, 5), (8, 10)])
def test_nothing_is_lost_or_done_twice_in_a_crowd_that_dies_at_random(shell: Shell, size: int, seconds: float) -> None:
    survive(shell, size, seconds, seed=size)


@pytest.mark.kill
@pytest.mark.parametrize(("size", "seconds"), [(2, 60), (8, 120)])
def test_nothing_is_lost_or_done_twice_in_a_crowd_for_three_minutes(shell: Shell, size: int, seconds: float) -> None:
    survive(shell, size, seconds, seed=int(os.environ.get("SEED", "1")))
