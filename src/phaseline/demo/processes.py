"""The processes that the demonstration runs, including the simulated cloud."""

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
"""HTTP client that connects to this machine directly, even if the environment names a proxy."""


def processes_in(folder: Path) -> list[str]:
    """Return the running processes whose command line contains the folder's path, as texts ``pid command``.

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
    """Yield the ids of this process, its parent, the parent's parent and so on."""
    pid = os.getpid()
    while pid > 0:
        yield pid
        try:
            pid = int((Path("/proc") / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
        except OSError:
            return


def end_processes_in(folder: Path) -> None:
    """Kill the processes that still run in the folder, so that even a failed demonstration leaves none behind."""
    for process in processes_in(folder):
        with suppress(ProcessLookupError):
            os.kill(int(process.split()[0]), signal.SIGKILL)


@frozen
class CloudProcess:
    """The simulated cloud, used over HTTP like a real one."""

    url: str

    def report(self) -> dict[str, Any]:
        """Return what the cloud has counted, such as calls and created machines."""
        return self._ask("GET", "report")

    def set_pace(self, **pace: float) -> None:
        """Change the settings of the cloud, such as its delay for a machine (``make_ms``) or its quota."""
        self._ask("PUT", "pace", pace)

    def _ask(self, method: str, path: str, body: Mapping[str, float] | None = None) -> dict[str, Any]:
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data=sent, method=method)  # noqa: S310 - our own
        with DIRECT.open(request, timeout=PATIENCE_S) as response:
            found: dict[str, Any] = json.load(response)
            return found


@contextmanager
def running_cloud(state: Path) -> Iterator[CloudProcess]:
    """Start a simulated cloud in a process of its own, and end it after the ``with`` block."""
    command = [sys.executable, "-P", "-m", "phaseline.testing.fake_cloud", "--state", str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield CloudProcess(process.stdout.readline().strip())
        finally:
            process.terminate()


def fetch_page(url: str) -> str:
    """Return the text at an address. Raises OSError if no server answers."""
    with DIRECT.open(url, timeout=PATIENCE_S) as response:
        text: bytes = response.read()
        return text.decode()
