"""SSH servers on the loopback whose commands are real processes: OpenSSH's sshd where it is installed, else asyncssh's.

Sessions of both begin in a folder of the test's, which is their home.
"""

from __future__ import annotations

import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncssh

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
KINDS = ("openssh",) if SSHD else ("asyncssh",)
"""Which one is talked to."""
USER = "ann"
PASSWORD = "correct horse"


@dataclass
class Server:
    """A server that listens; ``connections`` counts those that were made to it."""

    kind: str
    port: int
    home: Path
    user: str
    key: str
    host_key: str
    log: Path

    @property
    def agent_config(self) -> dict[str, object]:
        return {"install_method": "remote", "user": self.user, "key": self.key, "port": self.port}

    @property
    def connections(self) -> int:
        return self.log.read_text().count("connection\n") if self.log.exists() else 0


@contextmanager
def server(kind: str, folder: Path) -> Iterator[Server]:
    """A server whose files lie in a folder."""
    home = folder / "home"
    home.mkdir(parents=True)
    for name in ("host", "user"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(folder / name))
        key.write_public_key(str(folder / f"{name}.pub"))
        (folder / name).chmod(0o600)
    start = _openssh if kind == "openssh" else _asyncssh
    with start(folder, home) as (port, user):
        yield Server(
            kind,
            port,
            home,
            user,
            (folder / "user").read_text(),
            " ".join((folder / "host.pub").read_text().split()[:2]),
            folder / "log",
        )


@contextmanager
def _openssh(folder: Path, home: Path) -> Iterator[tuple[int, str]]:
    """One sshd for each connection, as inetd starts it: so nobody has to find a free port or wait until it listens."""
    import getpass

    config = folder / "sshd_config"
    config.write_text(
        f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
        f"PasswordAuthentication no\nPidFile none\nMaxSessions 10\nLogLevel ERROR\nUseDNS no\n"
        f"SetEnv HOME={home}\n"  # else the user's own start-up file is run for each command
        f'ForceCommand cd {home} && exec sh -c "$SSH_ORIGINAL_COMMAND"\n'
    )
    if getpass.getuser() == "root":
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it there when it is root

    class Daemon(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with (folder / "log").open("a") as log:
                log.write("connection\n")
            with (folder / "sshd.log").open("ab") as log:
                command = [str(SSHD), "-i", "-e", "-f", str(config)]
                subprocess.run(command, stdin=self.request, stdout=self.request, stderr=log, check=False)

    class Listener(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Listener(("127.0.0.1", 0), Daemon) as listener:
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield listener.server_address[1], getpass.getuser()
        finally:
            listener.shutdown()
            thread.join()


@contextmanager
def _asyncssh(folder: Path, home: Path) -> Iterator[tuple[int, str]]:
    program = Path(__file__).with_name("ssh_server.py")
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(program), str(folder), str(home), USER, PASSWORD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline()), USER
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(60)


__all__ = ["KINDS", "PASSWORD", "Server", "server"]
