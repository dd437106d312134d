"""Lives of one deployment whose engines are killed: what is started, what dies, and what must be true afterwards.

``Shop`` keeps the record. After each death it reads the store and knows which calls are completed (never to be called
again), which were being made and may be repeated (to be called again), and which may not (a person decides).
"""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.kill.shop import Key, Line, needs, read_lines, write_shop

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.deployment.topology import Topology
from phaseline.model.graph.graph import Graph, SubjectKind
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, Mark, OutcomeKind
from phaseline.model.rows.rows import ExecutionRow, RequestKind
from phaseline.store.sqlite.store import SqliteStore

PHASELINE = [sys.executable, "-m", "phaseline"]
PATIENCE_S = 60.0
LOOK_S = 0.002
SEARCH_S = 0.03
"""Reading all processes of the machine costs more than counting lines."""
MOST_STARTS = 60
"""Engines that one workflow may need; more means that it does not get on."""


class Clock:
    def now(self) -> int:
        return int(time.time() * 1000)


@dataclass
class Seen:
    """What the store says after a death or an end."""

    execution: ExecutionRow | None = None
    completed: set[Key] = field(default_factory=set)
    unsure: set[Key] = field(default_factory=set)
    repeatable_in_flight: set[Key] = field(default_factory=set)
    others_in_flight: set[Key] = field(default_factory=set)
    states: list[int] = field(default_factory=list)
    instances: list[str] = field(default_factory=list)
    identity: str = ""
    is_retry_asked: bool = False


def keys_of(graph: Graph, topology: Topology) -> list[Key]:
    """The call of each entry, by position."""
    found = []
    for step in graph.steps:
        for subject in graph.subject[step.first : step.first + step.count].tolist():
            name = ""
            if step.kind is SubjectKind.INSTANCE:
                name = topology.ids[subject]
            elif step.kind is not SubjectKind.NONE:
                name = f"{topology.ids[topology.source[subject]]}/{topology.ids[topology.target[subject]]}"
            found.append((step.phase.rpartition(".")[2], name))
    return found


def look(path: Path) -> Seen:
    """Read the store while nobody owns it; it must be sound."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as raw:
        assert raw.execute("pragma integrity_check").fetchall() == [("ok",)]
    with closing(SqliteStore.open(path, Clock())) as store:
        seen = Seen(identity=store.identity())
        rows = store.executions()
        if not rows:
            return seen
        seen.execution = rows[-1]
        seen.is_retry_asked = any(row.kind is RequestKind.RETRY for row in store.requests())
        topology = store.topology(rows[-1].deployment)
        seen.instances = list(topology.ids)
        seen.states = np.frombuffer(bytes(store.states(rows[-1].deployment)), np.uint8).tolist()
        for row in store.graphs(rows[-1].number):
            graph, statuses = store.graph(row.id), store.statuses(row.id)
            keys = keys_of(graph, topology)
            is_called = (graph.marks & Mark.ABSENT) == 0
            seen.completed |= {keys[at] for at in np.flatnonzero(is_called & (statuses == EntryStatus.COMPLETED))}
            seen.unsure |= {keys[at] for at in np.flatnonzero(statuses == EntryStatus.UNSURE)}
            for batch in store.batches(execution=rows[-1].number, only_open=True):
                ((of, positions),) = batch.segments
                for member, position in enumerate(positions.tolist()):
                    is_pending = batch.kinds is None or batch.kinds[member] == OutcomeKind.PENDING
                    if of == row.id and is_pending:
                        is_repeatable = graph.policies[int(graph.policy[position])].repeatable
                        side = seen.repeatable_in_flight if is_repeatable else seen.others_in_flight
                        side.add(keys[position])
        return seen


def engines_of(folder: Path) -> list[int]:
    """Background engines of this folder."""
    return [
        pid for pid, command in all_processes_of(folder).items() if "-m phaseline " in command and " engine " in command
    ]


def processes_of(folder: Path) -> dict[int, str]:
    """{pid: command} of living processes that were started by an engine of this folder, the engines left out."""
    return {pid: command for pid, command in all_processes_of(folder).items() if "-m phaseline " not in command}


def all_processes_of(folder: Path) -> dict[int, str]:
    """{pid: command} of living processes whose environment names this folder."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            state = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"KILL_CALLS={folder}/calls".encode() in environment and state != "Z":
            found[int(entry.name)] = command
    return found


@dataclass
class Shop:
    """One store and its deployment. ``kills`` counts engines that were killed while they ran, ``wounds`` workers."""

    folder: Path
    chance: random.Random
    kills: int = 0
    wounds: int = 0
    interrupts: int = 0
    was_interrupted: bool = False
    runs: int = 0
    completed: dict[Key, int] = field(default_factory=dict)
    doubtful: set[Key] = field(default_factory=set)
    decided: set[Key] = field(default_factory=set)
    asked_before: set[Key] = field(default_factory=set)
    due_again: dict[Key, int] = field(default_factory=dict)
    vouched: dict[Key, int] = field(default_factory=dict)
    story: list[str] = field(default_factory=list)
    checked: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.calls = self.folder / "calls"
        self.store = self.folder / "store.db"
        self.blueprint = write_shop(self.folder)

    # -- processes ----------------------------------------------------------------------------------------------

    def run(self, *words: str, killing: bool = False, wounding: bool = False) -> int | None:
        """The exit code of a command; None if it was killed."""
        self.runs += 1
        environment = {
            **os.environ,
            "PHASELINE_STORE_URL": f"sqlite:///{self.store}",
            "PHASELINE_RUN_TASK_RETRY_INTERVAL": "0.01",
            "XDG_STATE_HOME": str(self.folder),
            "KILL_RUN": str(self.runs),
            "KILL_CALLS": str(self.calls),
        }
        output = self.folder / "output"
        with (
            output.open("w") as file,
            subprocess.Popen(
                [*PHASELINE, *words],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            ) as process,
        ):
            is_killed, self.was_interrupted = False, False
            if killing and self.chance.random() < 0.2:
                self._interrupt(process)
            elif killing:
                is_killed = self._kill(process)
            if wounding:
                self._wound(process)
            code = process.wait(PATIENCE_S)
        if self.was_interrupted:
            is_killed = self._background()
        self.output = output.read_text()
        self.story.append(f"{self.runs}: {' '.join(words)} -> {'killed' if is_killed else code}")
        self.kills += is_killed
        return None if is_killed else code

    def _kill(self, process: subprocess.Popen[bytes]) -> bool:
        self._await_a_moment(process)
        process.send_signal(signal.SIGKILL)
        return process.wait(PATIENCE_S) == -signal.SIGKILL

    def _interrupt(self, process: subprocess.Popen[bytes]) -> None:
        self._await_a_moment(process)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            self.interrupts += 1
            self.was_interrupted = True

    def _background(self) -> bool:
        """What an interrupted command left carries on in the background until it ends or, half the time, is killed."""
        is_killed, is_to_be_killed = False, self.chance.random() < 0.5
        lines = self._line_count() + self.chance.randint(0, 20)
        until = time.monotonic() + PATIENCE_S
        while engines := engines_of(self.folder):
            assert time.monotonic() < until, "the background engine does not end"
            if is_to_be_killed and not is_killed and self._line_count() >= lines:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(engines[0], signal.SIGKILL)
                    is_killed = True
            time.sleep(SEARCH_S)
        return is_killed

    def _await_a_moment(self, process: subprocess.Popen[bytes]) -> None:
        """A random one: after a time, or some moments after it has written some lines."""
        if self.chance.random() < 0.15:
            self._wait(process, lambda: False, self.chance.uniform(0, 1.0))
        else:
            lines = self._line_count() + self.chance.randint(1, 40)
            self._wait(process, lambda: self._line_count() >= lines, PATIENCE_S)
            self._wait(process, lambda: False, self.chance.uniform(0, 0.04))

    def _wound(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a worker or script in the middle of a call that has a process of its own."""
        before = self._line_count()
        self._wait(process, lambda: any(line.is_killable for line in read_lines(self.calls)[before:]), PATIENCE_S)
        self._wait(process, lambda: False, self.chance.uniform(0, 0.03))
        victims = sorted(processes_of(self.folder))
        if victims and process.poll() is None:
            self.wounds += 1
            try:
                os.kill(self.chance.choice(victims), signal.SIGKILL)
            except ProcessLookupError:
                self.wounds -= 1

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], is_enough: object, at_most_s: float) -> None:
        until = time.monotonic() + at_most_s
        while time.monotonic() < until and process.poll() is None and not is_enough():
            time.sleep(LOOK_S)

    def _line_count(self) -> int:
        return self.calls.read_bytes().count(b"\n") if self.calls.exists() else 0

    # -- one workflow -------------------------------------------------------------------------------------------

    def bring_about(self, workflow: str, kills: int, *, wounding: bool = False) -> None:
        """Begin a workflow, kill its engines, and let it go on until it has completed."""
        first = {"install": ("install", str(self.blueprint), "-d", "shop"), "uninstall": ("uninstall", "-d", "shop")}
        self._forget()
        before = self.kills
        words = first[workflow]
        for _ in range(MOST_STARTS):
            is_killing = self.kills - before < kills
            code = self.run(*words, killing=is_killing, wounding=wounding and not is_killing)
            seen = look(self.store) if self.store.exists() else Seen()
            if seen.execution is None or seen.execution.request.workflow != workflow:
                assert code is None or self.was_interrupted, self.output
                continue  # killed before it stored anything
            self._check(seen, code)
            if seen.execution.status is ExecutionStatus.COMPLETED:
                self._check_end(seen, workflow)
                return
            words = self._next_words(seen, code)
        raise AssertionError("it does not get on")

    def _next_words(self, seen: Seen, code: int | None) -> tuple[str, ...]:
        """What a person types next."""
        assert seen.execution is not None
        is_open = seen.execution.status in {ExecutionStatus.QUEUED, ExecutionStatus.RUNNING}
        if (code is None or self.was_interrupted) and is_open:
            self.decided = set()
            return "executions", "resume", "-d", "shop"
        if seen.execution.status is ExecutionStatus.FAILED or not self.doubtful or self.chance.random() < 0.5:
            self.decided, self.doubtful = self.doubtful, set()
            return "executions", "retry", "-d", "shop"
        return self._vouch(self.chance.choice(sorted(self.doubtful)))

    def _vouch(self, key: Key) -> tuple[str, ...]:
        """A person looked and says that it was done."""
        operation, subject = key
        instance = subject.partition("/")[0]
        at = len(read_lines(self.calls))
        done = {known for known in self.doubtful if known[0] == operation and known[1].partition("/")[0] == instance}
        self.decided = done
        self.doubtful -= done
        self.vouched.update(dict.fromkeys(done, at))
        self.completed.update(dict.fromkeys(done, at))
        words = ("--instance", instance, "--operation", operation, "--reason", "seen")
        return "executions", "complete", "-d", "shop", *words

    def _forget(self) -> None:
        self.completed.clear()
        self.doubtful.clear()
        self.asked_before.clear()
        self.due_again.clear()
        self.vouched.clear()
        self.checked = len(read_lines(self.calls))

    # -- what must be true --------------------------------------------------------------------------------------

    def _check(self, seen: Seen, code: int | None) -> None:
        lines = read_lines(self.calls)
        for at, line in enumerate(lines):
            if at >= self.checked and line.what == "begin":
                assert self.completed.get(line.key, at) >= at, f"{line} is called though it had completed"
                undecided = self.doubtful - self.asked_before
                assert line.key not in undecided, f"{line} is called though nobody decided about it"
        self._check_order(lines, seen.instances)
        runs = [line.run for line in lines]
        assert runs == sorted(runs), "a process of a dead engine went on"
        for key in seen.completed:
            self.completed.setdefault(key, len(lines))
        if self.was_interrupted and code is not None:
            assert seen.others_in_flight | seen.unsure <= self.doubtful | self.decided, (
                "a call is in doubt though its engine left in good order"
            )
            assert seen.repeatable_in_flight <= self.due_again.keys(), "a call that had not begun is still handed over"
        again = {line.key for line in lines[self.checked :] if line.what == "begin"}
        for key in list(self.due_again):
            if key in again:
                del self.due_again[key]
        for key in seen.repeatable_in_flight:
            self.due_again[key] = len(lines)
        self.doubtful |= seen.others_in_flight | seen.unsure  # a word that was given may have died with its command
        self.doubtful -= seen.completed
        self.asked_before = set(self.doubtful) if seen.is_retry_asked else set()  # the word outlived its command
        for key in seen.unsure & self.vouched.keys():
            del self.vouched[key], self.completed[key]
        self.checked = len(lines)
        if code is not None:
            self._check_answer(seen, code)

    def _check_answer(self, seen: Seen, code: int) -> None:
        """An engine that ended by itself leaves nothing in flight and says what a person must decide."""
        assert seen.execution is not None
        status = seen.execution.status
        assert not self._left_over(), self._left_over()
        if self.was_interrupted:
            return
        assert code == (0 if status is ExecutionStatus.COMPLETED else 1), self.output
        assert not seen.repeatable_in_flight, self.output
        assert not seen.others_in_flight, self.output
        if status is ExecutionStatus.ATTENTION:
            assert seen.unsure == self.doubtful
            assert "executions retry" in self.output
            assert "executions complete" in self.output
        elif status is not ExecutionStatus.FAILED:
            assert status is ExecutionStatus.COMPLETED, self.output
            assert not seen.unsure

    def _left_over(self) -> dict[int, str]:
        until = time.monotonic() + PATIENCE_S
        while (found := processes_of(self.folder)) and time.monotonic() < until:
            time.sleep(SEARCH_S)
        return found

    def _check_order(self, lines: list[Line], instances: list[str]) -> None:
        """What a call needs has ended before it begins, in a call of the same workflow or by a person's word."""
        ended: dict[Key, int] = {}
        for at, line in enumerate(lines):
            if line.what == "end":
                ended[line.key] = at
            elif at >= self.checked:
                for need in needs(line.key, instances):
                    done = need in ended or self.vouched.get(need, at + 1) <= at
                    assert done, f"{line} is called before {need} has ended"

    def _check_end(self, seen: Seen, workflow: str) -> None:
        wanted = InstanceState.STARTED if workflow == "install" else InstanceState.DELETED
        assert set(seen.states) == {wanted}
        assert not self.due_again, f"{sorted(self.due_again)} were in flight and not called again"
        assert not self.doubtful
        assert not self._left_over(), self._left_over()


def live(folder: Path, seed: int, kills: int) -> Shop:
    """Install and uninstall, again and again, until so many engines were killed; one worker is killed for each life."""
    shop = Shop(folder, random.Random(seed))
    try:
        while shop.kills < kills:
            left = kills - shop.kills
            shop.bring_about("install", min(left, shop.chance.randint(3, 7)), wounding=shop.chance.random() < 0.3)
            left = kills - shop.kills
            shop.bring_about("uninstall", min(left, shop.chance.randint(2, 7)), wounding=shop.chance.random() < 0.3)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        story = "\n".join([*shop.story, shop.output, *map(str, read_lines(shop.calls))])
        raise AssertionError(f"seed {seed}: {error}\n{story}") from error
    return shop
