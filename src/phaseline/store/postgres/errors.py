"""Conversion of errors of PostgreSQL to Problems, each with a fix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.sql.errors import Refusal, unwritable

if TYPE_CHECKING:
    import psycopg

PUBLIC = "public"
"""Schema of a store whose URL names no other one."""
OWNER = "must be owner of"

unreachable = Refusal(
    "PL-S030",
    "the database server cannot be reached: {1}",
    "check host, port and name of the database in the store's URL, and that the server runs",
)
_no_login = Refusal(
    "PL-S031",
    "the database server refuses the login: {1}",
    "check the user in the store's URL; give the password in ~/.pgpass or PGPASSWORD",
)
_no_rights = Refusal(
    "PL-S032",
    "the user of the database lacks a right: {1}",
    "let the database's owner grant it: {2}",
)
_not_owner = Refusal(
    "PL-S032",
    "the user of the database lacks a right: {1}",
    "let the user that has made the tables upgrade the store, by any command",
)
no_new_schema = Refusal(
    "PL-S032",
    "the present store cannot be kept in a schema of its own: {1}",
    "let the database's owner grant it: grant create on database NAME to USER; or restore into an empty database",
)
too_old = Refusal(
    "PL-S033",
    "the database server is PostgreSQL {1}, Phaseline needs {2} or later",
    "upgrade the server, or name another one in the store's URL",
)
_read_only = Refusal(
    "PL-S034",
    "the database server accepts no writes: it is a read-only replica",
    "name the primary server in the store's URL, or add target_session_attrs=read-write to it",
)
lost = Refusal(
    "PL-S035",
    "the connection to the database server was lost: {1}",
    "check the server and the network, then repeat the command; what was stored is intact",
)
unheard = Refusal(
    "PL-S030",
    "the database server cannot be reached: {1}. Whether the last change was stored is not known",
    "look at the present state when the server is back, such as with phaseline status, before you repeat the command",
)
"""Problem of a commit whose connection was lost, if the server cannot be asked whether it was stored."""
went_back = Refusal(
    "PL-S035",
    "the database is older than what this process has stored in it (turn {2}, this process wrote {1}): "
    "a server without the last changes has replaced the former one",
    "compare the resources with what is stored, such as with phaseline status, then: phaseline executions resume",
)
"""Problem of an owner whose last turn the database does not have; it writes nothing more."""
_too_many = Refusal(
    "PL-S036",
    "the database server takes no more connections: {1}",
    "raise max_connections of the server, or end programs that use it",
)
_full = Refusal(
    "PL-S037",
    "the database server has no room left: {1}",
    "make room on the server's disk, then resume; what was stored is intact",
)
_no_database = Refusal(
    "PL-S038",
    "the database does not exist: {1}",
    "make it with createdb NAME, or correct the name in the store's URL",
)
no_schema = Refusal(
    "PL-S038",
    "the database has no schema {1} that this user may use",
    "make it with: create schema {1}; or let its owner grant usage and create on it; or correct search_path in the URL",
)
no_url = Refusal(
    "PL-S001",
    "the URL of the store cannot be read: {1}",
    "write it as PostgreSQL's clients take it, such as postgresql://user@host/database; "
    "better give a password in ~/.pgpass or PGPASSWORD, or encode it in the URL (% as %25, @ as %40, / as %2F, : as %3A)",
)
damaged = Refusal("PL-S003", "the store is damaged: {1}", "restore the database from a backup")
not_a_store = Refusal(
    "PL-S001",
    "the database has other tables, and none of a Phaseline store: {1}",
    "name another database, or a schema of its own: postgresql://host/database?options=-csearch_path%3DSCHEMA",
)
_busy = unwritable("another program holds a lock on it", "end that program, then try again")
no_unicode = Refusal(
    "PL-S001",
    "the database has the encoding {1}, which cannot store every text",
    "make one with: createdb --encoding=UTF8 --template=template0 NAME",
)
_disturbed = Refusal("PL-S001", "the store could not be used for a moment: {1}", "repeat the command")
_refused = Refusal("PL-S001", "the store cannot be used: {1}", "check the database server's log")

_BY_STATE = {
    "28": _no_login,
    "42501": _no_rights,
    "25006": _read_only,
    "08": lost,
    "57P": lost,
    "53300": _too_many,
    "53100": _full,
    "53400": _full,
    "3D": _no_database,
    "40": _disturbed,
    "55P03": _busy,
    "57014": _busy,
    "25P03": lost,
    "25P04": lost,
    "XX001": damaged,
    "XX002": damaged,
}
"""{beginning of an SQLSTATE: problem}; the longest beginning counts."""


def as_problem(error: psycopg.Error, path: str, *, is_lost: bool, schema: str = PUBLIC) -> ProblemsError:
    """Return the Problem that explains an error of PostgreSQL.

    ``is_lost``: the connection broke with it. ``schema``: the schema of the store.
    """
    text = text_of(error)
    found = _by_state(error.sqlstate or "", path, text, schema)
    if found is not None:
        return found
    return lost(path, text) if is_lost else _refused(path, text)


def _by_state(state: str, path: str, text: str, schema: str) -> ProblemsError | None:
    for length in (5, 3, 2):
        refusal = _BY_STATE.get(state[:length]) if state else None
        if refusal is _no_rights:
            return _not_owner(path, text) if OWNER in text else _no_rights(path, text, _grant(text, path, schema))
        if refusal is not None:
            return refusal(path, text)
    return None


def _grant(text: str, path: str, schema: str) -> str:
    """Return the statement that gives the user the right that is missing by the text of an error."""
    user = _name(unquote(urlsplit(path).username or "USER"))
    found = re.search(r'permission denied for (schema|database) "?([^"]+?)"?( |$)', text)
    if found is None:
        where = f"in schema {_name(schema)} to {user}"
        return f"grant select, insert, update, delete on all tables {where}; grant select on all sequences {where}"
    rights = "usage, create" if found[1] == "schema" else "connect"
    return f"grant {rights} on {found[1]} {_name(found[2])} to {user}"


def _name(text: str) -> str:
    return text if re.fullmatch(r"[a-z_][a-z0-9_]*|USER", text) else '"{}"'.format(text.replace('"', '""'))


def text_of(error: Exception) -> str:
    """Return the text of an error in one line."""
    if isinstance(error, ProblemsError):
        return error.problems[0].message
    return " ".join(str(error).split()) or type(error).__name__


def cannot_connect(error: psycopg.Error, path: str) -> ProblemsError:
    """Return the Problem of a connection that could not be made."""
    text = text_of(error)
    state = error.sqlstate or _state_in(text)
    found = None if state[:2] == "08" or state[:3] == "57P" else _by_state(state, path, text, PUBLIC)
    return unreachable(path, text) if found is None else found


def _state_in(text: str) -> str:
    """Return the SQLSTATE of a failed connection by its text, because psycopg gives none; empty if unknown."""
    for part, state in (
        ("password authentication failed", "28P01"),
        ("no password supplied", "28P01"),
        ("pg_hba.conf", "28000"),
        ("does not exist", "28000" if 'FATAL:  role "' in text or 'role "' in text else "3D000"),
        ("too many clients", "53300"),
        ("too many connections for", "53300"),
        ("remaining connection slots", "53300"),
        ("permission denied for database", "42501"),
    ):
        if part in text:
            return state
    return ""
