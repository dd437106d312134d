"""Conversion of errors of SQLite and the operating system to Problems, each with a fix."""

from __future__ import annotations

import os
import sqlite3

from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.rows import ExecutionRow

_DAMAGED = {"SQLITE_CORRUPT", "SQLITE_FORMAT", "SQLITE_MISMATCH"}
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"}
GO_ON = "phaseline store restore --go-on"
_READ_ONLY = {"SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"}


class Refusal:
    """Template of a problem: code, message and fix. ``{0}`` is the subject, ``{1}`` and so on the other arguments."""

    __slots__ = ("_code", "_mend", "_message")

    def __init__(self, code: str, message: str, mend: str) -> None:
        """``mend``: how to fix the problem, as one sentence with the command."""
        self._code, self._message, self._mend = code, message, mend

    def __call__(self, subject: str = "", *words: object) -> ProblemsError:
        """Make the problem for its ``subject``: the path of the store or the name of a deployment."""
        message, mend = self._message.format(subject, *words), self._mend.format(subject, *words)
        return problem_error(self._code, message, mend, subject=subject)


def _unwritable(reason: str, mend: str) -> Refusal:
    return Refusal("PL-S005", f"the store cannot be written: {reason}", mend)


cannot_open = Refusal(
    "PL-S001",
    "the store cannot be opened: {1}",
    "check that the folder exists and is yours, or name another store with PHASELINE_STORE_URL",
)
not_a_store = Refusal(
    "PL-S001",
    "the file is not a Phaseline store, or its beginning is damaged",
    "name another file with PHASELINE_STORE_URL; this file was left unchanged",
)
_unusable = Refusal("PL-S001", "the store cannot be used: {1}", "check the file and its folder")
newer = Refusal(
    "PL-S002",
    "the store has schema {1}, this version of Phaseline knows schemas up to {2}",
    "use the newer Phaseline that wrote it, or another store",
)
damaged = Refusal(
    "PL-S003",
    "the store is damaged: {1}",
    "restore the file from a backup, or save what is left with `sqlite3 FILE .recover`",
)
owned = Refusal("PL-S004", "{1} owns the store", "wait until it has ended, or stop it; reading is possible meanwhile")
taken_over = Refusal(
    "PL-S004",
    "another process took over the store (epoch {2}; this one had {1}), so nothing more is written here",
    "follow the execution in the process that owns the store now",
)
"""Problem of an engine that is no longer the owner, because another process has become it; its turn was not written."""
older = _unwritable(
    "it has schema {1} and must be brought to schema {2} first",
    "wait until the process that owns it has ended, then try again",
)
older_read_only = _unwritable(
    "it has schema {1} and must be brought to schema {2} first, and it is read-only",
    "copy it to where you may write, and use that: cp {0} COPY",
)
in_use = _unwritable("other processes have it open", "end them, such as: phaseline engine stop; then try again")
cannot_lock = _unwritable("its lock file cannot be written ({1})", "give yourself the right to write the folder")
_locked = _unwritable("another program has locked it", "end that program, then try again")
_full = _unwritable("the disk is full", "make room on the disk, then resume; what was stored is intact")
_read_only = _unwritable("it is read-only", "give yourself the right to write the file and its folder")
_folder_read_only = _unwritable("its folder is read-only", "give yourself the right to write the file and its folder")
_disk_refuses = _unwritable(
    "the disk refuses ({1})", "look at the disk and its space, then resume; what was stored is intact"
)
cannot_copy = Refusal(
    "PL-S006",
    "the copy of the store cannot be written: {1}",
    "name a new file in a folder that is yours and has room for it",
)
nowhere = Refusal(
    "PL-S007",
    "there is no store at this path",
    "name yours with --store sqlite:///PATH or PHASELINE_STORE_URL; if there is none yet, the first install makes "
    "it: phaseline install blueprint.yaml, or the first resources: phaseline resources apply nodes.rec -d CLUSTER",
)
name_taken = Refusal(
    "PL-S010",
    "a deployment named {0} exists",
    "choose another name with -d, or remove it first: phaseline deployments delete {0}",
)
too_many_states = Refusal(
    "PL-S011",
    "the resources of one deployment would go through {1} different states, the limit is {2}",
    "put resources of types with other state paths into a cluster of their own",
)
_held = Refusal(
    "PL-S013",
    "the execution {1} of the deployment '{0}' was open when the store was copied: it waits since the restore",
    f"look at the present state of its machines, then continue or cancel it: {GO_ON}",
)
cannot_restore = Refusal(
    "PL-S014",
    "the store cannot be restored from this file: {1}",
    "name a file that was written by: phaseline store backup FILE",
)
gone = Refusal(
    "PL-S016",
    "the store is gone: its file was removed, moved or replaced",
    "put the file back, or restore a backup: phaseline store restore FILE; this command stores nothing more",
)
"""Problem of a store whose file was removed, moved or replaced while it was open."""
deleted = Refusal(
    "PL-C010", "the deployment '{0}' was deleted", "install it again: phaseline install blueprint.yaml -d {0}"
)
_busy = Refusal(
    "PL-C016",
    "the execution {1} of the deployment '{0}' has not ended",
    "{2}; or end it: phaseline executions cancel {1}",
)
_reopening = Refusal(
    "PL-C016",
    "the execution {1} of the deployment '{0}' is about to continue: a retry was requested",
    "follow it: phaseline executions follow {1}",
)
blueprint_gone = Refusal(
    "PL-C054",
    "a stored blueprint that this needs was deleted meanwhile",
    "upload it again, then repeat this command: phaseline blueprints list",
)
package_gone = Refusal(
    "PL-F062",
    "a plugin package that this needs was removed or replaced meanwhile",
    "list the packages, then repeat this command: phaseline plugins list",
)


def is_read_only(error: sqlite3.Error) -> bool:
    """Return True if the error means that the file may be read but not written."""
    return _kind(error) in _READ_ONLY


def needs_log(error: sqlite3.Error) -> bool:
    """Return True if SQLite could not create or lock the files of its write-ahead log."""
    return _kind(error) in {*_READ_ONLY, "SQLITE_CANTOPEN"}


def is_damage(error: sqlite3.Error) -> bool:
    """Return True if the error means that the file is damaged."""
    return _kind(error) in _DAMAGED


def is_busy(error: sqlite3.Error) -> bool:
    """Return True if another connection has locked the file."""
    return _kind(error) in _BUSY


def as_problem(error: sqlite3.Error, path: str) -> ProblemsError:
    """Return the Problem that explains an error of SQLite to the user."""
    kind = _kind(error)
    if kind == "SQLITE_NOTADB":
        return not_a_store(path)
    if kind in _DAMAGED:
        return damaged(path, error)
    if kind in _BUSY:
        return _locked(path)
    if kind == "SQLITE_FULL":
        return _full(path)
    if _name(error) == "SQLITE_READONLY_DBMOVED":
        return gone(path)
    if kind in _READ_ONLY:
        return _read_only(path)
    if kind == "SQLITE_CANTOPEN":
        return _unopened(path, str(error))
    if kind == "SQLITE_IOERR":
        return _disk_refuses(path, _name(error))
    return _unusable(path, error)


def _unopened(path: str, reason: str) -> ProblemsError:
    """Return the problem of a store that could not be opened.

    If its file can be read, the write-ahead log in its folder could not be created; otherwise the file is at fault.
    """
    if os.path.isfile(path) and os.access(path, os.R_OK):  # noqa: PTH113 - False for files that may not be read
        return _folder_read_only(path)
    return cannot_open(path, reason)


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", None) or "")


def _kind(error: sqlite3.Error) -> str:
    """Return the general part of SQLite's error name, such as SQLITE_IOERR for SQLITE_IOERR_FSYNC."""
    return "_".join(_name(error).split("_")[:2])


def unknown_text(error: UnicodeEncodeError) -> ProblemsError:
    """Return PL-C012 for a name with a character that no stored text can have, so nothing has this name."""
    name = str(error.object).encode("utf-8", "replace").decode()
    return problem_error(
        "PL-C012", f"the name '{name}' is invalid: it contains a broken character", "type the name again"
    )


def copy_notice(path: str, cause: str, waiting: int) -> str:
    """Return the notice that the store at ``path`` counts as restored because of ``cause``.

    ``waiting`` is the number of executions that were open and therefore wait for a user.
    """
    text = (
        f"The store {path} counts as restored: {cause}. New work has client tokens of its own, so that no cloud "
        "takes it for work of the former store"
    )
    return f"{text}. {what_waits(waiting)}" if waiting else text


def what_waits(count: int) -> str:
    """Return a text with the number of executions that wait since a restore and the command that continues them."""
    them = "executions that were open wait" if count > 1 else "execution that was open waits"
    return f"{count} {them}; look at the present state of their machines, then: {GO_ON}"


def held(row: ExecutionRow) -> ProblemsError:
    """Return PL-S013: the execution was open at the time of the backup and waits since the restore."""
    return _held(row.deployment_name, row.id)


def busy(row: ExecutionRow) -> ProblemsError:
    """Return PL-C016 naming the open execution that prevents another one of its deployment (decision 4)."""
    if row.status is ExecutionStatus.ATTENTION:
        way = f"decide about its unsure calls: phaseline executions retry {row.id}, or executions complete {row.id}"
    else:
        way = f"continue it: phaseline executions resume {row.id}"
    return _busy(row.deployment_name, row.id, way)


def reopening(row: ExecutionRow) -> ProblemsError:
    """Return PL-C016 naming the ended execution that was requested to continue."""
    return _reopening(row.deployment_name, row.id)
