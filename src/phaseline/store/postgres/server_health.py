"""Checks of a database server for ``phaseline doctor``: version, rights, settings, clock, connections, bloat (ST14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.store.database.connection import Connection

SKEW_MS = 5_000
"""Difference in ms between the clock of the server and ours from which it is reported."""
FEW_CONNECTIONS = 10
"""Number of free connections below which it is reported; a process uses up to four."""
OLD_SNAPSHOT_S = 600
"""Age in seconds from which a transaction is reported: while it lasts, the server cannot reuse old rows."""
BLOATED = 4
"""A table that is written again and again is reported if it has more than so many times the size of its rows."""
BLOATED_BYTES = 64 * 1024**2
"""Size in bytes below which no table is reported."""


class ServerCheck(NamedTuple):
    """One finding. ``mend`` is the remedy, or empty if nothing is wrong."""

    level: Literal["ok", "warn", "fail"]
    name: str
    text: str
    mend: str = ""


def examine(db: Connection, now: int) -> Iterator[ServerCheck]:
    """Yield findings about the server, read in the caller's transaction; ``now`` is the time of our clock in ms."""
    version, is_replica, at = _row(
        db,
        "select current_setting('server_version'), pg_is_in_recovery(), "
        "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
    )
    yield ServerCheck("ok", "server", f"PostgreSQL {version}")
    if is_replica:
        mend = "name the primary server, or add target_session_attrs=read-write to the URL"
        yield ServerCheck("fail", "server", "it is a read-only replica", mend)
    yield _rights(db)
    yield from _durability(db)
    skew = abs(at - now)
    if skew > SKEW_MS:
        text = f"the clock of the server differs from ours by {skew // 1000:,} s"
        yield ServerCheck("warn", "clock", text, "let both machines follow one time server")
    yield from _connections(db)
    yield from _snapshots(db)
    yield from _bloat(db)


def _row(db: Connection, statement: str) -> Any:
    return db.execute(statement).fetchone()


def _rights(db: Connection) -> ServerCheck:
    role, may_create, lacking = _row(
        db,
        """select current_user, has_schema_privilege(current_schema(), 'create'), (select count(*) from pg_tables
        where schemaname = current_schema() and (select bool_or(not has_table_privilege(
            quote_ident(schemaname) || '.' || quote_ident(tablename), needed))
            from unnest(array['select', 'insert', 'update', 'delete']) as needed))""",
    )
    if lacking:
        text = f"the user {role} may not write {lacking} tables of the store"
        return ServerCheck("fail", "rights", text, f"grant select, insert, update, delete on all tables to {role}")
    if not may_create:
        text = f"the user {role} may not create tables, so an upgrade must be made by another user"
        return ServerCheck("warn", "rights", text, f"grant create on the store's schema to {role}")
    return ServerCheck("ok", "rights", f"the user {role} may write and upgrade the store")


def _durability(db: Connection) -> Iterator[ServerCheck]:
    for setting, safe in (("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "")):
        (value,) = _row(db, f"select current_setting('{setting}')")
        if value == "off" or (safe and value != safe):
            text = f"{setting} is {value}: after a crash of the server the last turns may be missing"
            yield ServerCheck("warn", "durability", text, f"set {setting} = on in postgresql.conf")


def _connections(db: Connection) -> Iterator[ServerCheck]:
    used, most = _row(
        db,
        "select (select count(*) from pg_stat_activity where backend_type = 'client backend'), "
        "current_setting('max_connections')::integer",
    )
    if most - used < FEW_CONNECTIONS:
        text = f"{used} of {most} connections are in use"
        yield ServerCheck("warn", "connections", text, "raise max_connections, or end programs that hold connections")


def _snapshots(db: Connection) -> Iterator[ServerCheck]:
    row = _row(
        db,
        """select pid, cast(extract(epoch from clock_timestamp() - xact_start) as bigint) from pg_stat_activity
        where backend_xmin is not null and pid <> pg_backend_pid() and xact_start is not null
        order by xact_start limit 1""",
    )
    if row and row[1] > OLD_SNAPSHOT_S:
        text = f"the server process {row[0]} has had a transaction open for {row[1]:,} s, so the server cannot remove old rows"
        yield ServerCheck("warn", "snapshot", text, f"end it: select pg_terminate_backend({row[0]})")


def _bloat(db: Connection) -> Iterator[ServerCheck]:
    rows = db.execute(
        """select relname, pg_table_size(relid), n_live_tup, n_dead_tup from pg_stat_user_tables
        where schemaname = current_schema() and relname in ('page', 'state_page', 'check_page') order by relname"""
    )
    for name, size, living, dead in rows.fetchall():
        if size > BLOATED_BYTES and dead > BLOATED * max(1, living):
            text = f"the table {name} has {size // 1024**2:,} MiB and {dead:,} old rows"
            yield ServerCheck("warn", "bloat", text, "phaseline store compact")
