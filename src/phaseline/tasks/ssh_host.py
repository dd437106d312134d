"""Runs commands on hosts over SSH.

Commands on one host share connections, which stay open for a while for later commands.
"""

from __future__ import annotations

import asyncio
import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from phaseline.lang.fast_dataclasses import frozen
from phaseline.tasks.host_keys import SSH_PORT, HostKeys, KeyCheck
from phaseline.tasks.remote_shell import FAR_LINGER_S, HostUnreachable
from phaseline.tasks.shell_scripts import BOOT

if TYPE_CHECKING:
    import asyncssh

    from phaseline.tasks.remote_shell import Command

ROOT = ".phaseline"
"""Folder on a host that contains the work folders, below the user's home."""
MOST_SESSIONS = 8
"""Largest number of simultaneous shells on one connection; sshd allows ten by default."""
MOST_HERE, MOST_THERE = 50, 500
"""Largest numbers of simultaneous commands: on this machine, and on all hosts together.

Other commands wait; their time limits begin only when they start.
"""
MOST_OPENING = 32
"""Largest number of connections that are being opened at the same time."""
IDLE_S = 20.0
"""Seconds for which an unused connection is kept open."""
CONNECT_S, LOGIN_S, CLOSE_S = 20.0, 60.0, 1.0
"""Time limits in seconds for connecting, for logging in, and for closing a connection."""
ALIVE_S = 15.0
"""Seconds between two keep-alive messages, by which a lost connection is noticed."""


@frozen
class Address:
    """Address and login of a host. ``key``: a private key or its path; ``host_key``: the host's public key."""

    host: str
    user: str
    port: int = SSH_PORT
    key: str = ""
    password: str = ""
    host_key: str = ""

    def __str__(self) -> str:
        """Return user, host and port without the secret parts."""
        return f"{self.user}@{self.host}" + (f":{self.port}" if self.port != SSH_PORT else "")

    __repr__ = __str__


class _Shared:
    """One connection, and the number of shells that use it."""

    def __init__(self, opening: asyncio.Task[asyncssh.SSHClientConnection]) -> None:
        self.opening = opening
        self.users = 0

    @property
    def is_gone(self) -> bool:
        """True if the connection has failed or is closed, so that no shell can be started on it."""
        if not self.opening.done():
            return False
        return self.opening.cancelled() or self.opening.exception() is not None or self.opening.result().is_closed()


class SshConnections:
    """The SSH connections of one event loop by address, with limits on opening connections and on simultaneous
    commands.
    """

    def __init__(self, rules: HostKeys) -> None:
        self._rules = rules
        self._shared: dict[Address, list[_Shared]] = {}
        self._room = asyncio.Semaphore(MOST_OPENING)
        self.here, self.there = asyncio.Semaphore(MOST_HERE), asyncio.Semaphore(MOST_THERE)
        self._lingering: set[asyncio.Task[None]] = set()

    async def acquire(self, address: Address) -> _Shared:
        """Return a connection with room for one more shell; ``release`` it after use. Raises ``HostUnreachable``."""
        pool = self._shared.setdefault(address, [])
        pool[:] = [shared for shared in pool if not shared.is_gone]
        shared = next((shared for shared in pool if shared.users < MOST_SESSIONS), None)
        if shared is None:
            shared = _Shared(asyncio.create_task(self._connect(address)))
            pool.append(shared)
        shared.users += 1
        try:
            await asyncio.shield(shared.opening)
        except BaseException:
            self.release(shared)
            raise
        return shared

    def release(self, shared: _Shared) -> None:
        """Give back a connection; it is closed if nothing uses it for ``IDLE_S`` seconds."""
        shared.users -= 1
        if not shared.users:
            lingering = asyncio.get_running_loop().create_task(self._linger(shared))
            self._lingering.add(lingering)
            lingering.add_done_callback(self._lingering.discard)

    async def close(self) -> None:
        """Close all unused connections."""
        for lingering in list(self._lingering):
            lingering.cancel()
        await asyncio.gather(*self._lingering, return_exceptions=True)

    async def _linger(self, shared: _Shared) -> None:
        try:
            await asyncio.sleep(IDLE_S)
        finally:
            if not shared.users:
                await self._let_go(shared)

    async def _let_go(self, shared: _Shared) -> None:
        for pool in self._shared.values():
            if shared in pool:
                pool.remove(shared)
        if not shared.opening.done():
            shared.opening.cancel()
        elif not shared.is_gone:
            connection = shared.opening.result()
            connection.close()
            closing = asyncio.ensure_future(connection.wait_closed())
            await asyncio.wait({closing}, timeout=CLOSE_S)
            if not closing.done():  # the host is gone: do not wait for it to close
                closing.cancel()
                connection.abort()

    async def _connect(self, address: Address) -> asyncssh.SSHClientConnection:
        try:
            import asyncssh  # 150 ms, paid only by blueprints with hosts
        except ImportError as error:
            text = "commands on hosts need the package asyncssh: pip install 'phaseline[ssh]'"
            raise HostUnreachable(text, is_final=True) from error
        check = KeyCheck(self._rules, address.host, address.port, address.host_key)
        trusts_all = self._rules.policy == "any" and not address.host_key
        try:
            async with self._room:
                return await asyncssh.connect(
                    address.host,
                    address.port,
                    username=address.user,
                    password=address.password or None,
                    **_keys(address),
                    client_factory=lambda: _client(check),
                    known_hosts=None if trusts_all else check.known,
                    server_host_key_algs=() if check.is_known else "default",
                    config=None,
                    x509_trusted_certs=None,  # else it searches the home of the present user, which may be unreadable
                    x509_trusted_cert_paths=None,
                    connect_timeout=CONNECT_S,
                    login_timeout=LOGIN_S,
                    keepalive_interval=ALIVE_S,
                )
        except asyncssh.HostKeyNotVerifiable as error:
            raise HostUnreachable(f"{address}: {check.refusal or error.reason}", is_final=True) from error
        except asyncssh.PermissionDenied as error:
            text = f"{address} refuses the login ({error.reason}): see user, key and password of its agent_config"
            raise HostUnreachable(text, is_final=True) from error
        except (OSError, TimeoutError, asyncssh.Error) as error:
            said = getattr(error, "reason", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
            raise HostUnreachable(f"{address} cannot be reached: {said}") from error


def _keys(address: Address) -> dict[str, Any]:
    """Return asyncssh's arguments for the login.

    The user's own keys and agent are used only if no key or password is given.
    """
    import asyncssh

    if not address.key:
        return {"client_keys": None, "agent_path": None} if address.password else {}
    try:
        text = address.key
        if "PRIVATE KEY" not in text:
            text = Path(text).expanduser().read_text("utf-8")
        return {"client_keys": [asyncssh.import_private_key(text)], "agent_path": None}
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no text"
        raise HostUnreachable(
            f"{address}: the key file of its agent_config cannot be read: {said}", is_final=True
        ) from error
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise HostUnreachable(
            f"{address}: the key of its agent_config is no private key: {error}", is_final=True
        ) from error


def _client(check: KeyCheck) -> Any:
    import asyncssh

    class Client(asyncssh.SSHClient):
        """Asks the ``KeyCheck`` whether a host's key is accepted."""

        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002
            return check.accepts(key)

    return Client()


class Host:
    """A host that is reached over SSH, as the place where commands run."""

    def __init__(self, id: str, address: Address, connections: SshConnections) -> None:
        """Describe the host of the instance ``id``; nothing is connected yet."""
        self.name = f"{id} ({address})"
        self.root = ROOT
        self._address = address
        self._connections = connections

    async def open(self, command: Command) -> SshLine:
        """Start a shell on the host. Raises ``HostUnreachable``."""
        import asyncssh

        shared = await self._connections.acquire(self._address)
        try:
            session = _Session(command, self.name)
            channel, _ = await shared.opening.result().create_session(
                lambda: cast("asyncssh.SSHClientSession[bytes]", session), f"sh -c {shlex.quote(BOOT)}", encoding=None
            )
        except (OSError, asyncssh.Error) as error:
            self._connections.release(shared)
            raise HostUnreachable(f"{self.name}: no shell can be started: {error}") from error
        except BaseException:
            self._connections.release(shared)
            raise
        return SshLine(channel, lambda: self._connections.release(shared))


class SshLine:
    """The line to a shell on a host, through an SSH channel."""

    def __init__(self, channel: Any, release: Any) -> None:
        """Use an open channel. ``release`` is called when the line is closed."""
        self._channel = channel
        self._release = release
        self._is_closed = False

    def write(self, data: bytes) -> None:
        """Write bytes to the shell's standard input."""
        if not self._channel.is_closing():
            self._channel.write(data)

    def end(self) -> None:
        """Close the shell's standard input."""
        if not self._channel.is_closing():
            self._channel.write_eof()

    def close(self) -> None:
        """Close the channel, and release its connection. Safe to call twice."""
        if not self._is_closed:
            self._is_closed = True
            self._channel.close()
            self._release()


class _Session:
    """Passes the output and the end of a shell to its ``Command``. asyncssh calls these methods."""

    def __init__(self, command: Command, name: str) -> None:
        self._command = command
        self._name = name
        self._has_exited = False

    def connection_made(self, chan: Any) -> None:
        """Do nothing when the channel is open."""

    def session_started(self) -> None:
        """Do nothing when the shell runs."""

    def pause_writing(self) -> None:
        """Do nothing: data to be sent is in memory already, so there is nothing to pause."""

    def resume_writing(self) -> None:
        """Do nothing, because ``pause_writing`` pauses nothing."""

    def xon_xoff_requested(self, client_can_do: bool) -> None:  # noqa: FBT001 - asyncssh's signature
        """Do nothing: there is no terminal."""

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Receive a piece of output: standard error if it has a ``datatype``, else standard output."""
        self._command.heard(data, is_error=datatype is not None)

    def eof_received(self) -> bool:
        """Keep the channel open after the last output, until the shell's exit code arrives."""
        return True

    def exit_status_received(self, status: int) -> None:
        """Record the shell's exit code."""
        self._has_exited = True
        self._command.exited(status, FAR_LINGER_S)

    def exit_signal_received(self, name: str, core_dumped: bool, msg: str, lang: str) -> None:  # noqa: ARG002, FBT001
        """Record that a signal has ended the shell."""
        self._has_exited = True
        self._command.exited(-getattr(signal, f"SIG{name}", signal.SIGKILL), FAR_LINGER_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Record that the channel is closed: after the end of the shell, or because the connection was lost."""
        lost = (
            None
            if self._has_exited
            else HostUnreachable(f"{self._name}: the line was lost: {exc or 'it was closed there'}")
        )
        self._command.closed(lost)
