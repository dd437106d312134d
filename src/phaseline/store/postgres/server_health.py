"""Checks of a database server for ``phaseline doctor``: version, rights, settings, clock, connections, bloat (ST14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.store.database.connection import Connection

DURABLE = ("fsync", "full_page_writes", "synchronous_commit")
"""Settings of the server without which a stored turn may be lost in a crash."""
SKEW_MS = 5_000
"""Difference in ms between the clock of the server and ours from which it is reported."""
FEW_CONNECTIONS = 10
"""Number of free connections below which it is reported; a process uses up to five."""
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
    yield _durability(db)
    yield _clock(abs(at - now))
    yield _connections(db)
    yield _snapshots(db)
    yield _bloat(db)


def _clock(skew: int) -> ServerCheck:
    if skew > SKEW_MS:
        text = f"the clock of the server differs from ours by {skew // 1000:,} s"
        return ServerCheck("warn", "clock", text, "let both machines follow one time server")
    return ServerCheck("ok", "clock", f"the clock of the server differs from ours by {skew:,} ms")


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


def _durability(db: Connection) -> ServerCheck:
    values = {name: _row(db, f"select current_setting('{name}')")[0] for name in DURABLE}
    told = ", ".join(f"{name} is {value}" for name, value in values.items())
    lossy = [name for name, value in values.items() if value == "off"]
    if not lossy:
        return ServerCheck("ok", "durability", told)
    text = f"{told}: after a crash of the server the last turns may be missing"
    return ServerCheck("warn", "durability", text, f"set {lossy[0]} = on in postgresql.conf")


def _connections(db: Connection) -> ServerCheck:
    used, most, ours = _row(
        db,
        """select (select coalesce(sum(numbackends), 0) from pg_stat_database),
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
        (select count(*) from pg_stat_activity where application_name like 'phaseline%')""",
    )
    text = f"{used} of {most} connections are in use, {ours} of them by Phaseline"
    if most - used < FEW_CONNECTIONS:
        mend = "raise max_connections, or end programs that hold connections"
        return ServerCheck("warn", "connections", text, mend)
    return ServerCheck("ok", "connections", text)


def _snapshots(db: Connection) -> ServerCheck:
    row = _row(
        db,
        """select pid, cast(extract(epoch from clock_timestamp() - xact_start) as bigint) from pg_stat_activity
        where backend_xmin is not null and pid <> pg_backend_pid() and xact_start is not null
        order by xact_start limit 1""",
    )
    if row is None:
        return ServerCheck("ok", "snapshot", "no other transaction is open")
    pid, age_s = row
    if age_s > OLD_SNAPSHOT_S:
        text = (
            f"the server process {pid} has had a transaction open for {age_s:,} s, so the server cannot remove old rows"
        )
        return ServerCheck("warn", "snapshot", text, f"end it: select pg_terminate_backend({pid})")
    return ServerCheck("ok", "snapshot", f"the oldest open transaction began {age_s:,} s ago")


def _bloat(db: Connection) -> ServerCheck:
    rows = db.execute(
        """select relname, pg_table_size(relid), n_live_tup, n_dead_tup from pg_stat_user_tables
        where schemaname = current_schema() and relname in ('page', 'state_page', 'check_page') order by relname"""
    ).fetchall()
    bloated = [f"{name} ({dead:,} old rows)" for name, size, live, dead in rows if is_bloated(size, live, dead)]
    told = f"pages have {sum(size for _, size, _, _ in rows) / 1024**2:,.1f} MiB"
    if bloated:
        return ServerCheck("warn", "bloat", f"{told}; too large: {', '.join(bloated)}", "phaseline store compact")
    return ServerCheck("ok", "bloat", told)


def is_bloated(size_bytes: int, living: int, dead: int) -> bool:
    """Return True if a table that is written again and again has far more old rows than living ones."""
    return size_bytes > BLOATED_BYTES and dead > BLOATED * max(1, living)
