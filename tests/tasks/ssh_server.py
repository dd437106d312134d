"""An SSH server for tests, a program of its own: commands are processes of this machine. Ends when its input closes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import asyncssh

FOLDER, HOME, USER, PASSWORD = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]


class Door(asyncssh.SSHServer):
    """Lets one user in, by key or by password."""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        with (FOLDER / "log").open("a") as log:
            log.write("connection\n")

    def begin_auth(self, username: str) -> bool:
        if username == USER:
            self._connection.set_authorized_keys(asyncssh.read_authorized_keys(str(FOLDER / "user.pub")))
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


async def serve(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """One command."""
    started = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        process.command or "",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=HOME,
        env={**os.environ, "HOME": HOME},
    )
    await process.redirect(stdin=started.stdin, stdout=started.stdout, stderr=started.stderr)
    code = await started.wait()
    process.exit(code if code >= 0 else 128 - code)


async def main() -> None:
    """Listen, print the port, serve until the input is closed."""
    listener = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=Door,
        server_host_keys=[str(FOLDER / "host")],
        process_factory=serve,
        encoding=None,
    )
    print(listener.get_port(), flush=True)
    with contextlib.suppress(EOFError):
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    listener.close()


asyncio.run(main())
