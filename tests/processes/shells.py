"""Real processes of the command line over one store, and operations that begin and end when a test says so."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.started import Process

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates:
  first:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: scripts/wait.sh}}
  second:
    type: cloudify.nodes.Root
    interfaces: {cloudify.interfaces.lifecycle: {create: scripts/quick.sh}}
    relationships: [{type: cloudify.relationships.depends_on, target: first}]
"""
WAIT = """\
#!/bin/sh
cd "$(dirname "$HERE")" || exit 1
echo first >> "$HERE/calls"
echo begun > "$HERE/begun"
read word < "$HERE/go"
ctx logger info "told to $word"
"""
QUICK = '#!/bin/sh\necho second >> "$HERE/calls"\n'
PATIENCE_S = 60
"""Tests give up after so long."""
LOOK_S = 0.02
TRIES = 5
"""What is to be quick may be held up by whatever else this machine does: one of so many times it is not."""


@dataclass
class Shell:
    """Starts ``phaseline`` in a folder; the first operation begins when we read and ends when we write."""

    folder: Path
    retry_interval_s: float = 0.01

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "PHASELINE_STORE_URL": f"sqlite:///{self.folder}/store.db",
            "HERE": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        return {**os.environ, **own, "PHASELINE_RUN_TASK_RETRY_INTERVAL": str(self.retry_interval_s)}

    def start(self, *words: str) -> Process:
        return Process(
            [sys.executable, "-m", "phaseline", *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "phaseline", *words]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def pour(
        self, words: Sequence[str], *, stdout: IO[str] | int = subprocess.PIPE, stderr: IO[str] | int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        """As ``run``, with an output of one's own."""
        command = [sys.executable, "-m", "phaseline", *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, stdout=stdout, stderr=stderr, text=True, check=False
        )

    def ask(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def await_first(self) -> None:
        assert self.heard() == "begun\n"

    def heard(self, name: str = "begun") -> str:
        """What is written into a pipe, once somebody does that."""
        pipe = os.open(self.folder / name, os.O_RDONLY | os.O_NONBLOCK)
        said: list[bytes] = []

        def is_all() -> bool:
            with contextlib.suppress(BlockingIOError):  # it is open at the other end
                said.append(os.read(pipe, 1_000))
                return not said[-1] and any(said)
            return False

        try:
            self.until(is_all)
        finally:
            os.close(pipe)
        return b"".join(said).decode()

    def await_line(self, pipe: IO[str] | None, text: str) -> None:
        """Read until a line has this text."""
        assert pipe is not None
        lines: list[str] = []
        while text not in (line := pipe.readline()):
            assert line, f"it never says {text!r}, but: {lines}"
            lines.append(line)

    def release_first(self) -> None:
        self.say("go\n")

    def say(self, text: str, name: str = "go") -> None:
        """Write that into a pipe, once somebody reads it."""

        def is_said() -> bool:
            try:
                pipe = os.open(self.folder / name, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                return False
            os.write(pipe, text.encode())
            os.close(pipe)
            return True

        self.until(is_said)

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().split()

    def calls_made(self) -> list[list[str]]:
        """The lines that plugins wrote, in words."""
        return [line.split() for line in (self.folder / "calls").read_text().splitlines()]

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until it holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline, "it never came"
            time.sleep(LOOK_S)

    def has_engine(self) -> bool:
        """Whether somebody runs executions; before the first engine there is not even a store."""
        return bool(self.ask("engine", "status").get("is_running"))

    def status(self, id: str) -> str:
        """The status of an execution."""
        found = self.ask("executions", "show", id)
        return str(found["status"])

    def processes(self) -> list[int]:
        """Whatever of ours still runs, known by the folder in its environment."""
        mark = f"HERE={self.folder}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def end_all(self) -> None:
        """Leave nothing running behind."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def one_is_within(limit: float, measure: Callable[[int], float]) -> None:
    """It takes less than that, in seconds or whatever, when nothing holds it up. ``measure`` gets the number of the try."""
    took: list[float] = []
    while not took or took[-1] >= limit:
        assert len(took) < TRIES, f"it is to take less than {limit}, and took {took}"
        took.append(measure(len(took)))


@contextlib.contextmanager
def installing(shell: Shell) -> Iterator[Process]:
    """An install that stands in its first operation."""
    with shell.start("install", "blueprint.yaml") as process:
        shell.await_first()
        try:
            yield process
        finally:
            process.kill()
