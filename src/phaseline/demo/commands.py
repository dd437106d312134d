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
"""Command that runs the program ``phaseline``, even if its script is not on the path."""
MOST_LINES = 16
"""The largest number of output lines shown; the middle of a longer output is omitted."""


@frozen
class CommandLine:
    """The command ``phaseline …``, run in a folder with a store of its own."""

    screen: Screen
    folder: Path

    def environment(self) -> Mapping[str, str]:
        """Return the user's environment, changed to use the demonstration's store and its folder for temporary files.

        Temporary files are put there so that leftovers would be found.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PHASELINE_")}
        own = {"PHASELINE_STORE_URL": f"sqlite:///{self.folder}/store.db", "TMPDIR": str(self.folder)}
        own["no_proxy"] = "127.0.0.1"  # the cloud and the application answer on this machine
        return {**inherited, **own}

    def run(self, *words: str) -> int:
        """Run a command, show it with its output, and return its exit code."""
        self.screen.command(["phaseline", *words])
        with self.start(*words) as process:
            assert process.stdout is not None
            lines = process.stdout.read().splitlines()
        self.show(lines)
        return process.returncode

    def watch(self, *words: str) -> int:
        """Run a command as ``run`` does, but on a terminal let the command draw its live table."""
        console = self.screen.console
        if console.record or not (console.is_terminal and console.file is sys.stdout):
            return self.run(*words)
        self.screen.command(["phaseline", *words])
        command = [*PROGRAM, *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, check=False
        ).returncode

    def show(self, lines: list[str]) -> None:
        """Print output lines; the middle of a long output is omitted."""
        left_out = len(lines) - MOST_LINES
        if left_out > 1:
            half = MOST_LINES // 2
            lines = [*lines[:half], f"… {left_out} more lines …", *lines[-half:]]
        for line in lines:
            self.screen.output(line)

    def ask(self, *words: str) -> dict[str, Any]:
        """Return the answer of a command with ``--json``, or {} if it has no output.

        The audience does not see this command.
        """
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
        """Start a command in the background; its output can be read from the process's ``stdout``."""
        return subprocess.Popen(
            [*PROGRAM, *words],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
