"""Runs commands on this machine: in a shell in its own session, whose standard input is the line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from phaseline.calls.threads.process_groups import plugin_environment
from phaseline.lang.fast_dataclasses import frozen
from phaseline.tasks.remote_shell import HostUnreachable
from phaseline.tasks.shell_scripts import BOOT

if TYPE_CHECKING:
    from phaseline.tasks.remote_shell import Command


@frozen
class Here:
    """This machine, as the place where commands run. ``root``: absolute path of the folder with all work folders."""

    root: str
    name: str = "this machine"

    async def open(self, command: Command) -> LocalLine:
        """Start a shell with the engine's environment, except the master key."""
        environment = plugin_environment()
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: _Heard(command), "sh", "-c", BOOT, env=environment, start_new_session=True
            )
        except OSError as error:
            raise HostUnreachable(f"no shell can be started on this machine: {error.strerror or error}") from error
        return LocalLine(transport)


class LocalLine:
    """The line to a shell on this machine, through pipes."""

    def __init__(self, transport: asyncio.SubprocessTransport) -> None:
        """Use the pipes of a started shell, whose asyncio transport is ``transport``."""
        self._transport = transport
        self._input = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))

    def write(self, data: bytes) -> None:
        """Write bytes to the shell's standard input."""
        self._input.write(data)

    def end(self) -> None:
        """Close the shell's input as soon as all data is written."""
        self._input.close()

    def close(self) -> None:
        """Close the line.

        A shell that still runs is killed; a watchdog process of its script then ends the processes that it has started.
        """
        self._transport.close()


class _Heard(asyncio.SubprocessProtocol):
    """Passes the output and the end of the shell to its ``Command``."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._open = 2
        self._transport: asyncio.SubprocessTransport | None = None
        self._has_exited = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._command.heard(data, is_error=fd == 2)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        self._open -= fd != 0
        self._settle()

    def process_exited(self) -> None:
        assert self._transport is not None
        self._has_exited = True
        code = self._transport.get_returncode()
        assert code is not None
        self._command.exited(code)
        self._settle()

    def _settle(self) -> None:
        if self._has_exited and not self._open:
            self._command.closed()
