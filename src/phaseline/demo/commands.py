"""The real ``phaseline`` command line in processes of its own, shown as a user would type it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phaseline.demo.screen import Screen
from phaseline.lang.fast_dataclasses import frozen

PROGRAM = (sys.executable, "-P", "-c", "from phaseline.cli.main import main; main()")
"""What the script ``phaseline`` does, also where it is not on the path."""
MOST_LINES = 14
"""A command that says more has its middle left out."""


@frozen
class CommandLine:
    """Runs ``phaseline …`` in a folder with a store of its own."""

    screen: Screen
    folder: Path

    def environment(self) -> Mapping[str, str]:
        """That of the user, with a store of its own; temporary files lie in our folder, where leftovers would show."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PHASELINE_")}
        own = {"PHASELINE_STORE_URL": f"sqlite:///{self.folder}/store.db", "TMPDIR": str(self.folder)}
        own["no_proxy"] = "127.0.0.1"  # the cloud and the application answer on this machine
        return {**inherited, **own}

    def run(self, *words: str) -> int:
        """Show the command and what it says; its exit code."""
        self.screen.command(["phaseline", *words])
        with self.start(*words) as process:
            assert process.stdout is not None
            lines = process.stdout.read().splitlines()
        self.show(lines)
        return process.returncode

    def watch(self, *words: str) -> int:
        """As ``run``; on a terminal the command draws its own live table there."""
        console = self.screen.console
        if console.record or not (console.is_terminal and console.file is sys.stdout):
            return self.run(*words)
        self.screen.command(["phaseline", *words])
        command = [*PROGRAM, *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, check=False
        ).returncode

    def show(self, lines: list[str]) -> None:
        """Print output; of a long one its beginning and its end."""
        left_out = len(lines) - MOST_LINES
        if left_out > 1:
            half = MOST_LINES // 2
            lines = [*lines[:half], f"… {left_out} more lines …", *lines[-half:]]
        for line in lines:
            self.screen.output(line)

    def ask(self, *words: str) -> dict[str, Any]:
        """What the command answers with ``--json``, unseen by the audience; empty if it has no answer."""
        done = subprocess.run(
            [*PROGRAM, *words, "--json"],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        found: dict[str, Any] = json.loads(done.stdout or "{}")
        return found

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command that runs beside us; its output waits to be read."""
        return subprocess.Popen(
            [*PROGRAM, *words],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
