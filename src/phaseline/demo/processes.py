"""Running processes of the demonstration, among them the simulated cloud."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from phaseline.lang.fast_dataclasses import frozen

PATIENCE_S = 60
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""An opener that contacts this machine directly, whatever proxy the environment names."""


def processes_in(folder: Path) -> list[str]:
    """Living processes that were started with a path inside the folder, as ``pid command``.

    This process and its ancestors are excluded, although their arguments may name the folder.
    """
    found = []
    above = set(_own_line())
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue  # it ended while we looked
        if os.fsencode(folder) in command and int(process.name) not in above:
            found.append(f"{process.name} {command.decode(errors='replace').replace(chr(0), ' ').strip()}")
    return sorted(found)


def _own_line() -> Iterator[int]:
    """The ids of this process, its parent, and so on up to the first."""
    pid = os.getpid()
    while pid > 0:
        yield pid
        try:
            pid = int((Path("/proc") / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
        except OSError:
            return


def end_processes_in(folder: Path) -> None:
    """Kill processes that still run in the folder, so that a failed demonstration leaves none behind either."""
    for process in processes_in(folder):
        with suppress(ProcessLookupError):
            os.kill(int(process.split()[0]), signal.SIGKILL)


@frozen
class CloudProcess:
    """The simulated cloud, reached over HTTP as its users reach it."""

    url: str

    def report(self) -> dict[str, Any]:
        """The counts of the cloud."""
        return self._ask("GET", "report")

    def set_pace(self, **pace: float) -> None:
        """Set the delay of the cloud from now on."""
        self._ask("PUT", "pace", pace)

    def _ask(self, method: str, path: str, body: Mapping[str, float] | None = None) -> dict[str, Any]:
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data=sent, method=method)  # noqa: S310 - our own
        with DIRECT.open(request, timeout=PATIENCE_S) as response:
            found: dict[str, Any] = json.load(response)
            return found


@contextmanager
def running_cloud(state: Path) -> Iterator[CloudProcess]:
    """A simulated cloud in a process of its own, ended with the context."""
    command = [sys.executable, "-P", "-m", "phaseline.testing.fake_cloud", "--state", str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield CloudProcess(process.stdout.readline().strip())
        finally:
            process.terminate()


def fetch_page(url: str) -> str:
    """The text at an address. Raises OSError if no process answers."""
    with DIRECT.open(url, timeout=PATIENCE_S) as response:
        text: bytes = response.read()
        return text.decode()
