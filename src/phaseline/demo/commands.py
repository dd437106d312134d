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
"""The same as the script ``phaseline``, even if that is not on the path."""
MOST_LINES = 16
"""The largest number of output lines shown; the middle of a longer output is omitted."""


@frozen
class CommandLine:
    """The command ``phaseline …``, run in a folder with a store of its own."""

    screen: Screen
    folder: Path

    def environment(self) -> Mapping[str, str]:
        """The user's environment with a separate store, and with temporary files in our folder, where leftovers would be found."""
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
        """Run a command as ``run`` does; on a terminal it draws its own live table."""
        console = self.screen.console
        if console.record or not (console.is_terminal and console.file is sys.stdout):
            return self.run(*words)
        self.screen.command(["phaseline", *words])
        command = [*PROGRAM, *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, check=False
        ).returncode

    def show(self, lines: list[str]) -> None:
        """Print output; of a long one, its beginning and end."""
        left_out = len(lines) - MOST_LINES
        if left_out > 1:
            half = MOST_LINES // 2
            lines = [*lines[:half], f"… {left_out} more lines …", *lines[-half:]]
        for line in lines:
            self.screen.output(line)

    def ask(self, *words: str) -> dict[str, Any]:
        """The answer of a command with ``--json``, not shown to the audience; empty if there is none."""
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
        """Start a command in the background; its output stays in the pipe until it is read."""
        return subprocess.Popen(
            [*PROGRAM, *words],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
