"""Two engines on one store, the owner and a standby; the owner is killed or stopped again and again.

``Pair`` keeps the record. When an owner has been killed or stopped, the store is read before the standby owns it: what
was completed then must never be called again.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psycopg
from tests.ha.server import new_store, record_writes, writes
from tests.ha.shop import CALLS, Journal, Key, Line, write_shop

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.store.postgres.store import PostgresStore

PHASELINE = [sys.executable, "-m", "phaseline"]
PATIENCE_S = 240.0
LOOK_S = 0.01
MOST_LINES = 30
"""An owner is killed or stopped at the latest after so many lines of its calls, and some moments."""
LAST = 100
"""Number of calls at the end of a workflow during which nothing is killed, so that the next owner has something to call."""


class Clock:
    def now(self) -> int:
        return int(time.time() * 1000)


@dataclass
class Engine:
    """A process that runs ``phaseline engine run``."""

    run: int
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def application(self) -> str:
        return f"run-{self.run}"

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        for sent in (signal.SIGCONT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(sent)
        self.process.wait(PATIENCE_S)


@dataclass
class Pair:
    """One store, its deployment and its engines. ``takeovers_s``: seconds until the first call of each new owner."""

    folder: Path
    chance: random.Random
    runs: int = 0
    engines: list[Engine] = field(default_factory=list)
    former: set[int] = field(default_factory=set)
    completed: dict[Key, int] = field(default_factory=dict)
    takeovers_s: list[float] = field(default_factory=list)
    late_calls: int = 0
    late_looks: int = 0
    unplanned: int = 0
    cuts: int = 0
    checked: int = 0
    first: int = 0
    workflow: str = ""
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.url = new_store()
        self.blueprint = write_shop(self.folder)
        self.journal = Journal(self.folder / "calls")
        self.store = PostgresStore.open(self.url, Clock())
        record_writes(self.url)
        self.db = psycopg.connect(self.url, autocommit=True)

    def close(self) -> None:
        for engine in self.engines:
            engine.end()
        self.db.close()
        self.store.close()

    # -- processes ----------------------------------------------------------------------------------------------

    def _environment(self, application: str) -> dict[str, str]:
        return {
            **os.environ,
            "PHASELINE_STORE_URL": self.url,
            "XDG_STATE_HOME": str(self.folder),
            "HA_RUN": str(self.runs),
            "HA_CALLS": str(self.folder / "calls"),
            "PGAPPNAME": application,
        }

    def command(self, *words: str) -> str:
        """The output of a command that must succeed."""
        done = subprocess.run(
            [*PHASELINE, *words],
            env=self._environment("command"),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def add_engine(self) -> Engine:
        self.runs += 1
        output = self.folder / f"output-{self.runs}"
        with output.open("w") as file:
            process = subprocess.Popen(
                [*PHASELINE, "engine", "run"],
                env=self._environment(f"run-{self.runs}"),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        self.engines.append(Engine(self.runs, process, output))
        return self.engines[-1]

    def until(self, is_so: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < end, f"it does not happen: {what}"
            time.sleep(LOOK_S)

    def owner(self) -> Engine | None:
        """The engine that has the lease, whether it has run out or not."""
        row = self.db.execute("select pid from lease").fetchone()
        return next((one for one in self.engines if row and one.process.pid == row[0]), None)

    def epoch(self) -> int:
        (epoch,) = self.db.execute("select epoch from store").fetchone() or (0,)
        return int(epoch)

    def ready(self) -> Engine:
        """The owner, when another engine waits to become the owner after it."""

        def is_so() -> bool:
            for engine in [one for one in self.engines if not one.is_alive()]:
                assert "PL-S004" in engine.output.read_text(), engine.output.read_text()
                self.engines.remove(engine)
                self.unplanned += 1
            while len(self.engines) < 2:
                self.add_engine()
            (waits,) = self.db.execute("select count(*) from standby where until > clock_timestamp()").fetchone() or (
                0,
            )
            return waits >= 1 and self.owner() is not None

        self.until(is_so, "an owner and a standby")
        owner = self.owner()
        assert owner is not None
        return owner

    # -- work ---------------------------------------------------------------------------------------------------

    def begun(self) -> int:
        """Number of calls of the present workflow that have begun at least once."""
        return len({line.key for line in self.journal.read()[self.first :]})

    def give_work(self) -> None:
        """Make sure that there is a standby, and that many calls of the present workflow have not begun."""
        self.ready()
        if self.workflow and CALLS[self.workflow] - self.begun() > LAST:
            return
        if self.workflow:
            self.finish()
            self.ready()
        self.workflow = "uninstall" if self.workflow == "install" else "install"
        self.completed.clear()
        self.first = self.checked = len(self.journal.read())
        if self.workflow == "install":
            self.command("install", str(self.blueprint), "-d", "shop", "--detach")
        else:
            self.command("uninstall", "-d", "shop", "--detach", "--yes")

    def finish(self) -> None:
        """Wait until the present workflow has ended, and check that it is complete."""
        self.until(lambda: self.store.executions()[-1].status.is_ended, "the workflow ends")
        row = self.store.executions()[-1]
        assert row.status is ExecutionStatus.COMPLETED, (row.status, row.reason)
        wanted = InstanceState.STARTED if self.workflow == "install" else InstanceState.DELETED
        assert set(np.frombuffer(bytes(self.store.states(row.deployment)), np.uint8).tolist()) == {wanted}
        assert self.begun() == CALLS[self.workflow]
        for graph in self.store.graphs(row.number):
            assert (self.store.statuses(graph.id) >= EntryStatus.COMPLETED).all()
        assert not self.store.batches(only_open=True), "a batch is open although all is done"
        self.check()

    # -- takeovers ----------------------------------------------------------------------------------------------

    def working(self) -> Engine:
        """The owner at a random moment, soon after it has begun some calls."""
        while True:
            self.give_work()
            owner = self.ready()
            lines = len(self.journal.read()) + self.chance.randint(1, MOST_LINES)
            if self._has_called(owner, lines):
                time.sleep(self.chance.uniform(0, 0.04))
                return owner

    def _has_called(self, owner: Engine, lines: int) -> bool:
        """Wait until there are so many lines or the owner has ended. False if the workflow has ended before."""

        def is_so() -> bool:
            return len(self.journal.read()) >= lines or not owner.is_alive()

        self.until(lambda: is_so() or self.store.executions()[-1].status.is_ended, "the owner calls something")
        return is_so()

    def kill(self) -> None:
        """Kill the owner, and wait until the standby has called something."""
        owner = self.working()
        at_ns, epoch = time.monotonic_ns(), self.epoch()
        owner.process.send_signal(signal.SIGKILL)
        owner.process.wait(PATIENCE_S)
        self.engines.remove(owner)
        self.look(epoch)
        self._await_takeover(owner, at_ns)
        self.check()

    def pause(self, seconds: float) -> None:
        """Stop the owner for so long, and let it continue beside its successor, as which it must end."""
        owner = self.working()
        at_ns, epoch = time.monotonic_ns(), self.epoch()
        owner.process.send_signal(signal.SIGSTOP)
        self.look(epoch)
        self._await_takeover(owner, at_ns)
        time.sleep(max(0.0, seconds - (time.monotonic_ns() - at_ns) / 1e9))
        went_on_ns = time.monotonic_ns()
        owner.process.send_signal(signal.SIGCONT)
        code = owner.process.wait(PATIENCE_S)
        self.engines.remove(owner)
        text = owner.output.read_text()
        assert code == 1, f"{code}: {text}"
        assert "PL-S004" in text, text
        self._check_late(owner, went_on_ns)
        self._check_writes(owner, epoch)
        self.check()

    def cut(self) -> None:
        """Cut all connections of the owner, which must go on as the owner with new ones."""
        owner = self.working()
        epoch, lines = self.epoch(), len(self.journal.read())
        ended = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s"
        self.db.execute(ended, (owner.application,))
        self.until(
            lambda: (
                any(line.run == owner.run and line.what == "begin" for line in self.journal.read()[lines:])
                or self.store.executions()[-1].status.is_ended
            ),
            "the owner calls something after the cut",
        )
        assert self.epoch() == epoch, "another engine has taken over"
        self.cuts += 1
        self.check()

    def _await_takeover(self, owner: Engine, at_ns: int) -> None:
        """Start the standby after the next owner, and wait until the next owner has called something.

        On a slow machine the workflow may have ended meanwhile; then this takeover is not counted.
        """
        self.former.add(owner.run)
        self.add_engine()
        found: list[Line] = []

        def is_so() -> bool:
            new = [one for one in self.journal.read() if one.at_ns > at_ns and one.run not in self.former]
            found[:] = [line for line in new if line.what == "begin"][:1]
            return bool(found) or self.store.executions()[-1].status.is_ended

        self.until(is_so, "the next owner calls something")
        if not found:
            self.story.append(f"run {owner.run} had nothing left to call")
            return
        self.takeovers_s.append((found[0].at_ns - at_ns) / 1e9)
        self.story.append(f"run {owner.run} -> run {found[0].run} after {self.takeovers_s[-1]:.2f} s")

    # -- what must be true --------------------------------------------------------------------------------------

    def look(self, epoch: int) -> None:
        """Read what is completed now, while no engine works: it must never be called again.

        Nothing is noted if another engine has become the owner after ``epoch`` meanwhile, as on a slow machine: it may
        have completed some of what was read.
        """
        place = len(self.journal.read())
        row = self.store.executions()[-1]
        topology = self.store.topology(row.deployment)
        found: list[Key] = []
        for held in self.store.graphs(row.number):
            graph, statuses = self.store.graph(held.id), self.store.statuses(held.id)
            for step in graph.steps:
                operation = step.phase.rpartition(".")[2]
                for at in range(step.first, step.first + step.count):
                    if statuses[at] == EntryStatus.COMPLETED:
                        found.append((operation, topology.ids[int(graph.subject[at])]))
        if self.epoch() != epoch:
            self.late_looks += 1
            return
        for key in found:
            self.completed.setdefault(key, place)

    def check(self) -> None:
        """No owner has called what was completed before it became the owner, and repeated calls have equal tokens."""
        lines = self.journal.read()
        tokens: dict[Key, str] = {}
        for at, line in enumerate(lines[self.first :], self.first):
            assert tokens.setdefault(line.key, line.token) == line.token, f"{line} has another token"
            if at >= self.checked and line.what == "begin" and line.run not in self.former:
                assert self.completed.get(line.key, at) >= at, f"{line} is called though it had completed"
        self.checked = len(lines)

    def _check_late(self, owner: Engine, went_on_ns: int) -> None:
        """A former owner begins nothing; a thread may only make the call that it had begun to make before it was stopped."""
        late = [
            line
            for line in self.journal.read()
            if line.run == owner.run and line.what == "begin" and line.at_ns > went_on_ns
        ]
        assert len({line.thread for line in late}) == len({(line.thread, line.at_ns) for line in late}), late
        self.late_calls += len(late)

    def _check_writes(self, owner: Engine, epoch: int) -> None:
        """A former owner has written nothing after the next one had raised the epoch."""
        ours = [found for application, found in writes(self.db) if application == owner.application]
        assert ours, "its writes are not recorded"
        assert max(ours) <= epoch, f"run {owner.run}, owner in epoch {epoch}, wrote in epoch {max(ours)}"
