"""Conversion of errors of SQLite and the operating system to Problems, each with a fix."""

from __future__ import annotations

import os
import sqlite3

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.sql import errors as failures
from phaseline.store.sql.errors import Refusal, unwritable

_DAMAGED = {"SQLITE_CORRUPT", "SQLITE_FORMAT", "SQLITE_MISMATCH"}
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"}
_READ_ONLY = {"SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"}

_locked = unwritable("another program has locked it", "end that program, then try again")
_full = unwritable("the disk is full", "make room on the disk, then resume; what was stored is intact")
_read_only = unwritable("it is read-only", "give yourself the right to write the file and its folder")
_folder_read_only = unwritable("its folder is read-only", "give yourself the right to write the file and its folder")
_disk_refuses = unwritable(
    "the disk refuses ({1})", "look at the disk and its space, then resume; what was stored is intact"
)
_unusable = Refusal("PL-S001", "the store cannot be used: {1}", "check the file and its folder")


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
        return failures.not_a_store(path)
    if kind in _DAMAGED:
        return failures.damaged(path, error)
    if kind in _BUSY:
        return _locked(path)
    if kind == "SQLITE_FULL":
        return _full(path)
    if _name(error) == "SQLITE_READONLY_DBMOVED":
        return failures.gone(path)
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
    return failures.cannot_open(path, reason)


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", None) or "")


def _kind(error: sqlite3.Error) -> str:
    """Return the general part of SQLite's error name, such as SQLITE_IOERR for SQLITE_IOERR_FSYNC."""
    return "_".join(_name(error).split("_")[:2])
