"""The tables of a store in PostgreSQL, made from those of ``database.schema``, with what only PostgreSQL needs.

Columns of text have the collation "C", so that names are sorted by their characters, as in SQLite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.store.database.compatibility import Access, access_to
from phaseline.store.database.schema import MIN_READER, MIN_WRITER, REVISION, SCHEMA_VERSION, TABLES
from phaseline.store.database.table_shapes import converted
from phaseline.store.postgres import errors
from phaseline.store.postgres.connections import LOCK, OTHER_EPOCH, OTHER_TURN, TAKE_LOCK
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.store.postgres.connection import PostgresConnection

LEAST_VERSION = 15
"""Oldest version of PostgreSQL that a store works with."""
ENCODING = "UTF8"
"""Encoding that a database must have."""
TABLES_SHOWN = 3
"""Number of foreign tables that a problem names."""
FOLDING_VERSION = 18
"""First version of PostgreSQL that has ``casefold``."""
PAGE_TABLES = ("page", "state_page", "check_page", "write_count")
"""Tables whose rows are written again and again: half of each page stays free, so that no index must be written (ST5)."""

OWN_TABLES = ("lease", "standby", "write_count")
"""Tables that only a store in PostgreSQL has."""
FUNCTIONS = (
    "begin_turn(bigint, bigint)",
    "instr(text, text)",
    "folded_text(text)",
    "json_valid(text)",
    "can_be_read(text)",
)
"""Functions that a store in PostgreSQL has."""

EXTRA = (
    """create table lease (
        shard bigint primary key, holder text not null, command text not null, pid bigint not null,
        host text not null, since bigint not null, until timestamptz not null)""",
    "create table standby (holder text primary key, until timestamptz not null)",
    "create table write_count (number bigint not null, turn bigint not null default 0)",
    "insert into write_count values (1)",
    f"""create function begin_turn(expected_epoch bigint, expected_turn bigint) returns bigint language plpgsql as $$
    declare found_epoch bigint; found_turn bigint; counted bigint;
    begin
        perform pg_advisory_xact_lock({LOCK}, hashtext(current_schema()::text));
        update write_count set number = number + 1, turn = turn + 1 returning number, turn - 1 into counted, found_turn;
        select epoch into found_epoch from store;
        if found_epoch <> expected_epoch then
            raise exception using errcode = '{OTHER_EPOCH}', message = format('%s %s', expected_epoch, found_epoch);
        end if;
        if found_turn <> expected_turn then
            raise exception using errcode = '{OTHER_TURN}', message = format('%s %s', expected_turn, found_turn);
        end if;
        return counted;
    end $$""",
    """create function instr(text, text) returns integer immutable strict parallel safe language sql
    as 'select strpos($1, $2)'""",
    """create function folded_text(text) returns text immutable strict parallel safe language sql
    as $$ select {folded} $$""",
    """create function json_valid(body text) returns boolean immutable parallel safe language plpgsql as $$
    begin perform body::json; return true; exception when others then return false; end $$""",
    """create function can_be_read(text) returns boolean immutable parallel safe language sql
    as $$ select $1 ~ '(NaN|Infinity)' $$""",
    "drop index execution_deployment",
    "create index execution_deployment_number on execution (deployment, number)",
    *(f"alter table {table} set (fillfactor = 50)" for table in PAGE_TABLES),
)
"""Statements that make what only a store in PostgreSQL has."""
_COLLATIONS = ("pg_c_utf8", "und-x-icu", "C.utf8", "en_US.utf8")
"""Collations that know upper and lower case of all letters; the first one that the server has is used for searching."""


def make_ready(db: PostgresConnection, path: str, identity: str, now: int, *, makes: bool) -> int:
    """Make sure that the tables exist; return their version, which may be an older one or, for reading only, a newer one.

    ``identity``: the random name of a new store. ``makes``: create missing tables; if False, they raise PL-S007.
    Raises: PL-S001, PL-S002, PL-S033.
    """
    raise_if_unfit(db, path)
    found = version_of(db, path)
    if found:
        return found
    if db.execute("select current_schema()").fetchone() == (None,):
        raise errors.no_schema(path, db.search_path)
    if not makes:
        raise failures.nowhere(path)
    begin_alone(db)
    found = version_of(db, path)
    if not found:  # otherwise another process was faster
        create(db, identity, now)
    db.script("commit")
    return found or SCHEMA_VERSION


def raise_if_unfit(db: PostgresConnection, path: str) -> None:
    """Raise PL-S033 for a server older than ``LEAST_VERSION``, PL-S030 for a database of another encoding."""
    if db.server_version < LEAST_VERSION * 10_000:
        raise errors.too_old(path, db.server_version // 10_000, LEAST_VERSION)
    if db.encoding != ENCODING:
        raise errors.no_unicode(path, db.encoding)


def begin_alone(db: PostgresConnection) -> None:
    """Begin a transaction that keeps all others from writing to the store, and from making its tables."""
    db.script(f"begin isolation level read committed; {TAKE_LOCK}")


def version_of(db: PostgresConnection, path: str) -> int:
    """Return the version of the tables, 0 if there are none. Raises: PL-S001 for other tables, PL-S002 for newer ones.

    A newer version that this program may write like the present one counts as the present one (UP1).
    """
    tables = {name for (name,) in db.execute(_OURS)}
    if not tables:
        return 0
    revision = ""
    if {"alembic_version", "store"} <= tables:  # another program may have the first one, too
        (revision,) = db.execute("select version_num from alembic_version").fetchone() or ("",)
    if not revision.isdecimal():
        raise errors.not_a_store(path, ", ".join(sorted(tables)[:TABLES_SHOWN]))
    version = int(revision)
    if version > SCHEMA_VERSION:
        may = access_to(db)[1]
        if may is Access.NONE:
            raise failures.newer(path, version, SCHEMA_VERSION)
        return SCHEMA_VERSION if may is Access.ALL else version
    return version


_OURS = "select tablename from pg_tables where schemaname = current_schema()"


def create(db: PostgresConnection, identity: str, now: int) -> None:
    """Create all tables and functions of a store, in the caller's transaction."""
    for statement in (*map(converted, TABLES), *EXTRA):
        db.script(statement.replace("{folded}", _folded(db)))
    db.execute("insert into alembic_version values (?)", (REVISION,))
    db.execute("insert into store_schema values (?, ?, ?)", (SCHEMA_VERSION, MIN_READER, MIN_WRITER))
    db.execute("insert into store (identity, created_at, epoch) values (?, ?, 0)", (identity, now))


def _folded(db: PostgresConnection) -> str:
    """Return the SQL for a text without differences of upper and lower case, like ``str.casefold``."""
    if db.server_version >= FOLDING_VERSION * 10_000:
        return 'casefold($1 collate "pg_unicode_fast")'
    known = {name for (name,) in db.execute("select collname from pg_collation")}
    collation = next((name for name in _COLLATIONS if name in known), "default")
    return f"""replace(lower($1 collate "{collation}"), 'ß', 'ss')"""
